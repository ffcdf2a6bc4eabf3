"""Reader of MBPP, full and sanitized: a sentence, and assertions that show how to call a function.

As in EvalPlus, the specification shows the first assertion. The hidden tests are `test_list`, as in
published results, and `test` where there is one; `challenge_test_list` is not run.
"""

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator

from pydantic import Field

from greenloop.errors import InputError
from greenloop.evals.task import DEFAULT_MODULE, EvalTask, ExternalRecord, parse_source
from greenloop.syntax.nodes import bound_names
from greenloop.syntax.parse import parse_or_empty


class MbppLine(ExternalRecord):
    """One task. The sanitized variant has `prompt` in place of `text`. EvalPlus adds `test`: a
    script with many more inputs and expected results."""

    task_id: int | str
    text: str | None = None
    prompt: str | None = None
    code: str = ""
    test_list: tuple[str, ...] = Field(min_length=1)
    test_setup_code: str = ""
    test_imports: tuple[str, ...] = ()
    test: str = ""


def parse_mbpp_task(line: MbppLine, where: str) -> EvalTask:
    """Build the task. Raises InputError where the text is missing or the assertions are unusable."""
    label = f"{where} (id {line.task_id})"
    text = line.text or line.prompt
    if not text:
        raise InputError(f"{label}: it has neither text nor prompt")
    imports = parse_source("\n".join(line.test_imports), f"{label}: test_imports")
    setup = parse_source(line.test_setup_code, f"{label}: test_setup_code")
    tests = [parse_source(item, f"{label}: test_list") for item in line.test_list]
    more = parse_source(line.test, f"{label}: test")
    names, modules = _find_used_names([imports, setup, *tests], line.code)
    if not names:
        raise InputError(f"{label}: test_list calls no function of the module")
    imported = {name: f"{name} as _{name}" for name in names if name.lower().startswith("test")}
    for tree in (setup, *tests, more):
        _TestNameEscaper(imported).visit(tree)
    parts = (
        *(f"import {name}" for name in modules),
        ast.unparse(imports),
        f"from {DEFAULT_MODULE} import {', '.join(imported.get(name, name) for name in names)}",
        ast.unparse(setup),
        *_build_test_functions(tests, more),
    )
    return EvalTask.with_test_file(
        "\n\n".join(filter(None, parts)) + "\n",
        id=str(line.task_id),
        spec=_build_spec(text, line),
        solution=line.code.replace("\r\n", "\n"),
        where=where,
    )


def _build_spec(text: str, line: MbppLine) -> str:
    example = "\n".join(filter(None, (line.test_setup_code.strip(), line.test_list[0].strip())))
    return f"{text.strip()}\n\nThis holds:\n\n```python\n{example}\n```\n"


def _find_used_names(trees: Iterable[ast.Module], solution: str) -> tuple[list[str], list[str]]:
    """Return the used names of the tested module, and standard modules that are used unimported.

    Functions of the solution may shadow a builtin such as `sum`.
    """
    body = parse_or_empty(solution).body
    own = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    nodes = [node for tree in trees for node in ast.walk(tree)]
    bound = (set(dir(builtins)) - own) | bound_names(nodes)
    used = dict.fromkeys(node.id for node in nodes if isinstance(node, ast.Name))
    modules = [name for name in used if name in sys.stdlib_module_names and name not in own | bound]
    return [name for name in used if name not in bound and name not in modules], modules


class _TestNameEscaper(ast.NodeTransformer):
    """Transformer that renames functions of the module that pytest would collect as tests."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(f"_{node.id}", node.ctx) if node.id in self._names else node


def _build_test_functions(tests: list[ast.Module], more: ast.Module) -> Iterator[str]:
    """Yield a test function for each assertion, and one for the additional script."""
    named = [(f"test_{number}", tree) for number, tree in enumerate(tests, 1)]
    for name, tree in [*named, ("test_more", more)]:
        if tree.body:
            test = ast.parse(f"def {name}(): ...")
            test.body[0].body = tree.body  # type: ignore[attr-defined]
            yield ast.unparse(test)
