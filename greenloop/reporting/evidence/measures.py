"""Each kind of evidence with its share and its threshold, for whatever draws it."""

from __future__ import annotations

from dataclasses import dataclass

from greenloop.records import Evidence
from greenloop.reporting.evidence.text import assess_evidence


@dataclass(frozen=True)
class Measure:
    """One kind of evidence. `reached` is None where it was not measured.

    `share` is what it came to and `least` what is asked for, both between 0 and 1; None where there
    is no such number.
    """

    name: str
    reached: bool | None
    text: str
    share: float | None = None
    threshold: float | None = None

    @property
    def state(self) -> str:
        """`ok`, `short` or `none`."""
        return {True: "ok", False: "short", None: "none"}[self.reached]


def build_measures(evidence: Evidence) -> tuple[Measure, ...]:
    """All evidence, the red phase first."""
    shares = _collect_shares(evidence)
    graded = tuple(
        Measure(name, reached, text, *shares.get(name, (None, None)))
        for name, reached, text in assess_evidence(evidence)
    )
    return (*_measure_red_phase(evidence), *graded)


def has_grading_evidence(evidence: Evidence) -> bool:
    """Whether any evidence beyond the red phase was taken: it is for green runs alone."""
    return any(
        (evidence.empty_bodies, evidence.assertion_mutation, evidence.mutation, evidence.coverage)
    )


def _measure_red_phase(evidence: Evidence) -> tuple[Measure, ...]:
    found = evidence.red_phase
    if found is None:
        return ()
    aside = len(found.passing_on_stub)
    proves = f"; {aside} passed there and were set aside" if aside else ""
    text = f"{found.failed} tests fail on a stub, as they must{proves}"
    return (Measure("red phase", found.reached, text),)


def _collect_shares(evidence: Evidence) -> dict[str, tuple[float | None, float | None]]:
    limits, found = evidence.thresholds, {}
    if (controls := evidence.assertion_mutation) and controls.total:
        found["assertion mutation"] = (
            controls.controlled / controls.total,
            limits.assertion_mutation,
        )
    if (sealed := evidence.held_out) and sealed.total:
        found["held-out"] = (sealed.agreed / sealed.total, limits.held_out_agreement)
    if (mutation := evidence.mutation) and mutation.score is not None:
        found["mutants"] = (mutation.score, limits.mutation_score)
    if coverage := evidence.coverage:
        found["lines"] = (coverage.line, limits.line_coverage)
        found["branches"] = (coverage.branch, limits.branch_coverage)
    return {name: (share, least) for name, (share, least) in found.items()}
