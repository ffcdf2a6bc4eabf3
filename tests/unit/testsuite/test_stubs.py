"""Stubs and modules with empty bodies."""

import ast
import asyncio
import sys
import types
from typing import Any

import pytest

from greenloop.testsuite.stubs import build_stub, with_empty_bodies
from tests.support.programs import read_program, read_table

SOURCE = read_program(__file__, "SOURCE")


def load(source: str) -> dict[str, Any]:
    module = types.ModuleType("hollowed")
    sys.modules["hollowed"] = module  # dataclasses look their module up
    try:
        exec(compile(source, "hollowed", "exec"), vars(module))
    finally:
        del sys.modules["hollowed"]
    return vars(module)


@pytest.fixture(scope="module")
def module() -> dict[str, Any]:
    return load(with_empty_bodies(SOURCE.replace("@(lambda f: f)\n", "")))


CALLS = read_table(__file__, "CALLS")


@pytest.mark.parametrize("call", CALLS)
def test_every_body_raises(module: dict[str, Any], call: str) -> None:
    with pytest.raises(NotImplementedError):
        eval(call, {**module, "asyncio": asyncio})


def test_interface_is_kept(module: dict[str, Any]) -> None:
    assert module["TABLE"] == {"a": 1}
    assert module["__doc__"] == "The module's text."
    assert module["plain"].__doc__ == "Says what it does."
    assert module["Point"](x=3) == module["Point"](x=3)
    assert module["Point"].norm.__doc__ == "Its norm."


def test_lambdas_among_decorators_raise_too() -> None:
    with pytest.raises(NotImplementedError):
        load(with_empty_bodies("@(lambda f: lambda x: x)\ndef f(x): ..."))


@pytest.mark.parametrize("source", ["def f(:", "class"])
def test_invalid_python_is_an_error(source: str) -> None:
    for make in (with_empty_bodies, build_stub):
        with pytest.raises(SyntaxError):
            make(source)


def test_constants_that_are_only_annotated_can_be_imported() -> None:
    names = load(build_stub("RED: str\nBLUE: int = 3\nclass C:\n    x: int\ndef f(): ..."))
    assert (names["RED"], names["BLUE"]) == (None, 3)
    assert not hasattr(names["C"], "x")


@pytest.mark.parametrize("interface", read_table(__file__, "UNKNOWN"))
def test_stub_loads_with_unknown_annotations(interface: str) -> None:
    names = load(build_stub(interface))
    with pytest.raises(NotImplementedError):
        names["f"](*[None] * names["f"].__code__.co_argcount)
    assert ast.get_docstring(ast.parse(build_stub(interface))) == ast.get_docstring(
        ast.parse(interface)
    )
