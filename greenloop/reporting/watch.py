"""Screen of `check --watch`: verdict, failing tests, and surviving mutants as questions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from rich.text import Text

from greenloop import events as e
from greenloop.records import Report, Survivor, TestRun
from greenloop.reporting.escaping import flatten, sanitize_line
from greenloop.reporting.evidence.survivors import (
    diff_hunk,
    format_survivor_rows,
    list_survivors,
)
from greenloop.reporting.progress.activity import RunActivity
from greenloop.reporting.summary import (
    VERDICT_SIGNS,
    VERDICT_STYLES,
    format_test_counts,
    pluralize,
)
from greenloop.reporting.traceability import short_name

KEYS = "a run all · ↑↓ choose · s show · h write a test · o report · q quit"
_DIFF_STYLES = {"+": "green", "-": "red"}
_MAX_FAILURES, _MAX_MESSAGE_LINES, _MAX_CHARS = 5, 4, 300
_FRAME_LINES = 5  # title, state, message, keys, and one that is blank


@dataclass
class WatchScreen:
    """What is shown; `cursor` is the number of a survivor, `question` what the user is asked."""

    title: str
    report: Report | None = None
    run: TestRun | None = None
    message: str = ""
    question: str = ""
    diff: tuple[str, ...] = ()
    cursor: int = 0
    shows_survivor: bool = False
    problem: str = ""  # why the files as they are cannot be checked
    checked_at: str = ""
    activity: RunActivity = field(default_factory=RunActivity)
    is_checking: bool = False

    @property
    def survivors(self) -> tuple[Survivor, ...]:
        return list_survivors(self.report.evidence) if self.report else ()

    @property
    def survivor(self) -> Survivor | None:
        """The survivor under the cursor."""
        return self.survivors[self.cursor] if self.survivors else None

    def move(self, step: int) -> None:
        """Move the cursor."""
        self.cursor = max(0, min(self.cursor + step, len(self.survivors) - 1))

    def start_check(self) -> None:
        """Show that a check runs; what is known of the last one stays until it is over."""
        self.is_checking, self.message, self.problem, self.run = True, "", "", None
        self.activity = RunActivity()

    def end_check(self, report: Report) -> None:
        """Show a result."""
        self.report, self.is_checking = report, False
        self.checked_at = time.strftime("%H:%M:%S")
        self.move(0)

    def fail_check(self, problem: str) -> None:
        """Show why there is no result; the last one is no longer that of the files."""
        self.report, self.run, self.is_checking, self.problem = None, None, False, problem

    def handle_event(self, event: e.Event) -> None:
        """Take over what is known before a check has ended. From any thread."""
        self.activity.handle_event(event)
        if isinstance(event, e.TestRunFinished):
            self.run = event.run

    def render(self, width: int, height: int) -> Text:
        """Return the screen, which fits the terminal."""
        body = list(self._body(width))
        room = max(height - _FRAME_LINES, 3)
        if len(body) > room:
            body = [*body[: room - 1], Text("…", "dim")]
        lines = [Text(f"greenloop watch  {sanitize_line(self.title)}", "bold"), self._state()]
        lines += [Text(""), *body]
        lines += [Text("")] * (height - len(lines) - 2)
        lines.append(Text(sanitize_line(self.question or self.message), "yellow"))
        lines.append(Text(KEYS, "dim"))
        for line in lines:
            line.truncate(width, overflow="ellipsis")
        return Text("\n").join(lines[:height])

    def _state(self) -> Text:
        if self.is_checking:
            tests = (
                f"{self.run.passed_count} passed, {self.run.failed_count} failed"
                if self.run
                else ""
            )
            running = "; ".join(self.activity.describe()) or "starting"
            return Text(f"… {tests}{'; ' if tests else ''}{running}", "cyan")
        if self.problem:
            return Text(f"✗ not checked: {sanitize_line(self.problem)}", "bold red")
        if self.report is None:
            return Text("not checked", "yellow")
        report = self.report
        state = Text(
            f"{VERDICT_SIGNS[report.verdict]} {report.verdict}", VERDICT_STYLES[report.verdict]
        )
        rows = report.evidence.summary()
        mutants = next(
            (f", mutants {i.brief}" for i in rows if i.name == "mutants" and i.brief), ""
        )
        tests_s = f"{self.run.duration_s:.2f} s" if self.run else "not run"
        spent = f"tests {tests_s}, in all {report.timings.total_s:.1f} s"
        return state.append(
            f"  {format_test_counts(report)}{mutants}  ({spent}, {self.checked_at})", "not bold"
        )

    def _body(self, width: int) -> Iterator[Text]:
        if self.diff:
            yield from map(_style_diff, self.diff)
            return
        failures = self.run.failures if self.run else ()
        for item in failures[:_MAX_FAILURES]:
            yield Text(f"✗ {sanitize_line(short_name(item.test))}", "bold red")
            message = f"{item.exception}: {item.message}".strip().split("\n")
            for line in message[:_MAX_MESSAGE_LINES]:
                yield Text(f"    {sanitize_line(line)}")
        if failures or self.report is None:
            return
        for reason in self.report.reasons:
            yield Text(f"• {flatten(reason, _MAX_CHARS)}")
        if self.survivors:
            faults = pluralize(len(self.survivors), "fault")
            yield Text(f"{faults} that no test notices:", "bold")
        rows = format_survivor_rows(self.survivors, width - 2)
        # The one under the cursor is on the screen.
        for number in range(max(0, self.cursor - 3), len(self.survivors)):
            yield from self._survivor_lines(number, rows[number])

    def _survivor_lines(self, number: int, row: str) -> Iterator[Text]:
        item, is_chosen = self.survivors[number], number == self.cursor
        mark, style = ("›", "bold cyan") if is_chosen else (" ", "")
        yield Text(f"{mark} {row}", style)
        if is_chosen and self.shows_survivor:
            yield from (_style_diff(f"    {line}") for line in diff_hunk(item))


def _style_diff(line: str) -> Text:
    return Text(sanitize_line(line), _DIFF_STYLES.get(line.strip()[:1], ""))
