"""The plan of a grade."""

from __future__ import annotations

from dataclasses import dataclass, field

from greenloop.records import Thresholds
from greenloop.settings import Settings


@dataclass(frozen=True)
class Plan:
    """`mutants` is the maximum number of mutants (None: all, 0: they are not measured)."""

    thresholds: Thresholds = field(default_factory=Thresholds)
    mutants: int | None = 100
    seed: int = 20261

    @classmethod
    def from_settings(cls, settings: Settings) -> Plan:
        mutants = None if settings.mutants == "all" else settings.mutants
        return cls(thresholds=settings.thresholds, mutants=mutants)
