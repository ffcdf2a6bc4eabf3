"""Tracing of a text in the quotes of its contract."""

import time
from typing import Any

import pytest

from greenloop.records import (
    Background,
    Contract,
    Finding,
    GivenExample,
    KeptBehaviour,
    Requirement,
    Review,
)
from greenloop.specification.contract_review import find_doubtful_background, settle_background
from greenloop.specification.examples import analyze_specification
from greenloop.specification.passages import index_text
from greenloop.specification.quotes import find_complaints, settle_contract
from greenloop.specification.tracing import trace_contract
from tests.support.programs import read_table


def make_contract(text: str, *quotes: list[str], **changes: Any) -> Contract:
    """Return a contract with a requirement for each list of quotes."""
    values = {
        "module": "m",
        "summary": "s",
        "interface": "def wrap(text: str, width: int = 70) -> list[str]: ...",
        "specification": text,
        "examples": analyze_specification(text).examples,
        "requirements": tuple(
            Requirement(id=f"R{number}", text="t", quotes=tuple(items))
            for number, items in enumerate(quotes, 1)
        ),
    }
    return Contract(**{**values, **changes})


def rests(text: str, *quotes: str, **changes: Any) -> tuple[str, ...]:
    return trace_contract(make_contract(text, list(quotes), **changes)).rests


def test_a_passage_that_is_said_again_is_taken_up() -> None:
    text = "Files begin with the header `day,sum`.\n\n- day,sum\n- 1,2\n"
    assert rests(text, "Files begin with the header `day,sum`", "1,2") == ("day,sum",)
    header = (Background(quote="day,sum", reason="sample"),)
    quotes = "Files begin with the header `day,sum`", "1,2"
    assert rests(text, *quotes, background=header) == ()
    assert rests(f"{text}\nb,c", "Files begin with", "1,2", background=header) != ()


@pytest.mark.parametrize(
    ("sample", "quote", "is_quoted"),
    read_table(__file__, "a_sample_is_quoted_with_its_lead_or_a_part"),
)
def test_a_sample_is_quoted_with_its_lead_or_a_part(
    sample: str, quote: str, is_quoted: bool
) -> None:
    assert (rests(sample, quote) == ()) == is_quoted


def test_bodies_of_stubs_ask_for_nothing() -> None:
    text = "Write this:\n\n    def wrap(x):\n        pass\n\nand wrap the lines."
    assert rests(text, "wrap the lines") == ()


def test_definitions_of_links_and_line_breaks_ask_for_nothing() -> None:
    text = "Wrap the lines.<br>\n\n[w]: https://docs.test/wrap#a-long-word\n<br/>\n"
    assert rests(text, "Wrap the lines") == ()


@pytest.mark.parametrize(
    ("text", "quote", "rest"), read_table(__file__, "rest_that_may_ask_is_found")
)
def test_rest_that_may_ask_is_found(text: str, quote: str, rest: str) -> None:
    (found,) = rests(text, quote)
    assert found.startswith(rest)


@pytest.mark.parametrize(
    ("text", "quote"), read_table(__file__, "rest_that_asks_for_nothing_is_left")
)
def test_rest_that_asks_for_nothing_is_left(text: str, quote: str) -> None:
    assert rests(text, quote, quote) == ()


def test_the_same_words_in_two_places_are_two_passages() -> None:
    text = "## encode\n- None is a TypeError\n## decode\n- None is a TypeError\n"
    assert rests(text, "None is a TypeError") == ("None is a TypeError",)
    assert rests(text, "None is a TypeError", "None is a TypeError") == ()


def test_example_that_the_interface_cannot_serve_is_a_rest() -> None:
    text = "Wrap it.\n\n- other(1) -> 2\n"
    assert rests(text, "Wrap it", examples=()) == ("other(1) -> 2",)


def test_background_and_what_is_not_covered_take_up_words() -> None:
    contract = make_contract(
        "Oh! We lost an archive last year, so sum the sizes. Add a table to the database.",
        ["sum the sizes"],
        background=(Background(quote="Oh! We lost an archive last year"),),
        not_covered=("Add a table to the database.", "and other things"),
    )
    trace = trace_contract(contract)
    assert (trace.rests, find_complaints(trace)) == ((), ())


