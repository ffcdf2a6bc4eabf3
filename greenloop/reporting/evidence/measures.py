"""The rows of evidence that every form of a report shows."""

from __future__ import annotations

from greenloop.records import Evidence, EvidenceRow


def build_measures(evidence: Evidence) -> tuple[EvidenceRow, ...]:
    """Return all rows, the red phase first."""
    return tuple(evidence.summary())


def has_grading_evidence(evidence: Evidence) -> bool:
    """Whether a green run was graded."""
    return evidence.is_graded
