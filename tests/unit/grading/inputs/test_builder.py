"""Inputs of a comparison: their order, and the words of a text that are worth trying."""

import ast
from datetime import date
from itertools import islice
from random import Random

from greenloop.grading.inputs.builder import InputBuilder, Known
from greenloop.grading.inputs.known_calls import iterate_calls, read_call, read_vocabulary
from greenloop.grading.inputs.typed import ValueGenerator


def test_inputs_of_the_generator_come_before_those_of_tests() -> None:
    """A busy machine comes to the first of them only; on those of tests both were seen to agree."""
    calls = [call for n in range(90) if (call := read_call(f"f({n})", ["f"]))]
    known = Known(
        public=("f",),
        constants=frozenset(),
        interface="def f(x: int) -> int: ...",
        calls=calls,
        generated=[f"f({n})" for n in range(1000, 1050)],
        cases=[],
        module="m",
    )
    first = islice(InputBuilder(known, read_vocabulary("", "", []), "seed").build(), 150)
    tried = {ast.unparse(item.node) for item in first}
    assert tried >= set(known.generated)


def test_statements_of_the_generator_are_observed() -> None:
    texts = ["path = tmp_path / 'a'\nbell = Bell()\nbell.volume = 2\nasyncio.run(bell.ring(path))"]
    known = Known(("Bell",), frozenset(), "", (), [*texts, "print(1)"], (), "m")
    item, *_ = InputBuilder(known, read_vocabulary("", "", []), "seed").build()
    assert (item.name, item.fixtures) == ("Bell", ("tmp_path",))
    assert item.preamble == "from m import Bell\nimport asyncio"
    text = item.text.replace("lambda :", "lambda:")  # as Python 3.10 writes it
    assert text.split("\n    ")[2:] == [
        "bell = attempt__(1, lambda: Bell())",
        "bell.volume = 2",
        "attempt__(2, lambda: asyncio.run(bell.ring(path)))",
    ]


def test_arguments_of_one_type_are_given_in_both_orders() -> None:
    calls = [call for n in (3, '"a"') if (call := read_call(f"newer(1, {n})", ["newer"]))]
    known = Known(("newer",), frozenset(), "", calls, [], [], "m")
    items = islice(InputBuilder(known, read_vocabulary("", "", []), "seed").build(), 40)
    tried = {ast.unparse(item.node) for item in items}
    assert "newer(3, 1)" in tried
    assert "newer('a', 1)" not in tried


def test_a_call_that_the_text_speaks_of_is_no_input() -> None:
    text = 'Write `clean(text)`; `/admin` and "n/a" stay, `app.shop(x, y)` calls it.'
    assert read_vocabulary(text, "", []).words == ("/admin", "n/a")


def test_calls_that_cannot_be_written_are_left_out() -> None:
    tests = """
import pytest
from keys import parse, quote

@pytest.mark.parametrize("kwargs", [{"literal": True}])
def test_parse(kwargs):
    text = quote("\\r\\nfoo", **kwargs).upper()
    assert parse(f"k = {text}") == "x"

def test_plain():
    assert parse("k = 1") == "x"
"""
    found = list(iterate_calls([tests], "keys", ["parse", "quote"]))
    assert [ast.unparse(call) for _, call in found] == ["parse('k = 1')"]


def test_calls_by_the_full_name_of_a_module_are_read() -> None:
    test = "import shop.keys\n\ndef test_plain():\n    assert shop.keys.parse('k') == 'x'\n"
    assert [ast.unparse(call) for _, call in iterate_calls([test], "shop.keys", ["parse"])]


def test_dates_that_are_generated_exist() -> None:
    make = ValueGenerator(Random(1), read_vocabulary("", "", [])).make
    dates = {ast.unparse(node) for _ in range(300) if (node := make(ast.Name("date")))}
    assert len(dates) > 20
    assert all(eval(text, {"date": date}) for text in dates)


def test_number_of_calls_made_of_types_does_not_grow_with_the_module() -> None:
    interface = "\n".join(f"def f{n}(x: int) -> int: ..." for n in range(400))
    public = tuple(f"f{n}" for n in range(400))
    known = Known(public, frozenset(), interface, [], [], [], "m")
    builder = InputBuilder(known, read_vocabulary("", "", []), "seed")
    made = list(builder._generate_typed())
    assert {ast.unparse(call.func) for call in made} == set(public)
    assert len(made) <= 2500
