"""The recorded examples of `make` end as documented."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from greenloop.agent import CodingAgent
from greenloop.app.inputs.specification import read_specification
from greenloop.events import Event, RunStarted
from greenloop.records import Report
from greenloop.settings import Settings

EXAMPLES = Path(__file__).parents[2] / "examples"


def played(name: str, home: Path, mutants: int = 100) -> Report:
    """Return the report of an example run on its recorded answers, with time limits for busy machines."""
    events: list[Event] = []
    recording = f"replay:{EXAMPLES / name}.jsonl"
    settings = Settings(home=home, model=recording, timeout_s=15, grading_s=200, mutants=mutants)
    agent = CodingAgent(settings, emit=events.append)
    text = read_specification(str(EXAMPLES / f"{name}.md")).text
    report = asyncio.run(agent.run(text))
    assert [item.is_replay for item in events if isinstance(item, RunStarted)] == [True]
    return report


def hardening(report: Report) -> set[str]:
    """Return the active functions that were added against surviving mutants."""
    standing = [item for item in report.tests if item.outcome == "passed"]
    added = [item.id for item in standing if item.origin == "hardening"]
    return {item.rpartition("::")[2].partition("[")[0] for item in added}


@pytest.mark.parametrize(("name", "added"), [("roman_numerals", 0), ("csv_sales_report", 4)])
def test_right_at_once(name: str, added: int, tmp_path: Path) -> None:
    """Tests were added for survivors, in one round or two; the code stayed as it was."""
    report = played(name, tmp_path)
    assert (report.verdict, report.reasons) == ("verified", ())
    assert report.iterations == 1
    assert report.evidence.held_out is not None
    assert report.evidence.held_out.reached
    assert len(hardening(report)) == added


def test_added_tests_kill_mutants_that_survived_before(tmp_path: Path) -> None:
    report = played("classes_seat_booking", tmp_path)
    mutation = report.evidence.mutation
    assert report.verdict == "verified"
    assert report.iterations == 1
    assert len(hardening(report)) == 4
    assert mutation is not None
    assert not [item for item in mutation.survived if item.function == "Hold"]


def test_the_wrong_code_is_repaired(tmp_path: Path) -> None:
    """A test that no code can pass (the library itself never returns) is dropped besides."""
    report = played("repaired_text_wrap", tmp_path, mutants=0)  # they take minutes
    assert report.verdict == "passed"
    assert [item.kind for item in report.attempts] == ["generate", "repair", "repair"]
    assert [bool(item.failed or item.errors) for item in report.attempts] == [True, True, False]
    assert report.iterations == 3


def test_the_wrong_test_is_dropped(tmp_path: Path) -> None:
    """A held-out example contradicts the contract: it is dropped, the code stays as it was."""
    report = played("wrong_test_pretty_json", tmp_path)
    dropped = [item for item in report.tests if item.outcome == "dropped"]
    assert report.verdict == "verified"
    assert [(item.disputed, bool(item.judgement)) for item in dropped] == [(True, True)]
    assert "repair" not in [item.kind for item in report.attempts]
    assert hardening(report) == {"test_the_width_of_each_constant_counts"}


def test_every_example_has_a_recording_and_vice_versa() -> None:
    specifications = {path.stem for path in EXAMPLES.glob("*.md")} - {"README"}
    assert specifications == {path.stem for path in EXAMPLES.glob("*.jsonl")}
    assert len(specifications) >= 4
