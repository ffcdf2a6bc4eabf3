"""Rendering of a specification's examples as pytest tests, for the user's test file."""

import ast
import doctest
import textwrap

from greenloop.records import GivenExample
from greenloop.specification.reading.doctests import (
    find_undefined_names,
    get_error_name,
    parse_doctest,
)
from greenloop.syntax.parse import parse_or_none, read_literal
from greenloop.syntax.values import approximate_floats

_TRUTHS = (ast.Compare, ast.BoolOp)


def render_example_tests(module: str, examples: tuple[GivenExample, ...]) -> str:
    """Return a file with a plain pytest test for each example; '' without examples.

    Literals are compared by value: the order of a set and a float's last digits make no difference.
    `True`, `False` and `None` are compared by identity, objects by their `repr`, printed text as it
    is.
    """
    tests = [_render_test(number, item) for number, item in enumerate(examples, 1)]
    names = sorted({name for item in examples for name in find_undefined_names(item)})
    head = ["import pytest"] if any("pytest." in item for item in tests) else []
    head = [*(f"import {item}" for item in _find_modules(examples, tests)), *head]
    head += ["", f"from {module} import {', '.join(names)}"] if names else []
    return "\n\n\n".join(["\n".join(head), *tests]).lstrip("\n") + "\n" if tests else ""


def _find_modules(examples: tuple[GivenExample, ...], tests: list[str]) -> list[str]:
    """Return the modules that the tests use: those of exceptions, and `sys`."""
    parts = (part for item in examples for part in parse_doctest(item.doctest))
    found = {name.rpartition(".")[0] for part in parts if "." in (name := get_error_name(part))}
    return sorted(found | {"sys" for item in tests if "sys.displayhook(" in item})


def _render_test(number: int, example: GivenExample) -> str:
    lines = [line for part in parse_doctest(example.doctest) for line in _render_part(part)]
    fixture = "capsys" if any("capsys." in line for line in lines) else ""
    body = textwrap.indent("\n".join(lines), "    ")
    return f"def test_specification_example_{number}({fixture}):\n{body}"


def _render_part(part: doctest.Example) -> list[str]:
    """Return the lines that run one part of a doctest and check what it shows."""
    if error := get_error_name(part):
        body = textwrap.indent(part.source.rstrip("\n"), "    ")
        return [f"with pytest.raises({error}):\n{body}"]
    tree = parse_or_none(part.source)
    last = tree.body[-1] if tree and tree.body else None
    if tree is None or not part.want or not isinstance(last, ast.Expr):
        return [part.source.rstrip("\n"), *_check_output(part.want)]
    before = [ast.unparse(item) for item in tree.body[:-1]]
    return [*before, *_check_value(last.value, part.want)]


def _check_value(value: ast.expr, want: str) -> list[str]:
    source, shown = ast.unparse(value), want.strip()
    if isinstance(value, ast.Call) and ast.unparse(value.func) == "print":
        return [source, *_check_output(want)]
    if shown in ("True", "False", "None"):
        is_plain = shown == "True" and isinstance(value, _TRUTHS)
        return [f"assert {source}" if is_plain else f"assert {source} is {shown}"]
    if read_literal(shown):
        return [f"assert {source} == {approximate_floats(shown)}"]
    if shown.startswith("<") or parse_or_none(shown) is not None:  # the repr of an object
        return [f"assert repr({source}) == {shown!r}"]
    return [f"sys.displayhook({source})", *_check_output(want)]


def _check_output(want: str) -> list[str]:
    """Return the assertion of the printed text; [] where none is expected."""
    text = want.replace("<BLANKLINE>", "")
    return [f"assert capsys.readouterr().out == {text!r}"] if want else []
