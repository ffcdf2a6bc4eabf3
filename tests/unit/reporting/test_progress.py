"""Progress output: one line per event, control characters removed, errors ignored."""

import io
import sys
import threading
import time

import pytest
from rich.table import Table
from rich.text import Text

from greenloop import events as e
from greenloop.records import (
    Attempt,
    Choice,
    ChoiceAnswer,
    Contract,
    EmptyBodies,
    Evidence,
    Failure,
    Mutation,
    Requirement,
    TestRun,
)
from greenloop.reporting.escaping import sanitize_line
from greenloop.reporting.progress.activity import BatchActivity
from greenloop.reporting.progress.messages import LABEL_WIDTH, format_event
from greenloop.reporting.progress.renderer import (
    LiveProgress,
    NullProgress,
    PlainProgress,
    build_labelled_row,
    create_progress,
)
from greenloop.reporting.progress.run_messages import RunMessages

CHOICE = Choice(id="C1", question="Cents?", answers=("f(1) -> 2", "f(1) -> 3"), chosen="f(1) -> 2")
ANSWERED = ChoiceAnswer(question_sha256=CHOICE.sha256, how="user", answer="f(1) -> 3")
LEFT_OPEN = ChoiceAnswer(question_sha256=CHOICE.sha256, how="left")
CONTRACT = Contract(
    module="m",
    summary="s",
    interface="def f(): ...",
    requirements=(Requirement(id="R1", text="word " * 60),),
    assumptions=("one",),
    choices=(CHOICE,),
)
RUN = TestRun(
    ending="timeout",
    detail="still running after 3 s",
    failures=(Failure(test="test_m.py::test_a", phase="call", exception="E", message="a\nb"),),
)
FULL = TestRun(
    ending="finished",
    detail="reached a limit: more than 64 MB of files",
    limits_hit=("disk",),
)
ATTEMPT = Attempt(n=1, kind="generate", passed=1, failed=2, errors=0, code_sha256="x")


@pytest.mark.parametrize(
    ("event", "parts"),
    [
        (
            e.RunStarted("m", "native", "strong", "dir", is_replay=True),
            ["RECORDED", "strong", "dir"],
        ),
        (e.RunStarted("m", "native", "strong", None, resumed_responses=3), ["3 answers"]),
        (e.RunStarted("m", "none", "NONE: all", None), ["WARNING  no sandbox. NONE: all"]),
        (
            e.ContractReady(CONTRACT),
            ["R1 word", " …", "assumed: one", "open: Cents? (taken: f(1) -> 2)"],
        ),
        (e.ChoiceAnswered(CHOICE, ANSWERED), ["choice   Cents? answered: f(1) -> 3"]),
        (e.ChoiceAnswered(CHOICE, LEFT_OPEN), ["choice   Cents? left open"]),
        (
            e.CandidateTested(
                ATTEMPT.model_copy(
                    update={"n": 2, "kind": "repair", "based_on": 1, "remark": "<="}
                ),
                RUN,
            ),
            ["2 repair of 1: 1 passed, 2 failed", "changed: <="],
        ),
        (
            e.CandidateTested(ATTEMPT.model_copy(update={"tokens": 9}), RUN),
            ["1 generate: 1 passed, 2 failed", "timeout: still", "test_a: E: a"],
        ),
        (
            e.CandidateTested(ATTEMPT, RUN),
            ["1 as given: 1 passed, 2 failed (0 tokens"],
        ),
        (e.CandidateTested(ATTEMPT, FULL), ["reached a limit: more than 64 MB of files"]),
        (e.CallRetried("t", "busy", 2, 1.5), ["again in 1.5 s (try 2)"]),
        (e.Stuck("the same", "rewriting"), ["the same: rewriting"]),
    ],
)
def test_events_have_their_message(event: e.Event, parts: list[str]) -> None:
    lines = format_event(event)
    for part in parts:
        assert part in "\n".join(lines)
    assert all(line[LABEL_WIDTH - 1] == " " for line in lines)


def test_only_warnings_are_bold_red() -> None:
    lines = ("WARNING  no sandbox", "bold red"), ("sandbox  native, strong", "")
    for line, text_style in lines:
        row = build_labelled_row(line, "cyan")
        assert isinstance(row, Table)
        text = next(iter(row.columns[1].cells))
        assert isinstance(text, Text)
        assert str(text.style) == text_style


def test_a_path_is_not_wrapped() -> None:
    assert isinstance(build_labelled_row(f"run      /{'folder/' * 20}", "cyan"), Text)


def test_verbose_adds_details() -> None:
    assert format_event(e.CallFinished("t", 1.0, 5)) == []
    assert format_event(e.CallFinished("t", 1.0, 5), verbose=True) == [
        "call     t: 1.0 s, 5 tokens"
    ]
    assert " …" not in "".join(format_event(e.ContractReady(CONTRACT), verbose=True))
    bare = CONTRACT.model_copy(update={"summary": ""})
    assert next(iter(format_event(e.ContractReady(bare)))) == f"contract {CONTRACT.module}"


def test_control_characters_do_not_reach_the_terminal() -> None:
    stream = io.StringIO()
    PlainProgress(stream)(e.Notice("red \x1b[31m and bell \x07 and\nline"))
    assert stream.getvalue() == "note     red  [31m and bell   and line\n"
    assert sanitize_line("é…") == "é…"


def test_closed_stream_does_not_stop_the_run() -> None:
    stream = io.StringIO()
    stream.close()
    PlainProgress(stream)(e.Notice("lost"))


