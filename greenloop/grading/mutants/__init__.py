"""Mutants: small faults put into a module on purpose, to see whether its tests notice.

found = mutation(box, code, tests, most=200, seed=0, budget_s=60)
"""

from greenloop.grading.mutants.generating import mutants
from greenloop.grading.mutants.measuring import mutation
from greenloop.grading.mutants.mutant import Mutant
from greenloop.grading.mutants.sampling import sample

__all__ = ["Mutant", "mutants", "mutation", "sample"]
