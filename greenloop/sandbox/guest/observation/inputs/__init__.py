"""Inputs other than the scenarios of tests: single calls, and a generator of calls."""
