"""A grade for a person: the verdict, and each kind of evidence in one line with its threshold."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from greenloop.records import Evidence, Report, Survivor
from greenloop.reporting.escaping import sanitize_line
from greenloop.reporting.summary import pluralize

_MAX_ITEMS = 6
_MAX_LINE_LENGTH = 110
# Whether it is reached (None: not measured, or nothing to measure), and what is told of it.
_Assessment = tuple[bool | None, str]


def render_grade(report: Report) -> str:
    """Verdict, tests, evidence, and where to look; what foreign code wrote is made harmless."""
    return "".join(f"{sanitize_line(line)[:400]}\n" for line in _grade_lines(report))


def render_evidence_lines(evidence: Evidence) -> Iterator[str]:
    """One line a kind of evidence: `ok`, `short` or `--` (not measured), its value, its threshold."""
    for name, reached, text in assess_evidence(evidence):
        sign = {True: "ok   ", False: "SHORT", None: "--   "}[reached]
        yield f"  {sign}  {name:<18} {text}"


def assess_evidence(evidence: Evidence) -> Iterator[tuple[str, bool | None, str]]:
    """Each kind of evidence: its name, whether it is reached (None: not measured), its words."""
    for name, tell in _assessors().items():
        if name == "held-out" and not (evidence.held_out or "held_out" in evidence.not_measured):
            continue  # there are such only where a model was asked for them
        why = evidence.not_measured.get(re.sub("[ -]", "_", name))
        yield name, *((None, f"not measured: {why}") if why else tell(evidence))


def _grade_lines(report: Report) -> Iterator[str]:
    passed = sum(item.outcome == "passed" for item in report.tests)
    yield (
        f"{report.verdict}: {passed} of {pluralize(len(report.tests), 'test')} "
        f"{'passes' if passed == 1 == len(report.tests) else 'pass'}, {report.timings.total_s:.1f} s"
    )
    if report.evidence.empty_bodies is not None or report.evidence.assertion_mutation is not None:
        yield from render_evidence_lines(report.evidence)
        yield from _survivor_lines(report.evidence)
    for reason in report.reasons:
        yield f"  not better because: {reason}"
    if report.artifacts.report:
        yield f"  report: {report.artifacts.report}"


def _survivor_lines(evidence: Evidence) -> Iterator[str]:
    """What the tests would have to ask."""
    survived = evidence.mutation.survived if evidence.mutation else ()
    for item in survived[:_MAX_ITEMS]:
        yield f"  survived: line {item.line} as `{mutated_line(item)}`"
        yield f"            {item.question}"
    if len(survived) > _MAX_ITEMS:
        yield f"  and {len(survived) - _MAX_ITEMS} more, see the report"


def diff_hunk(survivor: Survivor) -> list[str]:
    """The change with the lines around it, without the diff's heads."""
    lines = survivor.diff.rstrip("\n").split("\n")
    heads = [number for number, line in enumerate(lines) if line.startswith("@@")]
    return lines[heads[0] + 1 :] if heads else lines


def mutated_line(survivor: Survivor) -> str:
    """The first line that the mutant has instead."""
    lines = (line for line in survivor.diff.split("\n") if line.startswith("+"))
    return next((line[1:].strip() for line in lines if not line.startswith("+++")), "(taken out)")


def _assessors() -> dict[str, Callable[[Evidence], _Assessment]]:
    return {
        "empty bodies": _assess_empty_bodies,
        "assertion mutation": _assess_assertion_mutation,
        "split": _assess_split,
        "memorization": _assess_memorization,
        "held-out": _assess_held_out,
        "mutants": _assess_mutation,
        "lines": _assess_line_coverage,
        "branches": _assess_branch_coverage,
        "flakiness": _assess_flakiness,
        "integrity": _assess_integrity,
    }


def _assess_empty_bodies(evidence: Evidence) -> _Assessment:
    found = evidence.empty_bodies
    if found is None:
        return None, "not taken"
    if found.cut_short:
        return False, found.cut_short
    ran = found.passed + found.failed
    return found.reached, f"{found.failed} of {ran} tests fail on the code without its bodies"


def _assess_assertion_mutation(evidence: Evidence) -> _Assessment:
    found = evidence.assertion_mutation
    if found is None:
        return None, "not taken"
    if found.cut_short:
        return False, found.cut_short
    text = (
        f"{found.controlled} of {found.total} tests turn red when what they expect is changed "
        f"(at least {evidence.thresholds.assertion_mutation:.0%})"
    )
    if found.green:
        first = found.green[0]
        text += f"; {first.test} does not, line {first.line}"
    return found.reached, text


def _assess_split(evidence: Evidence) -> _Assessment:
    """Tests that need one process are no shortfall: then this was not measured."""
    found = evidence.split
    if found is None:
        return None, "not taken"
    if found.only_beside:
        return False, f"passes only beside its tests: {', '.join(found.only_beside[:2])}"
    if not found.reached:
        return None, f"in one process only: {found.why}"
    text = "the tests pass too where they and the code are two processes"
    if found.own_equality:
        text += f"; {pluralize(len(found.own_equality), 'test')} by the code's own =="
    return True, text