class TestComplaints:
    def test_contract_that_quotes_all_has_none(self) -> None:
        contract = make_contract("Sum the sizes; refuse none.", ["Sum the sizes"], ["refuse none"])
        assert find_complaints(trace_contract(contract)) == ()

    def test_contract_without_quotes_has_one(self) -> None:
        trace = trace_contract(make_contract("Sum the sizes. Sort them.", [], []))
        assert [item[:26] for item in find_complaints(trace)] == ["No requirement quotes the "]

    def test_what_has_to_stay_takes_up_passages_too(self) -> None:
        kept = KeptBehaviour(id="K1", text="t", quotes=("Spaces stay as they are", "not there"))
        text = "Sum the sizes. Spaces stay as they are."
        trace = trace_contract(make_contract(text, ["Sum the sizes"], keep=(kept,)))
        assert (trace.rests, trace.missing) == ((), [("K1", "not there")])
        assert settle_contract(trace).keep[0].quotes == kept.quotes[:1]

    def test_text_of_examples_alone_needs_no_quotes(self) -> None:
        trace = trace_contract(make_contract("wrap('a', 1) -> ['a']", []))
        assert find_complaints(trace) == ()

    def test_what_nothing_takes_up_is_none_but_unquoted(self) -> None:
        contract = make_contract(
            "Sum the sizes and never sort names. Print 3 lines.",
            ["Sum the sizes and never sort names"],
            ["as JSON"],
            background=(Background(quote="for fun"),),
        )
        trace = trace_contract(contract)
        assert find_complaints(trace) == ()
        assert settle_contract(trace).unquoted == ("Print 3 lines",)


class TestSettledContract:
    def test_invented_quotes_are_dropped_and_their_requirement_is_an_assumption(self) -> None:
        contract = make_contract(
            "Sum the sizes. Sort them.",
            ["Sum the sizes", "as JSON"],
            ["in colour"],
            background=(Background(quote="no such"),),
        )
        settled = settle_contract(trace_contract(contract))
        assert [item.quotes for item in settled.requirements] == [("Sum the sizes",), ()]
        assert settled.background == ()
        assert settled.unquoted == ("Sort them",)
        assert settled.assumptions == ("R2: no passage of the specification asks for it",)
        (reason,) = settled.unmet()
        assert reason == (
            'no requirement covers this passage of the text: "Sort them"; state it more clearly'
        )
        assert settle_contract(trace_contract(settled)).assumptions == settled.assumptions

    def test_old_contract_has_one_short_reason(self) -> None:
        settled = settle_contract(trace_contract(make_contract("Sort it. " * 50, [], [])))
        assert settled.assumptions == ()
        (reason,) = settled.unmet()
        assert reason.startswith("the contract quotes nothing from the text")

    def test_reason_is_bounded(self) -> None:
        text = "Quote this. " + "".join(f"Sort {'x' * 900} {n} up. " for n in range(99))
        (reason,) = settle_contract(trace_contract(make_contract(text, ["Quote this"]))).unmet()
        assert "and 94 more" in reason
        assert len(reason) < 1300


