"""Report as plain text for a terminal of 80 columns; untrusted text is escaped."""

from collections.abc import Iterable, Iterator
from textwrap import wrap

from greenloop.records import Report
from greenloop.reporting.escaping import escape_commands, escape_invisible, flatten, truncate
from greenloop.reporting.evidence.differences import list_differences, render_difference
from greenloop.reporting.evidence.survivors import diff_hunk, format_survivor_rows, list_survivors
from greenloop.reporting.summary import (
    describe_change,
    describe_ruling,
    describe_unread_choices,
    format_answered,
    format_counts,
    pluralize,
    report_title,
)
from greenloop.reporting.traceability import (
    build_requirement_rows,
    list_evidence_rows,
    names_no_requirement,
    short_name,
)

MIN_WIDTH = 80
_LABEL_WIDTH = 13  # columns of the label before a text
_MAX_ITEMS = 20
_MAX_TEXT_LENGTH = 600


def render_report_text(report: Report, width: int = MIN_WIDTH) -> str:
    """Return verdict and reasons, then failures, evidence, requirements, tests, attempts, cost."""
    return _ReportText(max(width, MIN_WIDTH)).render(report)


class _ReportText:
    """Sections of a report for a terminal of this width."""

    def __init__(self, width: int) -> None:
        self._width = width

    def render(self, report: Report) -> str:
        survivors = pluralize(len(list_survivors(report.evidence)), "surviving mutant")
        sections = {
            "failures": self._failure_lines,
            "evidence": self._evidence_lines,
            "change": lambda report: (x for i in describe_change(report) for x in self._row("", i)),
            survivors: self._survivor_lines,
            "second implementation": self._difference_lines,
            "requirements": self._requirement_lines,
            "choices": self._choice_lines,
            "tests": self._test_lines,
            "disputes": self._dispute_lines,
            "review": self._review_lines,
            "attempts": self._attempt_lines,
            "environment and cost": self._cost_lines,
        }
        text = list(self._verdict_lines(report))
        for heading, section in sections.items():
            if lines := list(section(report)):
                text += ["", heading.upper(), *lines]
        return escape_commands("\n".join(text).strip("\n")) + "\n"  # lines were wrapped

    def _code_lines(self, texts: Iterable[str], indent: int) -> Iterator[str]:
        """Yield lines of code, each truncated at the width."""
        max_length = self._width - indent
        for text in texts:
            shown = escape_invisible(text.expandtabs(4)).rstrip()
            fitting = shown if len(shown) <= max_length else f"{shown[: max_length - 1]}…"
            yield " " * indent + fitting

    def _row(self, label: str, text: str, indent: int = 2) -> Iterator[str]:
        """Yield a label and a text that wraps beside it; a long label has its own line."""
        before = " " * indent
        column = indent + _LABEL_WIDTH if label else indent
        flat = flatten(text, _MAX_TEXT_LENGTH)
        parts = wrap(flat, self._width - column, break_on_hyphens=False) or [""]
        shown = truncate(escape_invisible(label), self._width - indent - 12)
        if len(shown) >= _LABEL_WIDTH:
            yield f"{before}{shown}"[: self._width]
            first = " " * column
        else:
            first = f"{before}{shown:<{column - indent}}"
        yield f"{first}{parts[0]}".rstrip()
        yield from (" " * column + part for part in parts[1:])

    def _verdict_lines(self, report: Report) -> Iterator[str]:
        title = report_title(report)
        yield f"{report.verdict}: {title}"
        yield from self._row("", format_counts(report))
        for reason in report.reasons:
            yield from self._row(
                "not verified" if report.verdict != "failed" else "because", reason
            )
        if unread := describe_unread_choices(report):
            yield from self._row("choices", unread)
        for label, place in (("page", report.artifacts.html), ("code", report.artifacts.output)):
            if place:
                yield f"  {label:<{_LABEL_WIDTH}}{escape_invisible(place)}"

    def _failure_lines(self, report: Report) -> Iterator[str]:
        for item in report.failures[:_MAX_ITEMS]:
            yield from self._row("", short_name(item.test))
            yield from self._row("", f"{item.exception}: {item.message}", indent=6)
        yield from _write_omitted_line(len(report.failures))

    def _evidence_lines(self, report: Report) -> Iterator[str]:
        if not report.evidence.is_graded:
            return
        signs = {True: "ok   ", False: "SHORT", None: "--   "}
        for item in list_evidence_rows(report):
            lines = self._row(item.name, item.text, indent=9)
            yield f"  {signs[item.reached]}  {next(lines).lstrip()}"
            yield from lines

    def _survivor_lines(self, report: Report) -> Iterator[str]:
        survived = list_survivors(report.evidence)
        for item in survived[:_MAX_ITEMS]:
            yield from (f"  {row}" for row in format_survivor_rows([item], self._width - 2))
            yield from self._code_lines("\n".join(diff_hunk(item)).rstrip().split("\n"), indent=6)
            if item.reason:
                yield from self._row("no test", item.reason)
        yield from _write_omitted_line(len(survived))

    def _difference_lines(self, report: Report) -> Iterator[str]:
        for item in list_differences(report.evidence):
            yield from (f"  {line}" for line in render_difference(item, self._width - 2))
            yield from self._row("ruling", f"{item.outcome}. {item.because}".rstrip(". "), indent=4)

    def _requirement_lines(self, report: Report) -> Iterator[str]:
        rows = build_requirement_rows(report, max_tests=0)
        for item in rows:
            yield from self._row(item.id, f"{item.text} [{item.passed}/{item.total}]")
        for text in report.contract.assumptions if report.contract and rows else ():
            yield from self._row("assumed", text)
        for text in report.contract.unclear_examples if report.contract else ():
            yield from self._row("unclear", f"not understood as an example: {text}")

    def _choice_lines(self, report: Report) -> Iterator[str]:
        for item in report.contract.choices if report.contract else ():
            yield from self._row(item.id, f"{item.question} [{format_answered(item)}]")
            for answer in dict.fromkeys((*item.answers, item.chosen)):
                yield from self._row("  taken" if answer == item.chosen else "  or", answer)

    def _test_lines(self, report: Report) -> Iterator[str]:
        for item in report.tests:
            labels = [*item.requirements, *([item.origin] if item.origin != "generated" else [])]
            labels += ["names no requirement"] * names_no_requirement(item)
            shown = f" [{', '.join(labels)}]" if labels else ""
            yield from self._row(item.outcome, f"{short_name(item.id)}{shown}")
            if item.judgement:
                yield from self._row("", item.judgement, indent=2 + _LABEL_WIDTH)

    def _dispute_lines(self, report: Report) -> Iterator[str]:
        for item in report.disputes:
            ruling = describe_ruling(item.wrong)
            yield from self._row("", f"{short_name(item.test)}: {ruling}")
            yield from self._row("claim", item.why)
            yield from self._row("judge", item.because)

    def _review_lines(self, report: Report) -> Iterator[str]:
        for item in report.review:
            where = f" line {item.line}" if item.line is not None else ""
            state = " (repaired)" if item.resolved else ""
            yield from self._row(f"{item.severity}{where}", f"{item.message}{state}")

    def _attempt_lines(self, report: Report) -> Iterator[str]:
        for item in report.attempts:
            ran = f"{item.passed} passed, {item.failed} failed, {item.errors} errors"
            result = "not run" if item.passed is None else ran
            remark = f"; {item.remark}" if item.remark else ""
            yield from self._row(f"{item.n} {item.kind}", f"{result}, {item.tokens} tokens{remark}")

    def _cost_lines(self, report: Report) -> Iterator[str]:
        environment, times = report.environment, report.timings
        yield from self._row("model", environment.model)
        yield from self._row(
            "sandbox", f"{environment.sandbox.backend} ({environment.sandbox.isolation})"
        )
        yield from self._row(
            "seconds",
            f"{times.total_s:.1f} in all, {times.model_s:.1f} model, {times.sandbox_s:.1f} tests, "
            f"{times.grading_s:.1f} grading",
        )
        for tool, used in report.usage.by_tool.items():
            cost = "" if used.cost_usd is None else f", ${used.cost_usd:.4f}"
            tokens = f"{used.input_tokens} + {used.output_tokens} tokens{cost}"
            yield f"  {escape_invisible(tool):<22}{pluralize(used.calls, 'call')}, {tokens}"


def _write_omitted_line(count: int) -> Iterator[str]:
    if count > _MAX_ITEMS:
        yield f"  and {count - _MAX_ITEMS} more, see the page or report.json"
