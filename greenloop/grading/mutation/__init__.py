"""Mutants: small faults put into a module to measure whether its tests notice them."""

from greenloop.grading.mutation.evidence import measure_mutation
from greenloop.grading.mutation.generator import generate_mutants, sample_mutants
from greenloop.grading.mutation.mutant import Mutant

__all__ = ["Mutant", "generate_mutants", "measure_mutation", "sample_mutants"]
