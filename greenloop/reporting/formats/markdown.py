"""Short report in Markdown for a pull request or `$GITHUB_STEP_SUMMARY`.

Untrusted text is escaped, so that it cannot become HTML, a link, an image or a mention.
"""

import re
from collections.abc import Iterator, Sequence

from greenloop.records import Report, TestEntry
from greenloop.records.contract import LEFT_OPEN
from greenloop.reporting.escaping import flatten
from greenloop.reporting.evidence.choices import ADVICE, OpenQuestion, split_reasons
from greenloop.reporting.evidence.differences import list_differences
from greenloop.reporting.evidence.survivors import build_survivor_row, list_survivors
from greenloop.reporting.summary import (
    VERDICT_SIGNS,
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

_MAX_ITEMS, _MAX_REQUIREMENTS = 20, 60
_MORE = " more, see the report"
_MAX_ROWS = 500  # a job summary on GitHub is limited to 1 MiB
_MAX_TEXT_LENGTH = 300
_MAX_DOCUMENT_LENGTH = 60_000  # a comment on GitHub is limited to 65,536 characters
_SPECIAL_CHARACTERS = re.compile(r"([\\`*_\[\]#|<>~&$]|^[-+=]|(?<=^[0-9])[.)])")
_COMMENT_MARK = "<!-- greenloop check --diff -->"  # action.yml finds its comment by this
_WORD_JOINER = "\u2060"  # invisible, and it ends a link or mention


def render_markdown(report: Report, *, folds: bool = True) -> str:
    """Return verdict, reasons, evidence, and sections, which are collapsed if `folds`."""
    text = "\n".join(_document_lines(report, folds)) + "\n"
    if len(text) > _MAX_DOCUMENT_LENGTH:
        text = "\n".join([*_heading_lines(report), "", *_evidence_lines(report)]) + "\n"
    return text[:_MAX_DOCUMENT_LENGTH]


def _document_lines(report: Report, folds: bool) -> Iterator[str]:
    yield from _heading_lines(report)
    yield from _evidence_lines(report)
    lines = [escape_markdown(line) for line in describe_change(report)]
    sections = [("change", lines)]
    sections += [(pluralize(len(items), noun), items) for noun, items in _sections(report)]
    for heading, items in sections:
        limit = _MAX_REQUIREMENTS if "requirement" in heading else _MAX_ITEMS
        if folds:
            yield from collapsible_list(heading, items, limit, _MORE)
        elif items:
            yield from ("", f"### {heading}", "", *bullet_list(items, limit, _MORE))


def _heading_lines(report: Report) -> Iterator[str]:
    if report.command == "check" and report.change:
        yield _COMMENT_MARK
    yield f"## {VERDICT_SIGNS[report.verdict]} {report.verdict}: {code_span(report_title(report))}"
    yield ""
    yield escape_markdown(format_counts(report))
    if unread := describe_unread_choices(report):
        yield from ("", escape_markdown(unread))
    if report.reasons:
        yield ""
        yield "Not better because:"
        yield ""
        reasons, questions = split_reasons(report)
        yield from (f"- {escape_markdown(reason)}" for reason in reasons[:_MAX_ITEMS])
        yield from (_describe_question(item) for item in questions[:_MAX_ITEMS])
        if questions:
            yield from ("", f"Open questions: {ADVICE}.")


def _describe_question(item: OpenQuestion) -> str:
    answers = ", or ".join(code_span(answer) for answer in item.answers)
    call = f" {code_span(item.call)}:" * bool(item.call)
    return f"- {LEFT_OPEN}{escape_markdown(item.text)}{call} taken {answers}"


def _evidence_lines(report: Report) -> Iterator[str]:
    """Yield the table of evidence."""
    if not report.evidence.is_graded:
        return
    signs = {True: "✓", False: "✗", None: "–"}
    yield ""
    yield "| | evidence | result |"
    yield "|---|---|---|"
    for item in list_evidence_rows(report):
        yield f"| {signs[item.reached]} | {item.name} | {escape_markdown(item.text)} |"


def _sections(report: Report) -> Iterator[tuple[str, list[str]]]:
    """Yield each section as the singular noun of its items, and the items."""
    yield "failing test", [
        f"{code_span(short_name(item.test))}: {escape_markdown(f'{item.exception}: {item.message}')}"
        for item in report.failures
    ]
    yield "surviving mutant", [
        f"{escape_markdown(row.place)}: {code_span(row.change)}: {escape_markdown(row.missing)}"
        + f" Asked for a test, the model said: {escape_markdown(item.reason)}" * bool(item.reason)
        for item in list_survivors(report.evidence)
        for row in [build_survivor_row(item)]
    ]
    yield "difference", [
        f"{code_span(item.call)}: the code {code_span(item.code)}, the second implementation "
        f"{code_span(item.peer)} "
        f"({escape_markdown(item.outcome)}): {escape_markdown(item.because)}"
        for item in list_differences(report.evidence)
    ]
    yield "disputed test", [
        f"{code_span(item.test)} ({describe_ruling(item.wrong)}): {escape_markdown(item.because)}"
        for item in report.disputes
    ]
    yield "requirement", [
        f"**{item.id}** {escape_markdown(item.text)} ({item.passed} of {item.total} tests pass)"
        for item in build_requirement_rows(report)
    ]
    yield "test", [_describe_test(item) for item in report.tests]
    yield "review finding", [
        f"{item.severity}, line {item.line or '?'}{' (repaired)' * item.resolved}: "
        f"{escape_markdown(item.message)}"
        for item in report.review
    ]
    yield "attempt", [
        f"{item.kind}: {item.passed or 0} passed, {item.failed or 0} failed, "
        f"{item.errors or 0} errors, {item.tokens} tokens. {escape_markdown(item.remark)}".rstrip(
            ". "
        )
        for item in report.attempts
    ]
    yield "choice", [
        f"**{escape_markdown(item.id)}** {escape_markdown(item.question)} "
        f"({format_answered(item)}): {' or '.join(map(code_span, item.answers))}, "
        f"taken: {code_span(item.chosen)}"
        for item in (report.contract.choices if report.contract else ())
    ]


def _describe_test(entry: TestEntry) -> str:
    labels = [*entry.requirements, *([entry.origin] if entry.origin != "generated" else [])]
    labels += ["names no requirement"] * names_no_requirement(entry)
    shown = f" ({escape_markdown(', '.join(labels))})" if labels else ""
    why = f": {escape_markdown(entry.judgement)}" if entry.judgement else ""
    return f"{entry.outcome} {code_span(short_name(entry.id))}{shown}{why}"


def collapsible_list(
    summary: str, items: Sequence[str], limit: int = _MAX_ROWS, more: str = " more"
) -> Iterator[str]:
    """Yield a Markdown list that opens on a click; nothing if there are no items."""
    if not items:
        return
    yield from ("", f"<details><summary>{summary}</summary>", "")
    yield from bullet_list(items, limit, more)
    yield from ("", "</details>")


def bullet_list(items: Sequence[str], limit: int = _MAX_ROWS, more: str = " more") -> Iterator[str]:
    """Yield the first items, and the number of the others."""
    yield from (f"- {item}" for item in items[:limit])
    if len(items) > limit:
        yield f"- and {len(items) - limit}{more}"


def escape_markdown(text: str) -> str:
    """Return a text in one line, escaped so that Markdown does not interpret it."""
    escaped = _SPECIAL_CHARACTERS.sub(r"\\\1", flatten(text, _MAX_TEXT_LENGTH))
    escaped = re.sub(r"@(?=\w)", f"@{_WORD_JOINER}", escaped)
    escaped = re.sub(r"(?i)(https?|ftp|mailto|xmpp)(:)", rf"\1{_WORD_JOINER}\2", escaped)
    return re.sub(r"(?i)\bwww\.", f"www{_WORD_JOINER}.", escaped)


def code_span(text: str) -> str:
    """Return a text in one line as a code span that is also valid in a table."""
    flat = flatten(text, _MAX_TEXT_LENGTH, keeps_blanks=True).replace("|", "¦")
    longest = max((len(run) for run in re.findall("`+", flat)), default=0)
    fence = "`" * (longest + 1)
    padding = " " if flat.startswith("`") or flat.endswith("`") or not flat else ""
    return f"{fence}{padding}{flat}{padding}{fence}"
