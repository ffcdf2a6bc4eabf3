"""Tests made of held-out examples."""

import sys
import types
from collections.abc import Collection
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

from greenloop.records import HeldOutExample
from greenloop.testsuite.held_out_examples import may_have_examples, render_held_out_test
from tests.support.programs import read_table


class Own(LookupError):
    pass


def run_test(example: HeldOutExample, public: Collection[str] = (), **names: Any) -> None:
    """Run the rendered test of a module with these names."""
    package, module = types.ModuleType("shop"), types.ModuleType("shop.prices")
    vars(module).update(names)
    space: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        for item in (package, module):
            patch.setitem(sys.modules, item.__name__, item)
        exec(render_held_out_test("shop.prices", "test_x", example, "", public), space)
        space["test_x"]()


def passes(example: HeldOutExample, value: Any) -> bool:
    """Return whether the revealed test passes if `f` returns or raises `value`."""

    def f() -> Any:
        if isinstance(value, BaseException):
            raise value
        return value

    try:
        run_test(example, f=f)
    except (AssertionError, pytest.fail.Exception):
        return False
    return True


@pytest.mark.parametrize(("returns", "value", "agrees"), read_table(__file__, "VALUES"))
def test_values(returns: str, value: str, agrees: bool) -> None:
    """`value` is the source of what the call returns."""
    names = {"Decimal": Decimal, "date": date, "datetime": datetime, "timezone": timezone}
    assert passes(HeldOutExample(call="f()", returns=returns), eval(value, names)) is agrees


@pytest.mark.parametrize(
    ("raises", "value", "agrees"),
    [
        ("ValueError", ValueError("x"), True),
        ("LookupError", Own(), True),
        ("Own", Own(), True),
        ("somewhere.Own", Own(), True),
        ("SystemExit", SystemExit(0), True),
        ("ValueError", TypeError(), False),
        ("ValueError", 3, False),
    ],
)
def test_exceptions(raises: str, value: Any, agrees: bool) -> None:
    assert passes(HeldOutExample(call="f()", raises=raises), value) is agrees


def test_the_docstring_names_the_requirement() -> None:
    example = HeldOutExample(requirement="R7", call='f(\'"""\')', returns="1")
    assert '"""R7: a held-out example."""' in render_held_out_test("m", "test_x", example)
    compile(render_held_out_test("m", "test_x", example), "test_x", "exec")


@pytest.mark.parametrize("form", ["datetime.datetime(2024, 1, 2)", "datetime(2024, 1, 2)"])
@pytest.mark.parametrize("known", [datetime, sys.modules["datetime"], None])
def test_dates_need_no_import_of_the_module(form: str, known: Any) -> None:
    names = {"datetime": known} if known else {}
    run_test(HeldOutExample(call=f"f({form})", returns="2024"), f=lambda day: day.year, **names)


def test_public_names_are_those_of_the_module() -> None:
    example = HeldOutExample(call="list(filter(date('x')))", returns="['date of x']")
    names = {"date": lambda text: f"date of {text}", "filter": lambda item: [item]}
    run_test(example, ("date", "filter"), **names)


@pytest.mark.parametrize("call", ["f(1)", "prices.f(1)", "shop.prices.f(prices.f(0) + 1)"])
def test_a_call_may_name_the_module(call: str) -> None:
    run_test(HeldOutExample(call=call, returns="1"), f=lambda number: number)


@pytest.mark.parametrize("call", ["json.loads(f('1'))", "queue = [f(1)]\nqueue.pop()"])
def test_modules_need_no_import_and_names_of_the_call_are_none(call: str) -> None:
    run_test(HeldOutExample(call=call, returns="1"), f=lambda item: item)


def test_a_call_may_use_a_fixture() -> None:
    call = "path = tmp_path / 'a'\npath.write_text(f('b'))\nf(path.read_text())"
    source = render_held_out_test("m", "test_x", HeldOutExample(call=call, returns="'b'"))
    assert source.startswith("def test_x(tmp_path):")
    assert "from m import f\n" in source


@pytest.mark.parametrize(
    ("call", "returns"),
    [
        ("f(datetime.datetime(2024, 1, 2))", "datetime(2024, 1, 2)"),
        ("f(datetime(2024, 1, 2))", "datetime.datetime(2024, 1, 2)"),
        ("f(datetime.date(2024, 1, 2), datetime(2024, 1, 2))", "datetime(2024, 1, 2)"),
    ],
)
def test_a_call_and_its_result_may_name_dates_in_two_ways(call: str, returns: str) -> None:
    run_test(HeldOutExample(call=call, returns=returns), ("f",), f=lambda *given: given[-1])


def test_a_coroutine_is_run() -> None:
    async def double(n: int) -> int:
        return 2 * n

    run_test(HeldOutExample(call="asyncio.run(double(2))", returns="4"), double=double)


PLAIN = "def test_{n}():\n    assert f({n}) == 1\n\n\n"
FILES = "def test_file_{n}(tmp_path):\n    assert f(tmp_path) == 1\n\n\n"
INNER = "def test_inner_{n}():\n    def g():\n        return {n}\n\n    assert f(g) == 1\n\n\n"
MADE = "def test_made_{n}():\n    assert f(make({n})) == 1\n\n\n"
MAKER = "def make(n):\n    async def g():\n        return n\n\n    return g\n\n\n"
ROWS = "@pytest.mark.parametrize('n, k', [(1, 2)])\ndef test_rows_{n}(n, k):\n    assert f(n) == k\n\n\n"
MARKED = "@pytest.mark.skipif(OLD, reason='no tmp_path')\n" + FILES


@pytest.mark.parametrize(
    ("templates", "possible"),
    [
        ([PLAIN] * 4 + [FILES] * 9, True),
        ([PLAIN] * 3 + [ROWS], True),
        ([PLAIN] * 3 + [MARKED], False),
        ([PLAIN] * 2, True),
        ([PLAIN] * 3 + [FILES] * 5, False),
        ([FILES], False),
        ([PLAIN] * 4 + [MAKER] + [INNER, MADE], True),
        ([PLAIN] * 3 + [MAKER] + [INNER] * 2 + [MADE], False),
        ([], True),
    ],
)
def test_tests_show_whether_there_can_be_examples(templates: list[str], possible: bool) -> None:
    code = "".join(item.format(n=n) for n, item in enumerate(templates))
    assert may_have_examples([code]) is possible
