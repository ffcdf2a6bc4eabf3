"""MBPP, full and sanitized: a sentence, and assertions that alone show how the function is called.

The specification names each function with its number of parameters, the first call of the
assertions and the type of the result, never the expected result. The hidden tests are `test_list`,
as in published results, and `test` where there is one; `challenge_test_list` is not run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pydantic import Field

from greenloop.errors import InputError
from greenloop.evals.datasets.inferred_interface import (
    InferredReturn,
    UsedName,
    find_used_modules,
    find_used_names,
    infer_returns,
)
from greenloop.evals.task import DEFAULT_MODULE, EvalTask, ExternalRecord, parse_source
from greenloop.syntax.parse import parse_or_empty

_MAX_EXAMPLE_LENGTH = 300


class MbppLine(ExternalRecord):
    """One task. In the sanitized variant `text` is called `prompt`, and `test` is what EvalPlus adds:
    a script with many more inputs and expected results."""

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
    used = find_used_names([imports, setup, *tests], _find_defined_functions(line.code))
    if not any(item.parameters is not None for item in used):
        raise InputError(f"{label}: test_list calls no function of the module")
    answers = infer_returns(tests, _normalize_solution(line))
    for tree in (setup, *tests, more):
        _TestNameEscaper({item.name for item in used}).visit(tree)
    parts = (
        *(f"import {name}" for name in find_used_modules([imports, setup, *tests])),
        ast.unparse(imports),
        f"from {DEFAULT_MODULE} import {', '.join(_import_names(used))}",
        ast.unparse(setup),
        *_build_test_functions(tests, more),
    )
    return EvalTask.with_test_file(
        "\n\n".join(filter(None, parts)) + "\n",
        id=str(line.task_id),
        spec="\n".join(_build_spec(text, used, answers, line.test_setup_code)),
        solution=_normalize_solution(line),
        where=where,
    )


def _build_spec(
    text: str, used: tuple[UsedName, ...], answers: dict[str, InferredReturn], setup: str
) -> Iterator[str]:
    yield text.strip()
    yield ""
    yield "The module must have:"
    yield ""
    for item in used:
        yield f"- {_describe_name(item)}{_describe_return(answers.get(item.name, InferredReturn()))}"
    if setup.strip():
        yield ""
        yield "Before it is called, this has run, with these names imported from the module:"
        yield ""
        yield from (f"    {line}" for line in setup.strip().splitlines())


def _describe_name(item: UsedName) -> str:
    if item.parameters is None:
        return f"`{item.name}`"
    kind = "class" if item.name[0].isupper() else "function"
    count = f"{item.parameters} parameter{'s' * (item.parameters != 1)}"
    shown = f", called like `{item.example}`" if len(item.example) <= _MAX_EXAMPLE_LENGTH else ""
    return f"{kind} `{item.name}` with {count}{shown}"


def _describe_return(inferred: InferredReturn) -> str:
    kind = f", gives back `{inferred.annotation}`" if inferred.annotation else ""
    words = " and ".join(f"`{word!r}`" for word in inferred.words)
    return f"{kind}; some of its answers are the words {words}" if words else kind


class _TestNameEscaper(ast.NodeTransformer):
    """Rename functions of the module that pytest would collect as tests."""

    def __init__(self, names: set[str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id in self._names:
            node.id = _escape_test_name(node.id)
        return node


def _import_names(used: tuple[UsedName, ...]) -> Iterator[str]:
    for item in used:
        other = _escape_test_name(item.name)
        yield item.name if other == item.name else f"{item.name} as {other}"


def _escape_test_name(name: str) -> str:
    return f"_{name}" if name.lower().startswith("test") else name


def _build_test_functions(tests: list[ast.Module], more: ast.Module) -> Iterator[str]:
    """Yield a test function for each assertion, and one for the additional script."""
    named = [(f"test_{number}", tree) for number, tree in enumerate(tests, 1)]
    for name, tree in [*named, ("test_more", more)]:
        test = ast.parse(f"def {name}(): ...").body[0]
        assert isinstance(test, ast.FunctionDef)
        test.body = tree.body
        if test.body:
            yield ast.unparse(test)


def _find_defined_functions(code: str) -> set[str]:
    """Return the functions of the reference solution, which may shadow a builtin such as `sum`."""
    body = parse_or_empty(code).body
    return {node.name for node in body if isinstance(node, ast.FunctionDef)}


def _normalize_solution(line: MbppLine) -> str:
    return line.code.replace("\r\n", "\n")
