"""Examples as people write them: what is taken, what is named as unclear, what is no example."""

import pytest

from greenloop.errors import SpecificationError
from greenloop.specification.examples import analyze_specification, check_consistency
from tests.support.programs import read_table


def describe_examples(text: str) -> list[str]:
    """Return the examples of a text, each as `call: result`."""
    lines = []
    for item in analyze_specification(text).examples:
        call, _, shown = item.doctest.removeprefix(">>> ").strip().partition("\n")
        lines.append(f"{call}: {shown.rpartition(chr(10))[2]}")
    return lines


TAKEN = read_table(__file__, "TAKEN")


@pytest.mark.parametrize("text", TAKEN)
def test_what_is_meant_is_taken(text: str) -> None:
    assert describe_examples(text) == TAKEN[text]
    assert analyze_specification(text).unclear == ()


@pytest.mark.parametrize("text", read_table(__file__, "doubtful_passage_is_named_and_not_taken"))
def test_doubtful_passage_is_named_and_not_taken(text: str) -> None:
    given = analyze_specification(text)
    assert given.examples == ()
    assert len(given.unclear) == 1
    assert given.unclear[0].removeprefix("print(").startswith("f(")


@pytest.mark.parametrize("text", read_table(__file__, "WITH_STATE"))
def test_result_that_depends_on_earlier_calls_becomes_no_test(text: str) -> None:
    given = analyze_specification(f"{text}\n\nf(1) -> 2")
    assert [item.doctest for item in given.examples] == [">>> f(1)\n2\n"]
    assert given.unclear


@pytest.mark.parametrize("text", read_table(__file__, "OTHER"))
def test_other_text_is_no_example(text: str) -> None:
    given = analyze_specification(text)
    assert (given.examples, given.unclear) == ((), ())


def test_dependent_statements_of_a_block_are_one_example() -> None:
    block = "cart = Cart()\ncart.add('x', 2)  # put\ncart.total()  # 4\nn = cart.size()  # 1\n"
    (example,) = analyze_specification(f"Use:\n```python\n{block}```\n").examples
    assert example.doctest == (
        ">>> cart = Cart()\n>>> cart.add('x', 2)\n>>> cart.total()\n4\n"
        ">>> n = cart.size()\n>>> n\n1\n"
    )


@pytest.mark.parametrize(
    ("text", "is_consistent"),
    [
        ("f(1) -> 2 and f(2) -> 3", True),
        ("f(1) -> 2\n\n>>> f(1)\n2.0\n", True),
        (">>> next(1)\n1\n>>> next(1)\n2\n", True),
        ("f(1) -> 2.\n\nAnd so on.\n\nf(1) returns 3.", False),
        ("f( 1 ) -> 'a'\n\n>>> f(1)\n'b'\n", False),
        ("f(1) -> 2\n\nf(1) raises ValueError", False),
    ],
)
def test_two_results_of_one_call_are_a_contradiction(text: str, is_consistent: bool) -> None:
    examples = analyze_specification(text).examples
    if is_consistent:
        check_consistency(examples)
        return
    with pytest.raises(SpecificationError, match=r"contradicts itself.*correct one of the two"):
        check_consistency(examples)


@pytest.mark.parametrize(
    ("signature", "text", "taken"),
    read_table(__file__, "INPUTS"),
)
def test_input_and_output_of_the_only_function(signature: str, text: str, taken: list[str]) -> None:
    assert describe_examples(f"```python\n{signature}```\n{text}") == taken


def test_doctest_of_a_comparison_needs_no_output() -> None:
    text = ">>> f([]) == 0\n>>> f([1]) == f([2]) == 1\n>>> f([3])\n2\n"
    assert describe_examples(text) == [
        "f([]) == 0: True",
        "f([1]) == f([2]) == 1: True",
        "f([3]): 2",
    ]
