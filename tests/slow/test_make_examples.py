"""The recorded examples of `make` end as documented."""

import asyncio
from pathlib import Path

import pytest

from greenloop.agent import CodingAgent
from greenloop.app.inputs.specification import read_specification
from greenloop.events import Event, RunStarted
from greenloop.records import Report
from greenloop.settings import Settings

EXAMPLES = Path(__file__).parents[2] / "examples"


def play(name: str, home: Path, mutants: int = 100) -> Report:
    """Return the report of an example run on its recorded answers, with time limits for busy machines."""
    events: list[Event] = []
    recording = f"replay:{EXAMPLES / name}.jsonl"
    settings = Settings(home=home, model=recording, timeout_s=15, grading_s=200, mutants=mutants)
    agent = CodingAgent(settings, emit=events.append)
    text = read_specification(str(EXAMPLES / f"{name}.md")).text
    report = asyncio.run(agent.run(text))
    assert [item.is_replay for item in events if isinstance(item, RunStarted)] == [True]
    return report


def test_a_text_that_leaves_nothing_open_is_verified(tmp_path: Path) -> None:
    report = play("roman_numerals", tmp_path)
    assert (report.verdict, report.reasons) == ("verified", ())
    assert report.iterations == 1
    assert "hardening" not in {item.origin for item in report.tests}


@pytest.mark.parametrize("name", ["sales_report", "seat_booking"])
def test_what_the_text_leaves_open_alone_stands_between_it_and_verified(
    name: str, tmp_path: Path
) -> None:
    report = play(name, tmp_path)
    # A busy machine compares fewer inputs in the time that it has.
    expected = ("the text leaves open: ", "second implementation: only ")
    assert report.verdict == "passed"
    assert [item for item in report.reasons if not item.startswith(expected)] == []
    assert report.iterations == 1


# What a trap ends with, whatever is left open besides.
TRAPS = {
    "compound": "the text leaves open: ",
    "debts": "the text leaves open: What happens with a payment for nobody?",
    "dropped_clause": "the text leaves open: What happens if not even the dots fit?",
    "meeting": "the text leaves open: ",
    "order": "the text leaves open: What happens if n is negative?",
    "two_files": "the text asks for what one Python module cannot provide: ",
    "unit": "the text leaves open: In which unit and type is the price returned?",
    "wrong_example": "the text leaves open: 2024-03-01 is a Friday and 2024-03-04 a Monday",
}


@pytest.mark.parametrize(("name", "reason"), TRAPS.items())
def test_a_text_with_a_trap_is_never_verified(name: str, reason: str, tmp_path: Path) -> None:
    report = play(f"traps/{name}", tmp_path, mutants=0)  # they take no choice away
    assert report.verdict == "passed"
    assert any(item.startswith(reason) for item in report.reasons)


def test_every_trap_is_played() -> None:
    assert TRAPS.keys() == {path.stem for path in EXAMPLES.glob("traps/*.jsonl")}


def test_the_wrong_code_is_repaired(tmp_path: Path) -> None:
    """The tests compare with the library; what the peer does wrong is judged by the text."""
    report = play("text_wrap", tmp_path)
    assert (report.verdict, report.reasons) == ("verified", ())
    assert [item.kind for item in report.attempts] == ["generate", "repair"]
    assert [bool(item.failed) for item in report.attempts] == [True, False]
    assert report.evidence.peer is not None
    assert {item.ruling for item in report.evidence.peer.differences} == {"peer is wrong"}


def test_the_wrong_test_is_dropped(tmp_path: Path) -> None:
    """A held-out example contradicts the contract: it is dropped, the code stays as it was."""
    report = play("pretty_json", tmp_path)
    dropped = [item for item in report.tests if item.outcome == "dropped"]
    assert report.verdict == "passed"
    assert all(item.startswith("the text leaves open: ") for item in report.reasons)
    assert [(item.disputed, bool(item.judgement)) for item in dropped] == [(True, True)]
    assert "repair" not in [item.kind for item in report.attempts]


def test_every_example_has_a_recording_and_vice_versa() -> None:
    specifications = {path.stem for path in EXAMPLES.glob("*.md")} - {"README"}
    assert specifications == {path.stem for path in EXAMPLES.glob("*.jsonl")}
    assert len(specifications) >= 4
