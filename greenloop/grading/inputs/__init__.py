"""Inputs of programs: from tests, examples, a generator and types; mutated and reduced."""
