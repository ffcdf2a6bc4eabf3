"""Trials of mutants in one sandbox process."""
