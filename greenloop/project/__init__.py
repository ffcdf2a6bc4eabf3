"""A user's project: its files, environment, changes, and the tests that a change weakens."""
