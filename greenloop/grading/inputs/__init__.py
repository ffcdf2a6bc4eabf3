"""Inputs of programs: made for types, changed, and made smaller; of tests, examples and a generator."""