def _assess_memorization(evidence: Evidence) -> _Assessment:
    found = evidence.memorization
    if found is None:
        return None, "no test calls the code with plain values alone"
    if found.differing:
        return False, f"answers otherwise without its tests: {', '.join(found.differing[:2])}"
    if found.functions:
        return False, f"answers only what the tests ask: {', '.join(found.functions[:2])}"
    return True, f"{pluralize(found.calls, 'call')} of the tests answered alike without them"


def _assess_held_out(evidence: Evidence) -> _Assessment:
    found = evidence.held_out
    if found is None:
        return None, "none were given"
    least = f"(at least {evidence.thresholds.held_out_agreement:.0%})"
    return found.reached, found.cut_short or f"{found.agreed} of {found.total} agree {least}"


def _assess_mutation(evidence: Evidence) -> _Assessment:
    found, least = evidence.mutation, evidence.thresholds.mutation_score
    if found is None:
        return None, f"not measured: {evidence.not_measured.get('mutation', 'not taken')}"
    if found.score is None or found.trouble:
        return False, found.trouble
    noticed = found.killed + found.timeout + found.crashed
    text = f"{noticed} noticed, {len(found.survived)} survived: {found.score:.0%}"
    return found.score >= least, f"{text} (at least {least:.0%})"


def _assess_line_coverage(evidence: Evidence) -> _Assessment:
    found, least = evidence.coverage, evidence.thresholds.line_coverage
    if found is None:
        return None, f"not measured: {evidence.not_measured.get('coverage', 'not taken')}"
    return _assess_coverage(found.line, least, [str(line) for line in found.missed_lines])


def _assess_branch_coverage(evidence: Evidence) -> _Assessment:
    found, least = evidence.coverage, evidence.thresholds.branch_coverage
    if found is None:
        return None, f"not measured: {evidence.not_measured.get('coverage', 'not taken')}"
    return _assess_coverage(found.branch, least, list(found.missed_branches))


def _assess_coverage(share: float, threshold: float, missed: list[str]) -> _Assessment:
    shown = ", ".join(missed[:_MAX_ITEMS]) + (", …" if len(missed) > _MAX_ITEMS else "")
    never = f"; never reached: {shown}" if missed else ""
    return share >= threshold, f"{share:.0%} (at least {threshold:.0%}){never}"


def _assess_flakiness(evidence: Evidence) -> _Assessment:
    found = evidence.flakiness
    if found is None:
        return None, "not taken"
    steady = "the same in another order and with another hash seed"
    differing = f"{len(found.differing)} tests end otherwise: {', '.join(found.differing[:2])}"
    return found.reached, found.cut_short or (steady if found.reached else differing)


def _assess_integrity(evidence: Evidence) -> _Assessment:
    found = evidence.integrity
    if not found:
        return True, "reaches for nothing that could forge a verdict"
    first = f"line {found[0].line} {found[0].what}"
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return False, f"{first}{more}"[:_MAX_LINE_LENGTH]


def summarize_evidence(evidence: Evidence) -> str:
    """All evidence in one line; what was not taken is left out."""
    parts: list[str] = []
    if evidence.red_phase:
        parts.append(f"{evidence.red_phase.failed} tests red on a stub")
    if evidence.empty_bodies:
        parts.append(f"empty bodies {'red' if evidence.empty_bodies.reached else 'GREEN'}")
    if evidence.assertion_mutation:
        held = f"{evidence.assertion_mutation.controlled}/{evidence.assertion_mutation.total}"
        parts.append(
            f"assertion mutation {held}" + (" FORGED" if evidence.assertion_mutation.forged else "")
        )
    if evidence.split and (evidence.split.reached or evidence.split.only_beside):
        parts.append("also in two processes" if evidence.split.reached else "NOT in two processes")
    if evidence.held_out:
        parts.append(f"held-out examples {evidence.held_out.agreed}/{evidence.held_out.total}")
    if evidence.mutation and evidence.mutation.score is not None:
        parts.append(f"mutants {evidence.mutation.score:.0%}")
    if evidence.coverage:
        parts.append(f"lines {evidence.coverage.line:.0%}, branches {evidence.coverage.branch:.0%}")
    if evidence.flakiness:
        unsteady = (
            "not tried to the end for steadiness" if evidence.flakiness.cut_short else "FLAKY"
        )
        held = "steady in another order" if evidence.flakiness.order_seed else "the same again"
        parts.append(held if evidence.flakiness.reached else unsteady)
    parts.append(
        f"integrity {len(evidence.integrity)} findings" if evidence.integrity else "integrity clean"
    )
    return ", ".join(parts)
