"""An evaluation, and two of them side by side, as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from greenloop.records.evaluation import Comparison, EvalReport, EvalSetup, Share, Spent, VerdictRow
from greenloop.reporting.escaping import line_of

_MOST = 20


def eval_text(report: EvalReport) -> str:
    """pass@1, the verdicts against the hidden tests, what was spent."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: EvalReport) -> Iterator[str]:
    yield f"{of_setup(report.setup)}"
    yield f"pass@1   {share_text(report.pass_at_1)}, Wilson score interval"
    yield from (f"         {line}" for line in remarks(report))
    yield ""
    yield f"{'verdict':10}{'hidden tests pass':>18}{'fail':>6}   wrong"
    yield from (_row(item) for item in report.verdicts)
    yield ""
    yield f"{'':10}{'calls':>8}{'tokens in':>12}{'out':>10}{'repairs':>9}{'seconds':>10}  cost"
    yield spent_row("a task", report.mean)
    yield spent_row("in all", report.total)


def remarks(report: EvalReport) -> Iterator[str]:
    """What pass@1 does not show by itself."""
    if report.broken_off:
        yield (
            f"{report.broken_off} of {report.tasks} tasks broke off (no answer, no budget) and "
            "count as not passed; the same command tries them again"
        )
    if report.unknown:
        yield f"{report.unknown} left out: their hidden tests could not say anything"
    if report.not_run:
        yield f"not complete: {report.not_run} of {report.tasks} tasks were not run"


def _row(row: VerdictRow) -> str:
    wrong = share_text(row.wrong) if row.wrong.of else "–"
    return f"{row.verdict:10}{row.hidden_passed:18}{row.hidden_failed:6}   {wrong}"


def spent_row(name: str, spent: Spent) -> str:
    """One line of the table of what was spent."""
    cost = f"${spent.cost_usd:.4f}" if spent.cost_usd is not None else "unknown"
    return (
        f"{name:10}{spent.calls:8.4g}{spent.input_tokens:12.0f}{spent.output_tokens:10.0f}"
        f"{spent.repairs:9.3g}{spent.seconds:10.1f}  {cost}"
    )


def share_text(share: Share) -> str:
    """`62.5% (5 of 8; 95%: 30.6% to 86.3%)`."""
    if share.share is None or share.low is None or share.high is None:
        return "of no task"
    interval = f"95%: {share.low:.1%} to {share.high:.1%}"
    return f"{share.share:.1%} ({share.count} of {share.of}; {interval})"


def of_setup(setup: EvalSetup) -> str:
    """Model and tasks in one line."""
    return line_of(f"{setup.model} on {setup.tasks} ({setup.format})", 200)


def conclusion(found: Comparison) -> str:
    """Whether there is a difference, in plain words."""
    p = f"McNemar's exact test: p = {found.p:.3f}"
    if not found.shown:
        return f"no difference shown ({p})"
    return f"{'B' if found.difference > 0 else 'A'} solves more ({p})"


def difference_text(found: Comparison) -> str:
    """`B - A: +12.5 points (95%: -10.1 to +30.5, Bonett-Price)`."""
    low, high = (f"{100 * value:+.1f}" for value in (found.low, found.high))
    return f"B - A: {100 * found.difference:+.1f} points (95%: {low} to {high}, Bonett-Price)"


def comparison_text(found: Comparison) -> str:
    """pass@1 of both, which tasks differ, what each spent."""
    return "\n".join(_compared(found)) + "\n"


def _compared(found: Comparison) -> Iterator[str]:
    yield f"A  {of_setup(found.a)}"
    yield f"   pass@1 {share_text(found.a_pass_at_1)}"
    yield f"B  {of_setup(found.b)}"
    yield f"   pass@1 {share_text(found.b_pass_at_1)}"
    if differing := settings_that_differ(found):
        yield f"   {differing}"
    yield ""
    yield difference_text(found)
    yield conclusion(found)
    yield (
        f"{found.tasks} tasks: {found.both} solved by both, {found.neither} by neither, "
        f"{len(found.a_alone)} by A alone, {len(found.b_alone)} by B alone"
    )
    yield from _listed("A alone", found.a_alone)
    yield from _listed("B alone", found.b_alone)
    yield ""
    yield f"{'a task':10}{'calls':>8}{'tokens in':>12}{'out':>10}{'repairs':>9}{'seconds':>10}  cost"
    yield spent_row("A", found.a_mean)
    yield spent_row("B", found.b_mean)
    yield spent_row("B - A", spent_difference(found))
    if found.left_out:
        yield ""
        yield f"{len(found.left_out)} tasks are not compared"
        yield from _listed("not", found.left_out)


def settings_that_differ(found: Comparison) -> str:
    """`A and B differ in max_repairs (5, 0)`; '' where they do not."""
    a, b = found.a.options, found.b.options
    names = [name for name in {**a, **b} if a.get(name) != b.get(name)]
    told = ", ".join(f"{name} ({a.get(name)}, {b.get(name)})" for name in names)
    return line_of(f"A and B differ in {told}", 300) if told else ""


def spent_difference(found: Comparison) -> Spent:
    """What B spends more than A on a task."""
    a, b = found.a_mean, found.b_mean
    known = a.cost_usd is not None and b.cost_usd is not None
    return Spent(
        calls=b.calls - a.calls,
        input_tokens=b.input_tokens - a.input_tokens,
        output_tokens=b.output_tokens - a.output_tokens,
        cost_usd=(b.cost_usd or 0) - (a.cost_usd or 0) if known else None,
        repairs=b.repairs - a.repairs,
        seconds=b.seconds - a.seconds,
    )


def _listed(name: str, ids: tuple[str, ...]) -> Iterator[str]:
    for id in ids[:_MOST]:
        yield f"  {name}: {line_of(id, 200)}"
    if len(ids) > _MOST:
        yield f"  {name}: and {len(ids) - _MOST} more"
