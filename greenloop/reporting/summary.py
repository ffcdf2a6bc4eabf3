"""The report in words."""

from __future__ import annotations

import os
import shlex
from difflib import unified_diff

from greenloop.records import Report


def diff_healed_code(report: Report) -> str:
    """What was changed in a file that was healed; '' where nothing was."""
    lines = unified_diff(
        report.original.splitlines(),
        report.final_code.splitlines(),
        "as it was",
        "healed" if report.tests_passed else "the best so far",
        lineterm="",
    )
    return "".join(f"{line}\n" for line in lines)


def format_verdict(report: Report) -> str:
    """The verdict, the tests and the cost in one line."""
    return f"{report.verdict}: {format_counts(report)}"


def format_counts(report: Report) -> str:
    """The tests and the cost in one line."""
    what = "checks hold" if report.script else "tests pass"
    counted = [item for item in report.tests if item.outcome != "dropped"]
    passed = sum(item.outcome == "passed" for item in counted)
    usage = report.usage
    unknown = "cost unknown" if usage.calls else "no cost"
    cost = f"${usage.cost_usd:.4f}" if usage.cost_usd is not None else unknown
    tokens = usage.input_tokens + usage.output_tokens
    return (
        f"{passed} of {len(counted)} {what}, "
        f"{pluralize(report.iterations, 'repair')}, {pluralize(usage.calls, 'call')}, {tokens} tokens, {cost}, {report.timings.total_s:.1f} s"
    )


def pluralize(number: int, noun: str) -> str:
    """`1 repair`, `2 repairs`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def summarize_report(report: Report) -> list[str]:
    """The verdict, why it is not better, and where everything is."""
    lines = [format_verdict(report)]
    lines += [f"  not better because: {reason}" for reason in report.reasons]
    places = report.artifacts
    failed = report.command == "heal" and not report.tests_passed
    changed = failed and report.final_code != report.original
    for label, path in (
        ("code", places.output or (places.best_code if report.command == "script" else None)),
        ("best attempt", places.best_code if changed else None),
        ("as it was", places.original),
        ("files made", places.made),
        ("tests", places.tests_output),
        ("report", places.report),
    ):
        if path:
            lines.append(f"  {label}: {path}")
    if places.run_dir:
        lines.append(f"  next: {_format_next_command(report, places.run_dir)}")
    return lines


def _format_next_command(report: Report, run_dir: str) -> str:
    """The command that tells more of how it came, where something is to be told."""
    relative = os.path.relpath(run_dir)
    place = shlex.quote(run_dir if relative.startswith(os.pardir) else relative)
    return f"greenloop report --open {place}"


def as_comments(lines: list[str]) -> str:
    """Lines as Python comments: what is printed below code stays Python."""
    return "".join(f"# {part}\n" for line in lines for part in line.split("\n"))
