"""Verdict card: the summary that a terminal shows at the end of a run or check."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TextIO

from rich.console import Console
from rich.text import Text

from greenloop.records import Report
from greenloop.reporting.escaping import flatten, sanitize_line, truncate_words
from greenloop.reporting.evidence.choices import ADVICE, OpenQuestion, split_reasons
from greenloop.reporting.evidence.differences import (
    list_differences,
    render_answers,
    render_difference,
)
from greenloop.reporting.evidence.survivors import format_survivor_rows, list_survivors
from greenloop.reporting.evidence.text import find_remedy
from greenloop.reporting.summary import (
    VERDICT_SIGNS,
    VERDICT_STYLES,
    describe_change,
    describe_cost,
    describe_unread_choices,
    describe_verdict,
    ended_early,
    format_command,
    format_test_counts,
    is_only_kept,
    list_places,
    open_console,
    pluralize,
    report_title,
    shorten_path,
)
from greenloop.reporting.traceability import build_requirement_rows, list_evidence_rows

_LABEL_WIDTH = 14
_MAX_REASONS, _MAX_SURVIVORS, _MAX_DIFFERENCES, _MAX_TEXT_CHARS = 8, 8, 3, 300
_MIN_TEXT_WIDTH, _INDENT = 24, 4
_LOG_WIDTH = 120  # columns if the card goes to a log


def print_card(report: Report, stream: TextIO, *, hides_code: bool = False) -> None:
    """Print the card; `hides_code`: the code was not printed, so name the command that does."""
    card = _Card(open_console(stream))
    card.print_heading(report)
    for label, text in _count_rows(report):
        card.print_row(label, text)
    survived = list_survivors(report.evidence) if report.verdict != "failed" else ()
    if survived:
        card.print_row("survivors", f"{pluralize(len(survived), 'fault')} that no test notices:")
        card.print_lines(format_survivor_rows(survived[:_MAX_SURVIVORS], card.inner_width))
    if len(survived) > _MAX_SURVIVORS:
        card.print_lines([f"and {len(survived) - _MAX_SURVIVORS} more, see the report"])
    differences = list_differences(report.evidence)
    told = [item for item in differences if item.counts_against or item.choice or item.test]
    if told:
        card.print_row("differences", "from a second implementation, written from the text alone:")
    for item in told[:_MAX_DIFFERENCES]:
        card.print_lines(render_difference(item, card.inner_width))
        card.print_lines([f"  {'ruling':<23}{item.outcome}"])
    if len(told) > _MAX_DIFFERENCES:
        card.print_lines([f"and {len(told) - _MAX_DIFFERENCES} more, see the report"])
    card.print_reasons(report)
    for label, path in list_places(report):
        card.print_path(label, path)
    if report.artifacts.html:
        card.print_path("report", report.artifacts.html)
    if report.artifacts.run_dir:
        if is_only_kept(report):
            card.print_line("write it", format_command(report, "report --write ."))
        is_open = ended_early(report) and report.command != "check"
        option = "--code" if hides_code else "--open"
        card.print_line("next", format_command(report, "resume" if is_open else f"report {option}"))


class _Card:
    """Printer of rows, each with a label and a text that wraps beside it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        width = console.width if console.is_terminal else _LOG_WIDTH
        self._text_width = max(width - _LABEL_WIDTH - 3, _MIN_TEXT_WIDTH)
        self.inner_width = max(width - _INDENT, _MIN_TEXT_WIDTH)

    def print_heading(self, report: Report) -> None:
        verdict = f"{VERDICT_SIGNS[report.verdict]} {report.verdict}"
        heading = Text(verdict, VERDICT_STYLES[report.verdict])
        heading.append(f"  {sanitize_line(report_title(report))}", "bold")
        self._console.print()
        self._console.print(heading, soft_wrap=True)
        for part in wrap(describe_verdict(report), self._text_width + _LABEL_WIDTH):
            self._console.print(f"  {part}", soft_wrap=True)

    def print_row(self, label: str, text: str, style: str = "") -> None:
        """Print a row; `style` is that of the first character of the text, a sign."""
        flat = flatten(text, 2 * _MAX_TEXT_CHARS)
        parts = wrap(flat, self._text_width, break_on_hyphens=False) or [""]
        for number, part in enumerate(parts):
            line = Text(f"  {label if number == 0 else '':<{_LABEL_WIDTH}}", "bold")
            line.append(part[:1], style if number == 0 else "")
            line.append(part[1:], "")
            line.stylize("not bold", _LABEL_WIDTH + 2)
            self._console.print(line, soft_wrap=True)

    def print_lines(self, lines: Iterable[str]) -> None:
        """Print lines with their white space, each cut at the whole width."""
        for line in lines:
            fitting = truncate_words(sanitize_line(line), self.inner_width)
            self._console.print(" " * _INDENT + fitting.rstrip(), soft_wrap=True)

    def print_reasons(self, report: Report) -> None:
        """Print why the code is not `verified`, each with its remedy."""
        label = "because" if report.verdict == "failed" else "not verified"
        reasons, questions = split_reasons(report)
        for number, reason in enumerate(reasons[:_MAX_REASONS]):
            remedy = find_remedy(reason)
            shown = f"• {flatten(reason, _MAX_TEXT_CHARS)}" + f" → {remedy}" * bool(remedy)
            self.print_row("" if number else label, shown, "yellow")
        if len(reasons) > _MAX_REASONS:
            self.print_row("", f"and {len(reasons) - _MAX_REASONS} more, see the report")
        self.print_questions("" if reasons else label, questions)

    def print_questions(self, label: str, questions: Sequence[OpenQuestion]) -> None:
        """Print what the text leaves open, each question with its answers below each other."""
        if not questions:
            return
        self.print_row(label, f"• the text leaves this open → {ADVICE}:", "yellow")
        for item in questions[:_MAX_REASONS]:
            self.print_lines(wrap(item.text, self.inner_width))
            self.print_lines(
                f"  {line}"
                for line in render_answers(
                    item.call, item.labels, item.answers, self.inner_width - 2
                )
            )
        if len(questions) > _MAX_REASONS:
            self.print_row("", f"and {len(questions) - _MAX_REASONS} more, see the report")

    def print_path(self, label: str, path: str) -> None:
        """Print a path in one line, as a link."""
        link = f"underline link {Path(path).absolute().as_uri()}"
        self.print_line(label, shorten_path(path), link)

    def print_line(self, label: str, text: str, style: str = "") -> None:
        """Print a row that is not wrapped, so that it can be copied."""
        line = Text(f"  {label:<{_LABEL_WIDTH}}", "bold")
        line.append(sanitize_line(text), f"not bold {style}")
        self._console.print(line, soft_wrap=True)


