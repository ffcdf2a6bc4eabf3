"""Conditions of tests: how much one says, the bounds that it sets, and whether it says less than another."""
