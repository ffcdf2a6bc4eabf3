"""Reader of HumanEval: a function to complete, and `def check(candidate)`.

The tests may use the prompt's helpers, and the function by its name, so the hidden file has both.
"""

import ast

from greenloop.errors import InputError
from greenloop.evals.task import DEFAULT_MODULE, EvalTask, ExternalRecord, parse_source
from greenloop.syntax.nodes import Definition

# Digests of hidden tests are stored: this text must not change.
_CHECK_TEST = '''

def test_check():
    """What the data calls `check`."""
    check(_CANDIDATE)
'''


class HumanEvalLine(ExternalRecord):
    """One line; `canonical_solution` continues the prompt."""

    task_id: str
    prompt: str
    entry_point: str
    test: str
    canonical_solution: str = ""


def parse_humaneval_task(line: HumanEvalLine, where: str) -> EvalTask:
    """Build the task. Raises InputError where a part does not have its form."""
    what = f"{where} (id {line.task_id})"
    check_entry_point(line.entry_point, what)
    defined = [n.name for n in parse_source(line.test, what).body if isinstance(n, Definition)]
    if "check" not in defined:  # every answer would fail
        raise InputError(f"{what}: test has no function `check`")
    parts = (
        remove_entry_point(line.prompt, line.entry_point, what),
        f"from {DEFAULT_MODULE} import {line.entry_point}\n\n_CANDIDATE = {line.entry_point}",
        line.test.rstrip() + _CHECK_TEST,
    )
    return EvalTask.with_test_file(
        "\n\n".join(filter(None, parts)),
        id=line.task_id,
        spec=build_completion_spec(line.prompt, line.entry_point),
        solution=line.prompt + line.canonical_solution if line.canonical_solution else "",
        where=where,
    )


def check_entry_point(name: str, label: str) -> None:
    """Raise InputError where the name of the function to be written is no name."""
    if not name.isidentifier():
        raise InputError(f"{label}: entry_point {name!r} is not a name")


def build_completion_spec(prompt: str, entry_point: str) -> str:
    """Return the specification for a prompt that is the beginning of a file."""
    return (
        f"Write the Python module that this is the beginning of: complete `{entry_point}` as its "
        "text says, and keep all names, signatures and other definitions as they stand.\n\n"
        f"```python\n{prompt.strip()}\n```\n"
    )


def remove_entry_point(prompt: str, entry_point: str, label: str) -> str:
    """Return the prompt without the function that is to be written."""
    tree = parse_source(prompt, f"{label}: prompt")
    named = [n for n in tree.body if isinstance(n, Definition) and n.name == entry_point]
    if not named:
        raise InputError(
            f"{label}: prompt has no function `{entry_point}`, which entry_point names"
        )
    tree.body = [node for node in tree.body if node not in named]
    return ast.unparse(tree)