def test_renderer_depends_on_terminal_and_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(create_progress(quiet=True, verbose=False)) is NullProgress
    assert type(create_progress(quiet=False, verbose=False)) is PlainProgress
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("CI", "true")
    assert type(create_progress(quiet=False, verbose=False)) is PlainProgress
    monkeypatch.delenv("CI")
    assert type(create_progress(quiet=False, verbose=False)) is LiveProgress
    monkeypatch.setenv("NO_COLOR", "1")
    assert type(create_progress(quiet=False, verbose=False)) is LiveProgress
    monkeypatch.setenv("TERM", "dumb")
    assert type(create_progress(quiet=False, verbose=False)) is PlainProgress


def test_live_view_shows_current_work() -> None:
    view = LiveProgress()
    view._track_event(e.CallStarted("generate_code"))
    view._track_event(e.CallProgress("generate_code", 1200))
    view._track_event(e.CallStarted("generate_tests"))
    waiting = str(view._render()).split("\n")
    assert waiting[0].endswith("generate_code: 0 s, 301 tokens")
    assert waiting[1].endswith("generate_tests: 0 s")
    assert waiting[2].endswith("  0:00")
    view._track_event(e.CallFinished("generate_code", 1.0, 1234, cost_usd=0.25))
    view._track_event(e.WorkStarted("grading, mutation"))
    view._track_event(e.SandboxJobProgress("key", "mutants", 41, 100))
    view._track_event(e.CallFailed("generate_tests"))
    shown = str(view._render())
    assert "grading, mutation: 0 s, 41/100  ━━━━━━━━────────────\n" in shown
    assert shown.endswith("1 call, 1,234 tokens · $0.2500 · 0:00")
    view._track_event(e.SandboxJobProgress("key", "mutants", 500, 100))  # untrusted code says so
    assert "100/100" in str(view._render())
    view._track_event(e.WorkEnded("grading, mutation"))
    assert "working: 0 s\n" in str(view._render())


def test_a_later_attempt_and_grade_tell_what_has_changed() -> None:
    messages = RunMessages()
    messages.format(e.RunStarted("m", "native", "strong", None, max_repairs=5))
    two = RUN.model_copy(
        update={"failures": (*RUN.failures, RUN.failures[0].model_copy(update={"test": "t::b"}))}
    )
    first, second = ATTEMPT.model_copy(update={"n": 2}), ATTEMPT.model_copy(
        update={"n": 3, "kind": "repair"}
    )
    assert messages.format(e.CandidateTested(first, RUN))[0].endswith(": fixed before its test run")
    lines = messages.format(e.CandidateTested(second, two))
    assert lines[0].endswith(", repair 1/5")
    assert [line.strip() for line in lines[-2:]] == ["b: E: a", "and as before: test_a"]
    weak, strong = (
        Evidence(
            mutation=Mutation(score=score, killed=1),
            empty_bodies=EmptyBodies(reached=True, passed=0, failed=1),
        )
        for score in (0.5, 1.0)
    )
    line = "grading  below the threshold: faults noticed 50%; 2 others reach it"
    assert messages.format(e.CodeGraded(weak)) == [line]
    assert messages.format(e.CodeGraded(strong)) == ["grading  faults noticed 50% → 100%"]
    assert messages.format(e.CodeGraded(strong)) == ["grading  as before"]


class Clock:
    """Clock that is advanced by the test."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_plain_progress_prints_a_heartbeat() -> None:
    stream, clock = io.StringIO(), Clock()
    plain = PlainProgress(stream, heartbeat_seconds=15, clock=clock)

    def print_after(seconds: float) -> str:
        clock.now += seconds
        before = len(stream.getvalue())
        plain.check_silence()
        return stream.getvalue()[before:]

    plain(e.CallStarted("generate_code"))
    assert print_after(14) == ""
    plain(e.CallProgress("generate_code", 1234))
    assert print_after(1) == "…        generate_code: 15 s, 309 tokens\n"
    assert print_after(14) == ""
    plain(e.Notice("another line"))
    plain(e.WorkStarted("tests on a stub"))
    assert print_after(14) == ""
    shown = ["…        generate_code: 45 s, 309 tokens", "…        tests on a stub: 16 s"]
    assert print_after(2).splitlines() == shown
    plain(e.WorkEnded("tests on a stub"))
    plain(e.CallFinished("generate_code", 45.0, 5))
    assert print_after(100) == ""


def test_batch_heartbeat_names_the_step_of_each_specification() -> None:
    stream, clock = io.StringIO(), Clock()
    plain = PlainProgress(stream, clock=clock, activity=BatchActivity(max_entries=2, clock=clock))
    for name in ("a", "b", "c"):
        plain(e.EntryStarted(name))
    clock.now += 5
    plain(e.EntryProgress("a", e.CallStarted("generate_code")))
    plain(e.EntryProgress("a", e.WorkStarted("tests on a stub")))
    plain(e.EntryProgress("a", e.CallProgress("generate_code", 7)))
    plain(e.EntryProgress("gone", e.CallStarted("generate_code")))
    clock.now += 15
    plain.check_silence()
    assert stream.getvalue() == (
        "…        a: 20 s, in generate_code: 15 s, 2 tokens and tests on a stub: 15 s\n"
        "…        b: 20 s\n…        and 1 more\n"
    )


def test_heartbeat_thread_ends_with_the_run() -> None:
    stream = io.StringIO()
    before = threading.active_count()
    with PlainProgress(stream, heartbeat_seconds=0.01) as plain:
        plain(e.CallStarted("generate_code"))
        ends = time.monotonic() + 60
        while "generate_code: 0 s" not in stream.getvalue():
            assert time.monotonic() < ends
            time.sleep(0.01)
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
