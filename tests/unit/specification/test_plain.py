"""Contracts without a model."""

import pytest

from greenloop.specification.examples import analyze_specification
from greenloop.specification.plain import build_plain_contract, list_unwritten_names, name_module
from tests.support.programs import read_table


def test_interface_is_that_of_the_text() -> None:
    text = '```python\ndef half(n: int) -> float:\n    """The half. Odd numbers too."""\n```\n'
    contract = build_plain_contract(analyze_specification(f"Write this.\n{text}"), None)
    assert contract is not None
    assert "def half(n: int) -> float:" in contract.interface
    assert contract.module == "half"
    assert [item.text for item in contract.requirements] == ["Write this"]


def test_examples_show_what_is_called() -> None:
    text = "Halve it. half(4) -> 2. half(3, 1) -> 1.5. An empty list is refused."
    contract = build_plain_contract(analyze_specification(text), "mine")
    assert contract is not None
    assert contract.interface == "def half(value1, value2): ..."
    assert (contract.module, len(contract.examples)) == ("mine", 2)
    assert [item.id for item in contract.requirements] == ["R1", "R2"]
    assert contract.requirements[-1].text == "An empty list is refused"


def test_else_it_is_that_of_the_code() -> None:
    given = analyze_specification("Something that halves numbers.")
    assert build_plain_contract(given, None) is None
    assert build_plain_contract(given, None, "def _half(n):\n    return n / 2\n") is None
    code = (
        "import re\n\ndef half(n):\n    '''The half.'''\n    return n / 2\n\ndef _no(): return 1\n"
    )
    contract = build_plain_contract(given, None, code)
    assert contract is not None
    assert 'def half(n):\n    """The half."""\n    ...' in contract.interface
    assert "_no" not in contract.interface


@pytest.mark.parametrize(("interface", "name"), read_table(__file__, "NAMES"))
def test_module_has_the_name_of_what_it_defines(interface: str, name: str) -> None:
    assert name_module(interface) == name


def test_function_that_the_text_has_with_its_body_is_written_already() -> None:
    text = '```python\ndef poly(x):\n    return x * x\n\n\ndef zero(x):\n    """Find it."""\n```'
    contract = build_plain_contract(analyze_specification(text), None)
    assert contract is not None
    assert list_unwritten_names(contract) == ["zero"]
    whole = contract.model_copy(
        update={"specification": text.replace("Find", "X").replace("zero", "q")}
    )
    assert list_unwritten_names(whole) == ["zero"]
