"""Mutants: small faults put into a module on purpose, to see whether its tests notice.

found = mutation(box, code, tests, most=200, seed=0, budget_s=60)
"""

from greenloop.grading.mutation.evidence import mutation
from greenloop.grading.mutation.generator import mutants
from greenloop.grading.mutation.mutant import Mutant
from greenloop.grading.mutation.sampling import sample

__all__ = ["Mutant", "mutants", "mutation", "sample"]
