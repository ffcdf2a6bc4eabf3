"""Parser of repairs: modules, edits, disputes."""

import pytest

from greenloop.llm.parsing.code import parse_repair
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.parsing.scripts import parse_script_repair
from greenloop.llm.response import LLMResponse
from greenloop.records import Contract
from greenloop.records.generation import Dispute, Repair
from tests.support.programs import read_table

CURRENT = "class NotRoman(ValueError):\n    pass\n\n\ndef to_roman(number):\n    return ''\n"
FIXED = CURRENT.replace("''", "'I' * number")
EDIT = "<<<<<<< SEARCH\n    return ''\n=======\n    return 'I' * number\n>>>>>>> REPLACE\n"


def repair(text: str, contract: Contract) -> Repair:
    return parse_repair(LLMResponse(text), contract, CURRENT)


@pytest.mark.parametrize(
    "answer",
    [
        f"The cause.\n```python\n{FIXED}```\n",
        f"The cause is `return ''`:\n```python\nreturn_value = ''\n```\nSo:\n```python\n{FIXED}```\n",
        f"The cause.\n{EDIT}",
        f"The cause.\n```python\n{EDIT}```\n",
    ],
    ids=["module", "module beside a quote", "edit", "fenced edit"],
)
def test_repaired_module_is_parsed(answer: str, contract: Contract) -> None:
    found = repair(answer, contract)
    assert (found.code, found.disputes) == (FIXED, ())


@pytest.mark.parametrize("answer", [EDIT, f"```python\n# ...\n{FIXED}```\n"])
def test_dots_that_the_code_had_are_kept(answer: str, contract: Contract) -> None:
    current = f"# ...\n{CURRENT}"
    assert parse_repair(LLMResponse(answer), contract, current).code == f"# ...\n{FIXED}"
    assert parse_script_repair(LLMResponse(answer), current, lambda _: ()).code


@pytest.mark.parametrize(("line", "test"), read_table(__file__, "DISPUTE_ALONE"))
@pytest.mark.parametrize("form", ["{}", "The test is wrong.\n\n{}\n", "```\n{}\n```\n"])
def test_dispute_alone_is_valid(line: str, test: str, form: str, contract: Contract) -> None:
    found = repair(form.format(line), contract)
    assert (found.code, found.disputes) == (None, (Dispute(test=test, why="R1 says I"),))


def test_disputes_and_a_module_may_be_combined(contract: Contract) -> None:
    found = repair(
        f"Cause.\nDISPUTE test_a: why a\nDISPUTE test_b: why: b\n```python\n{FIXED}```\n", contract
    )
    assert found.code == FIXED
    assert found.disputes == (
        Dispute(test="test_a", why="why a"),
        Dispute(test="test_b", why="why: b"),
    )
    assert found.explanation == "Cause."


@pytest.mark.parametrize("quote", ["assert to_roman(1) == 'V'\n", "def test_a():\n    assert 0\n"])
def test_dispute_may_quote_the_test(quote: str, contract: Contract) -> None:
    found = repair(f"DISPUTE test_a: R1 says I\n```python\n{quote}```\n", contract)
    assert (found.code, len(found.disputes)) == (None, 1)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("The code is right.", "no Python"),
        ("I would dispute test_one: it is wrong.", "no Python"),
        ("```python\ndef to_roman(number):\n    return 'I'\n```\n", "does not define: NotRoman"),
        ("DISPUTE test_a: x\n```python\ndef helper():\n    return 1\n```\n", "does not define"),
        (f"```python\n{FIXED}# rest of the code here\n```\n", "not whole"),
        (EDIT.replace("return ''", "return 0"), "does not stand in the code"),
        (EDIT.replace("'I' * number", "1\n    # ..."), "not whole"),
        (EDIT.replace("return 'I' * number", "raise NotImplementedError"), "left unwritten"),
    ],
)
def test_answer_without_a_repair_is_invalid(answer: str, said: str, contract: Contract) -> None:
    with pytest.raises(InvalidResponse, match=said):
        repair(answer, contract)
