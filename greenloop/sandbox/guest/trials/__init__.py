"""Trials: tests collected once, edits of one file tried in forks of that process, one at a time."""
