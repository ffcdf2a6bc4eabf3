"""Verdict card, and what is printed at a terminal, in a pipe and beside JSON."""

import io
import re
import sys
from typing import Any

import pytest
from rich.cells import cell_len

from greenloop.cli.finish import MAX_SHOWN_LINES, print_report
from greenloop.cli.options.shared import DisplayOptions
from greenloop.records import Artifacts, Choice, Difference, Peer, Report, TestEntry
from greenloop.reporting.card import print_card
from greenloop.reporting.evidence.survivors import format_survivor_rows, list_survivors
from tests.support.programs import read_table
from tests.support.reports import HOSTILE, build_check_report, build_make_report

HELD_OUT = TestEntry(id="t::held", origin="held_out", outcome="passed")
LONG_CODE = "x = 1\n" * (MAX_SHOWN_LINES + 1)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def card(report: Report, **options: Any) -> str:
    stream = io.StringIO()
    print_card(report, stream, **options)
    return stream.getvalue()


def open_terminals(monkeypatch: pytest.MonkeyPatch) -> tuple[Terminal, Terminal]:
    """Make standard output and error terminals of 80 columns without colour. Not for a fixture."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    out, err = Terminal(), Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    return out, err


def test_card_has_verdict_counts_reasons_and_remedies() -> None:
    unmeasured = (f"{name}: not measured: no test is new" for name in ("isolation", "lines"))
    reasons = "mutants: score 50%", *unmeasured, "of its own"
    report = build_make_report(reasons=reasons, tests=(*build_make_report().tests, HELD_OUT))
    shown = card(report)
    assert "\n○ passed  topk\n" in shown
    assert "+ 1 of 1 held-out example\n" in shown
    unrun = HELD_OUT.model_copy(update={"outcome": "not run"})
    assert "+ 1 held-out example not run\n" in card(build_make_report(tests=(unrun,)))
    assert "4,600 tokens in 4 calls, cost unknown" in shown
    assert "• mutants: score 50% → add the tests that are missing" in shown
    assert "• isolation, lines: not measured: no test is new → add a test" in shown
    assert "• of its own\n" in shown
    assert "(1 attempt" not in shown or len(report.attempts) == 1


def test_held_out_example_that_cannot_be_read_does_not_count_as_missed() -> None:
    invalid = HELD_OUT.model_copy(update={"outcome": "invalid"})
    assert "+ 1 of 1 held-out example\n" in card(build_make_report(tests=(HELD_OUT, invalid)))


def test_cost_of_a_recording() -> None:
    environment = build_make_report().environment.model_copy(update={"model": "replay:x.jsonl"})
    assert ", recorded\n" in card(build_make_report(environment=environment))
    assert ", no cost\n" not in card(build_make_report())


def test_a_survivor_is_a_row_that_says_which_test_is_missing() -> None:
    (row,) = [line for line in card(build_make_report()).splitlines() if " → k <= 0" in line]
    assert row.startswith("    line 3  k < 0 → k <= 0")
    assert row.endswith("   no test with k = 0")


@pytest.mark.parametrize(("before", "after", "row"), read_table(__file__, "ROWS"))
def test_a_row_shows_what_differs_and_an_input_on_which_it_does(
    before: str, after: str, row: str
) -> None:
    operator = "boundary" if "n < 9" in after else "number"
    (known,) = list_survivors(build_make_report().evidence)
    found = known.model_copy(update={"operator": operator, "before": before, "after": after})
    assert format_survivor_rows([found], 76) == [f"line 3  {row}"]


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ("n <= 10", "n <= 11", "n <= 10 → n <= 11"),
        (
            "def __init__(self, limit=100):",
            "def __init__(self, limit=99):",
            "… limit=100): → … limit=99):",
        ),
        (
            f"raise ValueError({'a, ' * 20}2)",
            f"raise Exception({'a, ' * 20}2)",
            "… ValueError … → … Exception …",
        ),
        (f"f({'a, ' * 20}2)", f"f({'a, ' * 20}3)", "… a, a, a, 2) → … a, a, a, 3)"),
        (
            "work(a.first, b, c.third)",
            "work(a.first, None, c.third)",
            "… b, c.third) → … None, c …",
        ),
    ],
)
def test_a_change_that_does_not_fit_has_its_own_line_and_no_word_is_cut(
    before: str, after: str, change: str
) -> None:
    (known,) = list_survivors(build_make_report().evidence)
    update = {"operator": "number", "before": before, "after": after}
    _, shown = format_survivor_rows([known.model_copy(update=update)], 36)
    assert shown == f"    {change}"


def test_answers_of_a_difference_stand_below_each_other_with_their_white_space() -> None:
    report = build_make_report()
    found = Difference(call="f('a', 2)", code="'a  b'", peer="'a b'")
    peer = Peer(inputs=60, allowed=60, agreed=51, differences=(found,))
    evidence = report.evidence.model_copy(update={"peer": peer})
    lines = card(report.model_copy(update={"evidence": evidence})).splitlines()
    assert "    f('a', 2)" in lines
    first = lines.index("      the code               'a  b'")
    assert lines[first + 1].strip() == "^"
    assert lines[first + 2] == "      second implementation  'a b'"


def test_choices_that_were_accepted_unread_are_named() -> None:
    report = build_make_report()
    assert report.contract is not None
    unread = Choice(id="C1", question="which?", answered="accepted", unread=True)
    contract = report.contract.model_copy(update={"choices": (unread,)})
    assert "1 choice accepted unread: C1" in card(report.model_copy(update={"contract": contract}))


def test_hostile_text_stays_in_its_row() -> None:
    shown = card(build_make_report(HOSTILE))
    assert "\x1b" not in shown
    assert "\u202e" not in shown


@pytest.mark.parametrize("width", ["80", "44"])
def test_card_fits_the_terminal(width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = open_terminals(monkeypatch)
    monkeypatch.setenv("COLUMNS", width)
    print_report(build_check_report(), DisplayOptions())
    assert out.getvalue() == ""
    lines = re.sub(r"\x1b\[[\d;]*m", "", err.getvalue()).splitlines()
    assert [i for i in lines if cell_len(i) > int(width) and "report --open" not in i] == []


def test_terminal_shows_short_code_once(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = open_terminals(monkeypatch)
    print_report(build_make_report(), DisplayOptions())
    assert "def top_k" in out.getvalue()
    assert "# passed" not in out.getvalue()
    assert "○ passed" in err.getvalue()
    assert "report --open" in err.getvalue()


@pytest.mark.parametrize(
    "changes",
    [{"final_code": LONG_CODE}, {"artifacts": Artifacts(run_dir="runs/one", output="topk.py")}],
)
def test_terminal_hides_long_and_written_code(
    changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, err = open_terminals(monkeypatch)
    print_report(build_make_report(**changes), DisplayOptions())
    assert out.getvalue() == ""
    assert ("greenloop report --code" in err.getvalue()) == ("final_code" in changes)


def test_pipe_gets_all_code_and_the_terminal_the_card(monkeypatch: pytest.MonkeyPatch) -> None:
    _, err = open_terminals(monkeypatch)
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stdout", pipe)
    print_report(build_make_report(final_code=LONG_CODE), DisplayOptions())
    assert pipe.getvalue().startswith(LONG_CODE)
    assert "\n# passed: " in pipe.getvalue()
    assert "○ passed" in err.getvalue()


@pytest.mark.parametrize("quiet", [False, True])
def test_log_beside_json_has_an_ending(quiet: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    out, log = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", log)
    print_report(build_make_report(), DisplayOptions(json=True, quiet=quiet))
    assert Report.model_validate_json(out.getvalue()) == build_make_report()
    assert ("○ passed  topk" in log.getvalue()) is not quiet


def test_colour_can_be_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" not in card(build_make_report())
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;33m○ passed" in card(build_make_report())