def _count_rows(report: Report) -> Iterator[tuple[str, str]]:
    """Yield the labels and texts of the rows about tests, repairs, usage and time."""
    if report.tests:
        yield "checks" if report.script else "tests", format_test_counts(report)
    if rows := build_requirement_rows(report):
        proven = sum(item.total > 0 and item.passed == item.total for item in rows)
        yield "requirements", f"{proven} of {len(rows)} have tests that all pass"
    if unread := describe_unread_choices(report):
        yield "choices", unread
    mutants = next((i for i in list_evidence_rows(report) if i.name == "mutants"), None)
    if mutants and mutants.text and mutants.reached is not None:
        yield "mutants", mutants.text
    if report.command != "check":
        yield "repairs", f"{report.repairs or 'none'} ({pluralize(len(report.attempts), 'attempt')})"
    if (used := report.usage).calls:
        tokens = used.input_tokens + used.output_tokens
        yield "spent", f"{tokens:,} tokens in {pluralize(used.calls, 'call')}, {describe_cost(report)}"
    times = report.timings
    parts = (("model", times.model_s), ("tests", times.sandbox_s), ("grading", times.grading_s))
    shown = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in parts if seconds >= 0.05)
    yield "time", f"{times.total_s:.1f} s" + (f" ({shown})" if shown else "")
    for number, line in enumerate(describe_change(report)):
        yield "" if number else "change", line