class TestBackground:
    quotes = (
        "Our shop is old",
        "It must be quick",
        "there are 7 of us",
        "the others return to us",
        "We do not like Java",
        "zwei Leute",
        "Please write the template mail.txt",
        "Write `wrap(text, width)` for the chat",
    )

    def test_some_is_doubtful(self) -> None:
        background = tuple(Background(quote=item) for item in self.quotes)
        contract = make_contract("x", background=background)
        assert find_doubtful_background(contract) == background[1:-1]

    def test_a_review_refuses_it_by_number(self) -> None:
        background = tuple(Background(quote=item) for item in self.quotes)
        contract = make_contract("x", ["x"], background=background)
        findings = (
            Finding(line=None, severity="warning", message="background B1: a bound of time"),
            Finding(line=3, severity="error", message="Background b5 and B2; background B99, B0"),
        )
        review = Review(findings=findings, confirmed=(1, 2, 3, 4, 6, 99))
        refused, lost = settle_background(contract, review)
        assert lost == (
            '"It must be quick": background B1: a bound of time',
            '"zwei Leute": Background b5 and B2; background B99, B0',
        )
        assert refused.unquoted == ("It must be quick", "zwei Leute")
        assert [item.quote for item in refused.background] == [
            self.quotes[0],
            *self.quotes[2:5],
            *self.quotes[6:],
        ]

    def test_what_no_review_confirms_is_unquoted(self) -> None:
        background = tuple(Background(quote=item) for item in self.quotes)
        contract = make_contract("x", ["x"], background=background)
        silent, _ = settle_background(contract, Review())
        assert silent.unquoted == self.quotes[1:-1]
        assert silent.background == (background[0], background[-1])
        (reason,) = silent.unmet()
        assert "It must be quick" in reason
        confirmed, _ = settle_background(contract, Review(confirmed=tuple(range(1, 7))))
        assert confirmed == contract


@pytest.mark.slow
def test_hostile_quotes_take_linear_time() -> None:
    """Thousands of quotes that are missing, everywhere, or equal, in a text of 25,000 words."""
    text = "aa ab. Aa ab b. " * 5000
    quotes = [
        "a",
        "aa",
        *(f"aa ab {number}" for number in range(1500)),
        *["ab b"] * 1500,
        "`\u202e",
    ]
    started = time.process_time()
    trace = trace_contract(make_contract(text, quotes))
    settle_contract(trace)
    find_complaints(trace)
    assert time.process_time() - started < 20


@pytest.mark.parametrize(("line", "doctest"), read_table(__file__, "example_takes_up_its_line"))
def test_example_takes_up_its_line(line: str, doctest: str) -> None:
    examples = (GivenExample(doctest=doctest),)
    assert rests(f"Wrap it.\n\n{line}\n", "Wrap it", examples=examples) == ()
    assert rests(f"Wrap it.\n\n{line} because it is odd.\n", "Wrap it", examples=examples) != ()


def test_a_requirement_quotes_a_passage_wherever_it_stands_again() -> None:
    again = "Keep the score of a game of bowling for one player"
    contract = make_contract(
        f"{again}.\n\nReturn 3 numbers.\n\n{again}.\n", [again], ["Return 3 numbers"]
    )
    assert find_complaints(trace_contract(contract)) == ()


def test_words_and_numbers_of_an_address_are_no_doubt_about_background() -> None:
    known = [Background(quote="[1]: https://docs.python.org/3/must-return", reason="a link")]
    contract = make_contract("Sum the sizes", ["Sum the sizes"], background=tuple(known))
    assert find_doubtful_background(contract) == ()


def test_a_heading_that_needs_no_quote_needs_no_confirmation() -> None:
    text = "# Exception messages\n\n## Not the exception\n\nExceptions have messages.\n"
    quotes = ["Exception messages", "Not the exception", "Exceptions have messages."]
    known = tuple(Background(quote=quote) for quote in quotes)
    contract = make_contract(text, ["wrap"], background=known)
    assert [item.quote for item in find_doubtful_background(contract)] == quotes[1:]


def test_the_name_of_the_module_needs_no_quote() -> None:
    text = "Write the module `wrap_all`. It sorts lines."
    trace = trace_contract(make_contract(text, ["It sorts lines"], module="wrap_all"))
    assert trace.rests == ()
    assert trace_contract(make_contract(text, ["It sorts lines"])).rests != ()


@pytest.mark.parametrize("fence", ["```", "~~~", "~~~~", "`````"])
def test_a_block_ends_at_its_fence(fence: str) -> None:
    text = f"One.\n\n{fence}text\na\n{fence}\n\n## Exception messages\n\nTwo.\n"
    kinds = [block.kind for block in index_text(text).blocks]
    assert kinds == ["sentence", "code", "heading", "sentence"]
