"""MBPP, whole and sanitized: a sentence, and assertions that alone say how the function is called.

The model is told each name with its number of parameters, the first call of the assertions and the
kind of answer, never which answer they expect. `test_list` is the truth, as in the figures that are
published, and `test`, where there is one; `challenge_test_list` is not run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pydantic import Field

from greenloop.errors import InputError
from greenloop.evals.datasets.inferred_api import Used, modules_used, names_used
from greenloop.evals.datasets.inferred_types import Answer, answers_expected
from greenloop.evals.task import MODULE, Foreign, HiddenFile, Task
from greenloop.syntax.parse import parsed

_LONGEST_CALL = 300


class MbppLine(Foreign):
    """One task; `text` is called `prompt` in the sanitized variant. `test` is what EvalPlus adds to
    that one: a script of many more inputs and their answers."""

    task_id: int | str
    text: str | None = None
    prompt: str | None = None
    code: str = ""
    test_list: tuple[str, ...] = Field(min_length=1)
    test_setup_code: str = ""
    test_imports: tuple[str, ...] = ()
    test: str = ""


def mbpp_task(line: MbppLine, where: str) -> Task:
    """Raises InputError where there is no text, or its assertions are no Python or call nothing."""
    what = f"{where} (id {line.task_id})"
    text = line.text or line.prompt
    if not text:
        raise InputError(f"{what}: neither text nor prompt says what to write")
    imports = _parsed("\n".join(line.test_imports), f"{what}: test_imports")
    setup = _parsed(line.test_setup_code, f"{what}: test_setup_code")
    tests = [_parsed(item, f"{what}: test_list") for item in line.test_list]
    more = _parsed(line.test, f"{what}: test")
    used = names_used([imports, setup, *tests], _defined(line.code))
    if not any(item.parameters is not None for item in used):
        raise InputError(f"{what}: test_list calls no function that the task could be about")
    answers = answers_expected(tests, _solution(line))
    extra = [f"import {name}" for name in modules_used([imports, setup, *tests])]
    head = [*extra, ast.unparse(imports), f"from {MODULE} import {', '.join(_imported(used))}"]
    for tree in (setup, *tests, more):
        _Hidden({item.name for item in used}).visit(tree)
    hidden = "\n\n".join(filter(None, [*head, ast.unparse(setup), *_functions(tests, more)])) + "\n"
    return Task(
        id=str(line.task_id),
        spec="\n".join(_spec(text, used, answers, line.test_setup_code)),
        module=MODULE,
        tests=(HiddenFile(name=f"test_{MODULE}.py", code=hidden),),
        solution=_solution(line),
        where=where,
    )


def _spec(
    text: str, used: tuple[Used, ...], answers: dict[str, Answer], setup: str
) -> Iterator[str]:
    yield text.strip()
    yield ""
    yield "The module must have:"
    yield ""
    for item in used:
        yield f"- {_described(item)}{_answering(answers.get(item.name, Answer()))}"
    if setup.strip():
        yield ""
        yield "Before it is called, this has run, with these names imported from the module:"
        yield ""
        yield from (f"    {line}" for line in setup.strip().splitlines())


def _described(item: Used) -> str:
    if item.parameters is None:
        return f"`{item.name}`"
    kind = "class" if item.name[0].isupper() else "function"
    count = f"{item.parameters} parameter{'s' * (item.parameters != 1)}"
    shown = f", called like `{item.example}`" if len(item.example) <= _LONGEST_CALL else ""
    return f"{kind} `{item.name}` with {count}{shown}"


def _answering(answer: Answer) -> str:
    kind = f", gives back `{answer.kind}`" if answer.kind else ""
    words = " and ".join(f"`{word!r}`" for word in answer.words)
    return f"{kind}; some of its answers are the words {words}" if words else kind


class _Hidden(ast.NodeTransformer):
    """Calls functions of the module that pytest would take for tests by another name."""

    def __init__(self, names: set[str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id in self._names:
            node.id = _hidden_name(node.id)
        return node


def _imported(used: tuple[Used, ...]) -> Iterator[str]:
    for item in used:
        other = _hidden_name(item.name)
        yield item.name if other == item.name else f"{item.name} as {other}"


def _hidden_name(name: str) -> str:
    return f"_{name}" if name.lower().startswith("test") else name


def _functions(tests: list[ast.Module], more: ast.Module) -> Iterator[str]:
    """Each assertion as a test of its own, and what there is besides as one."""
    named = [(f"test_{number}", tree) for number, tree in enumerate(tests, 1)]
    for name, tree in [*named, ("test_more", more)]:
        test = ast.parse(f"def {name}(): ...").body[0]
        assert isinstance(test, ast.FunctionDef)
        test.body = tree.body
        if test.body:
            yield ast.unparse(test)


def _parsed(source: str, what: str) -> ast.Module:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{what} is no Python: {error}") from None


def _defined(code: str) -> set[str]:
    """The functions of the data's solution: it may be called `sum`, as a builtin is."""
    tree = parsed(code)
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)} if tree else set()


def _solution(line: MbppLine) -> str:
    return line.code.replace("\r\n", "\n")
