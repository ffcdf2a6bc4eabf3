"""Reports of evaluations as text for a terminal and as Markdown."""

from collections.abc import Iterator, Sequence

from greenloop.records.batch import EvalReport, EvalUsage, Proportion
from greenloop.reporting.escaping import first_line
from greenloop.reporting.formats.markdown import code_span, collapsible_list, escape_markdown

Row = tuple[str, ...]


def render_eval_text(report: EvalReport) -> str:
    """Return pass@1, verdicts against hidden tests and cost."""
    lines = [_format_title(report), *(f"         {line}" for line in _describe_setup(report))]
    for table in _build_tables(report):
        widths = [max(map(len, column)) + 2 for column in zip(*table, strict=True)]
        lines.append("")
        for first, *numbers, last in table:
            cells = (f"{cell:>{width}}" for cell, width in zip(numbers, widths[1:], strict=False))
            lines.append(f"{first:{widths[0]}}{''.join(cells)}   {last}".rstrip())
    return "\n".join(lines) + "\n"


def render_eval_markdown(report: EvalReport) -> str:
    """Return pass@1, verdicts against hidden tests, cost and unsolved tasks."""
    unsolved = [
        f"{code_span(item.id)} " + escape_markdown(f"({item.verdict or 'ended early'}): {item.why}")
        for item in report.results
        if not item.is_solved
    ]
    more = collapsible_list(f"{len(unsolved)} not solved", unsolved)
    return "".join(f"{line}\n" for line in (*_markdown_lines(report), *more))


def _markdown_lines(report: EvalReport) -> Iterator[str]:
    yield from (f"## {escape_markdown(_format_title(report))}", "")
    yield from (f"- {escape_markdown(line)}" for line in _describe_setup(report))
    for head, *rows in _build_tables(report):
        yield from ("", f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 2)}---|")
        yield from (f"| {' | '.join(map(escape_markdown, row))} |" for row in rows)


def _format_title(report: EvalReport) -> str:
    return f"pass@1   {_format_share(report.pass_at_1)}, Wilson score interval"


def _build_tables(report: EvalReport) -> tuple[Sequence[Row], Sequence[Row]]:
    """Return the verdicts and the spending, each with a header."""
    verdicts: list[Row] = [("verdict", "hidden tests pass", "fail", "wrong")]
    for row in report.verdicts:
        wrong = _format_share(row.wrong) if row.wrong.of else "–"
        verdicts.append((row.verdict, str(row.hidden_passed), str(row.hidden_failed), wrong))
    return verdicts, _list_spending({"a task": report.mean, "in all": report.total})


def _describe_setup(report: EvalReport) -> Iterator[str]:
    """Yield model and tasks, and what limits the meaning of pass@1."""
    setup = report.setup
    yield first_line(f"{setup.model} on {setup.tasks} ({setup.format})", 200)
    if report.broken_off:
        yield (
            f"{report.broken_off} of {report.tasks} tasks ended early (no answer or no budget) and "
            "count as not passed; the same command repeats them"
        )
    if report.unknown:
        yield f"{report.unknown} left out: their hidden tests gave no result"
    if report.not_run:
        yield f"not complete: {report.not_run} of {report.tasks} tasks were not run"


def _list_spending(rows: dict[str, EvalUsage]) -> list[Row]:
    return [
        ("", "calls", "tokens in", "out", "repairs", "seconds", "cost"),
        *(
            (
                name,
                _format_count(spent.calls),
                f"{spent.input_tokens:.0f}",
                f"{spent.output_tokens:.0f}",
                _format_count(spent.repairs),
                f"{spent.seconds:.1f}",
                f"${spent.cost_usd:.4f}" if spent.cost_usd is not None else "unknown",
            )
            for name, spent in rows.items()
        ),
    ]


def _format_count(number: float) -> str:
    """Return a sum, or a mean with two decimal places, without an exponent."""
    return f"{number:.0f}" if number == int(number) else f"{number:.2f}"


def _format_share(share: Proportion) -> str:
    """Return `62.5% (5 of 8; 95%: 30.6% to 86.3%)`."""
    if share.share is None or share.low is None or share.high is None:
        return "of no task"
    interval = f"95%: {share.low:.1%} to {share.high:.1%}"
    return f"{share.share:.1%} ({share.count} of {share.of}; {interval})"
