"""Trials of edits of a module in a sandbox: mutants and patches."""
