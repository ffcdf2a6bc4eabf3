"""The index of a batch: every entry on one page, however many, and links that lead somewhere."""

import re
from pathlib import Path

import pytest

from greenloop.batch.entries import Entry
from greenloop.batch.results import add_outcome, append_line
from greenloop.cli.batch_index import write_index
from greenloop.cli.commands.report import report_command
from greenloop.cli.options.tools import ReportOptions
from greenloop.errors import InputError
from greenloop.records.batch import BatchOutcome, BatchTotals
from greenloop.reporting.batch import BatchSummary

MANY = 2000


def outcome(entry: Entry, folder: Path, **changes: object) -> BatchOutcome:
    run_dir = folder / "runs" / entry.slug
    run_dir.mkdir(parents=True)
    (run_dir / "report.html").write_text("its page")
    whole = BatchOutcome(
        id=entry.id,
        sha256=entry.sha256,
        kind="reached",
        exit_status=0,
        verdict="passed",
        run_dir=str(run_dir),
        tests=3,
        calls=4,
        tokens=100,
        seconds=1.5,
    )
    return whole.model_copy(update=changes)


def links(page: Path) -> list[str]:
    return re.findall(r'href="(\./[^"]+)"', page.read_text("utf-8"))


def test_thousands_of_entries_are_on_one_page_and_those_that_were_not_run(tmp_path: Path) -> None:
    entries = tuple(Entry(id=f"n{i} <b>", text=f"text {i}", source="-") for i in range(MANY + 1))
    ran = tuple(outcome(entry, tmp_path) for entry in entries[:MANY])
    totals = BatchTotals(specifications=MANY + 1, not_run=MANY + 1)
    for item in ran:
        totals = add_outcome(totals, item)
    write_index(BatchSummary(totals, ran, (entries[MANY].id,)), tmp_path)
    page = tmp_path / "index.html"
    text = page.read_text("utf-8")
    assert (text.count("<tr>"), text.count("<b>")) == (MANY + 2, 1)
    assert "2000 passed" in text
    assert "1 not run" in text
    assert len(links(page)) == MANY
    assert all((tmp_path / link).is_file() for link in links(page)[:20])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What a killed batch leaves: results, and no page."""
    entries = [Entry(id=name, text=name, source="-") for name in ("good", "bad", "late")]
    broken = {"kind": "broken off", "exit_status": 3, "verdict": None, "reason": "no model"}
    for item in (
        outcome(entries[0], tmp_path),
        outcome(entries[1], tmp_path, verdict="failed", kind="missed", exit_status=1),
        outcome(entries[2], tmp_path, **broken),
        outcome(Entry(id="late", text="changed since", source="-"), tmp_path),
    ):
        append_line(tmp_path / "results.jsonl", item)
    return tmp_path


def test_report_makes_the_page_of_a_batch_that_was_killed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert report_command(ReportOptions(run_dir=folder, open_page=True)) == 0
    assert capsys.readouterr().out.strip() == str(folder / "index.html")
    elsewhere = folder / "deep" / "page.html"
    assert report_command(ReportOptions(run_dir=folder, html=str(elsewhere))) == 0
    for page in (folder / "index.html", elsewhere):
        assert len(links(page)) == 3
        assert all((page.parent / link).is_file() for link in links(page))
        text = page.read_text("utf-8")
        assert "2 passed" in text  # the last of `late` counts
        assert "1 failed" in text
        assert "no model" not in text


def test_the_page_of_a_batch_that_was_stopped_says_so(folder: Path) -> None:
    page = folder / "page.html"
    assert report_command(ReportOptions(run_dir=folder, html=str(page))) == 0
    assert "Stopped" not in page.read_text("utf-8")
    (folder / "runs" / "begun").mkdir()
    assert report_command(ReportOptions(run_dir=folder, html=str(page))) == 0
    assert "Stopped: 1 of 4 specifications did not finish" in page.read_text("utf-8")


def test_report_of_a_batch_in_other_forms(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report_command(ReportOptions(run_dir=folder)) == 0
    shown = capsys.readouterr().out
    assert "passed     good" in shown
    assert "2 of 3 specifications reached" in shown
    assert report_command(ReportOptions(run_dir=folder, markdown="-")) == 0
    assert "| `bad` |" in capsys.readouterr().out
    with pytest.raises(InputError, match="name one of its runs"):
        report_command(ReportOptions(run_dir=folder, sarif="x.sarif"))
