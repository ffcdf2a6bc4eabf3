"""Mutants: small faults put into a module on purpose, to see whether its tests notice.

found = mutation(box, code, tests, most=200, seed=0, budget_s=60)
"""

from greenloop.grading.mutation.evidence import measure_mutation
from greenloop.grading.mutation.generator import generate_mutants
from greenloop.grading.mutation.mutant import Mutant
from greenloop.grading.mutation.sampling import sample_mutants

__all__ = ["Mutant", "generate_mutants", "measure_mutation", "sample_mutants"]
