"""A grade for a person: the verdict, and each kind of evidence in one line with its threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from greenloop.records import Evidence, Report, Survivor
from greenloop.reporting.escaping import one_line
from greenloop.reporting.summary import counted_as

_MOST = 6
_LINE = 110
# Whether it is reached (None: not measured, or nothing to measure), and what is told of it.
_Piece = tuple[bool | None, str]


def grade_text(report: Report) -> str:
    """Verdict, tests, evidence, and where to look; what foreign code wrote is made harmless."""
    return "".join(f"{one_line(line)[:400]}\n" for line in _lines(report))


def grade_lines(evidence: Evidence) -> Iterator[str]:
    """One line a kind of evidence: `ok`, `short` or `--` (not measured), its value, its threshold."""
    for name, reached, text in pieces(evidence):
        sign = {True: "ok   ", False: "SHORT", None: "--   "}[reached]
        yield f"  {sign}  {name:<12} {text}"


def pieces(evidence: Evidence) -> Iterator[tuple[str, bool | None, str]]:
    """Each kind of evidence: its name, whether it is reached (None: not measured), its words."""
    for name, tell in _tellers().items():
        if name == "sealed" and evidence.sealed is None and name not in evidence.not_measured:
            continue  # there are such only where a model was asked for them
        why = evidence.not_measured.get(name.replace(" ", "_"))
        yield name, *((None, f"not measured: {why}") if why else tell(evidence))


def _lines(report: Report) -> Iterator[str]:
    passed = sum(item.outcome == "passed" for item in report.tests)
    yield (
        f"{report.verdict}: {passed} of {counted_as(len(report.tests), 'test')} "
        f"{'passes' if passed == 1 == len(report.tests) else 'pass'}, {report.timings.total_s:.1f} s"
    )
    if report.evidence.hollow_run is not None or report.evidence.controls is not None:
        yield from grade_lines(report.evidence)
        yield from _survivors(report.evidence)
    for reason in report.reasons:
        yield f"  not better because: {reason}"
    if report.artifacts.report:
        yield f"  report: {report.artifacts.report}"


def _survivors(evidence: Evidence) -> Iterator[str]:
    """What the tests would have to ask."""
    survived = evidence.mutation.survived if evidence.mutation else ()
    for item in survived[:_MOST]:
        yield f"  survived: line {item.line} as `{changed_line(item)}`"
        yield f"            {item.question}"
    if len(survived) > _MOST:
        yield f"  and {len(survived) - _MOST} more, see the report"


def hunk(survivor: Survivor) -> list[str]:
    """The change with the lines around it, without the diff's heads."""
    lines = survivor.diff.rstrip("\n").split("\n")
    heads = [number for number, line in enumerate(lines) if line.startswith("@@")]
    return lines[heads[0] + 1 :] if heads else lines


def changed_line(survivor: Survivor) -> str:
    """The first line that the mutant has instead."""
    lines = (line for line in survivor.diff.split("\n") if line.startswith("+"))
    return next((line[1:].strip() for line in lines if not line.startswith("+++")), "(taken out)")


def _tellers() -> dict[str, Callable[[Evidence], _Piece]]:
    return {
        "hollow run": _hollow_run,
        "controls": _controls,
        "split": _split,
        "outside": _outside,
        "sealed": _sealed,
        "mutants": _mutants,
        "lines": _lines_covered,
        "branches": _branches_covered,
        "flakiness": _flakiness,
        "integrity": _integrity,
    }


def _hollow_run(evidence: Evidence) -> _Piece:
    found = evidence.hollow_run
    if found is None:
        return None, "not taken"
    if found.cut_short:
        return False, found.cut_short
    ran = found.passed + found.failed
    return found.reached, f"{found.failed} of {ran} tests fail on the code without its bodies"


def _controls(evidence: Evidence) -> _Piece:
    found = evidence.controls
    if found is None:
        return None, "not taken"
    if found.cut_short:
        return False, found.cut_short
    text = (
        f"{found.controlled} of {found.total} tests turn red when what they expect is changed "
        f"(at least {evidence.thresholds.controlled:.0%})"
    )
    if found.green:
        first = found.green[0]
        text += f"; {first.test} does not, line {first.line}"
    return found.reached, text


