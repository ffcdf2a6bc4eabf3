"""The rows of evidence that every form of a report shows."""

from __future__ import annotations

from greenloop.records import Evidence, EvidenceRow


def build_measures(evidence: Evidence) -> tuple[EvidenceRow, ...]:
    """Return all rows, the red phase first."""
    return tuple(evidence.summary())


def has_grading_evidence(evidence: Evidence) -> bool:
    """Whether any evidence beyond the red phase was measured, as it is for green runs alone."""
    return evidence.is_graded
