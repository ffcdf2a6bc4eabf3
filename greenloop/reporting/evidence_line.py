"""What a green is worth, in the one line that a run shows of it."""

from __future__ import annotations

from greenloop.records import Evidence


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