def _split(evidence: Evidence) -> _Piece:
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
        text += f"; {counted_as(len(found.own_equality), 'test')} by the code's own =="
    return True, text


def _outside(evidence: Evidence) -> _Piece:
    found = evidence.outside
    if found is None:
        return None, "no test calls the code with plain values alone"
    if found.otherwise:
        return False, f"answers otherwise without its tests: {', '.join(found.otherwise[:2])}"
    if found.by_heart:
        return False, f"answers only what the tests ask: {', '.join(found.by_heart[:2])}"
    return True, f"{counted_as(found.asked, 'call')} of the tests answered alike without them"


def _sealed(evidence: Evidence) -> _Piece:
    found = evidence.sealed
    if found is None:
        return None, "none were given"
    least = f"(at least {evidence.thresholds.sealed_agreement:.0%})"
    return found.reached, found.cut_short or f"{found.agreed} of {found.total} agree {least}"


def _mutants(evidence: Evidence) -> _Piece:
    found, least = evidence.mutation, evidence.thresholds.mutation_score
    if found is None:
        return None, f"not measured: {evidence.not_measured.get('mutation', 'not taken')}"
    if found.score is None or found.trouble:
        return False, found.trouble
    noticed = found.killed + found.timeout + found.crashed
    text = f"{noticed} noticed, {len(found.survived)} survived: {found.score:.0%}"
    return found.score >= least, f"{text} (at least {least:.0%})"


def _lines_covered(evidence: Evidence) -> _Piece:
    found, least = evidence.coverage, evidence.thresholds.line_coverage
    if found is None:
        return None, f"not measured: {evidence.not_measured.get('coverage', 'not taken')}"
    return _covered(found.line, least, [str(line) for line in found.missed_lines])


def _branches_covered(evidence: Evidence) -> _Piece:
    found, least = evidence.coverage, evidence.thresholds.branch_coverage
    if found is None:
        return None, f"not measured: {evidence.not_measured.get('coverage', 'not taken')}"
    return _covered(found.branch, least, list(found.missed_branches))


def _covered(share: float, least: float, missed: list[str]) -> _Piece:
    shown = ", ".join(missed[:_MOST]) + (", …" if len(missed) > _MOST else "")
    never = f"; never reached: {shown}" if missed else ""
    return share >= least, f"{share:.0%} (at least {least:.0%}){never}"


def _flakiness(evidence: Evidence) -> _Piece:
    found = evidence.flakiness
    if found is None:
        return None, "not taken"
    steady = "the same in another order and with another hash seed"
    differing = f"{len(found.differing)} tests end otherwise: {', '.join(found.differing[:2])}"
    return found.reached, found.cut_short or (steady if found.reached else differing)


def _integrity(evidence: Evidence) -> _Piece:
    found = evidence.integrity
    if not found:
        return True, "reaches for nothing that could forge a verdict"
    first = f"line {found[0].line} {found[0].what}"
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return False, f"{first}{more}"[:_LINE]


def evidence_line(evidence: Evidence) -> str:
    """All evidence in one line; what was not taken is left out."""
    parts: list[str] = []
    if evidence.red_phase:
        parts.append(f"{evidence.red_phase.failed} tests red on a stub")
    if evidence.hollow_run:
        parts.append(f"hollowed code {'red' if evidence.hollow_run.reached else 'GREEN'}")
    if evidence.controls:
        held = f"{evidence.controls.controlled}/{evidence.controls.total}"
        parts.append(f"controls {held}" + (" FORGED" if evidence.controls.forged else ""))
    if evidence.split and (evidence.split.reached or evidence.split.only_beside):
        parts.append("also in two processes" if evidence.split.reached else "NOT in two processes")
    if evidence.sealed:
        parts.append(f"sealed examples {evidence.sealed.agreed}/{evidence.sealed.total}")
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
