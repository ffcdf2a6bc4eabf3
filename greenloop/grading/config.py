"""What a grade is to hold: thresholds, and how mutants are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from greenloop.grading.mutation import measure_mutation
from greenloop.records import Mutation, Thresholds
from greenloop.sandbox import Sandbox
from greenloop.settings import Settings
from greenloop.testsuite import TestFile


class MutationMeasurement(Protocol):
    """`most` None means all; `budget_s` seconds at most."""

    def __call__(
        self,
        sandbox: Sandbox,
        code: str,
        tests: Sequence[TestFile],
        *,
        module: str | None,
        max_mutants: int | None,
        seed: int,
        budget_s: float,
    ) -> Mutation: ...


@dataclass(frozen=True)
class Plan:
    """`mutants` is how many are tried at most (None: all, 0: they are not measured)."""

    thresholds: Thresholds = field(default_factory=Thresholds)
    mutants: int | None = 100
    seed: int = 20261
    mutation: MutationMeasurement = measure_mutation

    @classmethod
    def from_settings(cls, settings: Settings) -> Plan:
        mutants = None if settings.mutants == "all" else settings.mutants
        return cls(thresholds=settings.thresholds, mutants=mutants)
