"""Scenarios: what tests ask of code in one process, and comparison of the answers in another."""
