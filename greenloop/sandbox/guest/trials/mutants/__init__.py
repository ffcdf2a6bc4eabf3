"""Mutants tried inside one sandbox process."""
