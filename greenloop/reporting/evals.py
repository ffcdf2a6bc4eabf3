"""Evaluations and their comparison, as text for a terminal and as Markdown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from greenloop.records.batch import Comparison, EvalReport, EvalSetup, EvalUsage, Proportion
from greenloop.reporting.escaping import first_line
from greenloop.reporting.formats.markdown import code_span, collapsible_list, escape_markdown

_MAX_LISTED = 20
Row = tuple[str, ...]


@dataclass(frozen=True)
class _Page:
    """What both forms say; a list has ids, each with a remark."""

    title: str
    lines: Sequence[str]
    tables: Sequence[Sequence[Row]]  # with a header
    lists: dict[str, list[tuple[str, str]]] = field(default_factory=dict)


def render_eval_text(report: EvalReport) -> str:
    """Return pass@1, verdicts against hidden tests and cost."""
    return _render_text(_describe_report(report))


def render_eval_markdown(report: EvalReport) -> str:
    """Return pass@1, verdicts against hidden tests, cost and unsolved tasks."""
    page = _describe_report(report)
    page.lists["not solved"] = [
        (item.id, f"({item.verdict or 'ended early'}): {item.why}")
        for item in report.results
        if not item.is_solved
    ]
    return _render_markdown(page)


def render_comparison_text(comparison: Comparison) -> str:
    """Return pass@1 of both, the differing tasks and the cost of each."""
    return _render_text(_describe_comparison(comparison))


def render_comparison_markdown(comparison: Comparison) -> str:
    """Return pass@1 of both, the differing tasks and the cost of each."""
    return _render_markdown(_describe_comparison(comparison))


def _describe_report(report: EvalReport) -> _Page:
    verdicts: list[Row] = [("verdict", "hidden tests pass", "fail", "wrong")]
    for row in report.verdicts:
        wrong = _format_share(row.wrong) if row.wrong.of else "–"
        verdicts.append((row.verdict, str(row.hidden_passed), str(row.hidden_failed), wrong))
    title = f"pass@1   {_format_share(report.pass_at_1)}, Wilson score interval"
    spent = {"a task": report.mean, "in all": report.total}
    lines = [_format_setup(report.setup), *_list_caveats(report)]
    return _Page(title, lines, [verdicts, _list_spending(spent)])


def _describe_comparison(comparison: Comparison) -> _Page:
    c = comparison
    lines = [
        f"{name}: {_format_setup(setup)}: pass@1 {_format_share(share)}"
        for name, setup, share in (("A", c.a, c.a_pass_at_1), ("B", c.b, c.b_pass_at_1))
    ]
    lines += [_format_setting_differences(c), _format_difference(c)]
    lines.append(
        f"{c.tasks} tasks: {c.both} solved by both, {c.neither} by neither, "
        f"{len(c.a_alone)} by A alone, {len(c.b_alone)} by B alone"
    )
    lists = {
        "A alone": [(id, "") for id in c.a_alone],
        "B alone": [(id, "") for id in c.b_alone],
        "not compared": [("", line) for line in c.left_out],
    }
    spent = _list_spending(_compare_spending(c))
    return _Page(_format_conclusion(c), list(filter(None, lines)), [spent], lists)


def _render_text(page: _Page) -> str:
    lines = [page.title, *(f"         {line}" for line in page.lines)]
    for table in page.tables:
        widths = [max(map(len, column)) + 2 for column in zip(*table, strict=True)]
        lines.append("")
        for first, *numbers, last in table:
            cells = (f"{cell:>{width}}" for cell, width in zip(numbers, widths[1:], strict=False))
            lines.append(f"{first:{widths[0]}}{''.join(cells)}   {last}".rstrip())
    lines += [""] * any(page.lists.values())
    for name, items in page.lists.items():
        lines += (f"  {name}: {first_line(id or text, 200)}" for id, text in items[:_MAX_LISTED])
        lines += [f"  {name}: and {len(items) - _MAX_LISTED} more"] * (len(items) > _MAX_LISTED)
    return "\n".join(lines) + "\n"


def _render_markdown(page: _Page) -> str:
    lines = [f"## {escape_markdown(page.title)}", ""]
    lines += (f"- {escape_markdown(line)}" for line in page.lines)
    for head, *rows in page.tables:
        lines += ["", f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 2)}---|"]
        lines += (f"| {' | '.join(map(escape_markdown, row))} |" for row in rows)
    for name, items in page.lists.items():
        shown = [
            f"{code_span(id) * bool(id)} {escape_markdown(text)}".strip() for id, text in items
        ]
        lines += collapsible_list(f"{len(items)} {name}", shown)
    return "\n".join(lines) + "\n"


def _list_caveats(report: EvalReport) -> Iterator[str]:
    """Yield what limits the meaning of pass@1."""
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
                f"{spent.calls:.4g}",
                f"{spent.input_tokens:.0f}",
                f"{spent.output_tokens:.0f}",
                f"{spent.repairs:.3g}",
                f"{spent.seconds:.1f}",
                f"${spent.cost_usd:.4f}" if spent.cost_usd is not None else "unknown",
            )
            for name, spent in rows.items()
        ),
    ]


def _format_share(share: Proportion) -> str:
    """Return `62.5% (5 of 8; 95%: 30.6% to 86.3%)`."""
    if share.share is None or share.low is None or share.high is None:
        return "of no task"
    interval = f"95%: {share.low:.1%} to {share.high:.1%}"
    return f"{share.share:.1%} ({share.count} of {share.of}; {interval})"


def _format_setup(setup: EvalSetup) -> str:
    return first_line(f"{setup.model} on {setup.tasks} ({setup.format})", 200)


def _format_conclusion(comparison: Comparison) -> str:
    """Return whether a difference is shown, with the p-value."""
    p = f"McNemar's exact test: p = {comparison.p:.3f}"
    if not comparison.shown:
        return f"no difference shown ({p})"
    return f"{'B' if comparison.difference > 0 else 'A'} solves more ({p})"


def _format_difference(comparison: Comparison) -> str:
    """Return `B - A: +12.5 points (95%: -10.1 to +30.5, Bonett-Price)`."""
    low, high = (f"{100 * value:+.1f}" for value in (comparison.low, comparison.high))
    return f"B - A: {100 * comparison.difference:+.1f} points (95%: {low} to {high}, Bonett-Price)"


def _format_setting_differences(comparison: Comparison) -> str:
    """Return `A and B differ in max_repairs (5, 0)`; '' where they do not."""
    a, b = comparison.a.options, comparison.b.options
    names = [name for name in {**a, **b} if a.get(name) != b.get(name)]
    listed = ", ".join(f"{name} ({a.get(name)}, {b.get(name)})" for name in names)
    return first_line(f"A and B differ in {listed}", 300) if listed else ""


def _compare_spending(comparison: Comparison) -> dict[str, EvalUsage]:
    """Return what A and B spend per task, and what B spends beyond A."""
    a, b = comparison.a_mean, comparison.b_mean
    known = a.cost_usd is not None and b.cost_usd is not None
    names = EvalUsage.model_fields.keys() - {"cost_usd"}
    difference = EvalUsage(
        cost_usd=(b.cost_usd or 0) - (a.cost_usd or 0) if known else None,
        **{name: getattr(b, name) - getattr(a, name) for name in names},
    )
    return {"A": a, "B": b, "B - A": difference}
