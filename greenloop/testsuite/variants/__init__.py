"""Variants of calls and tests: their literals changed, made anew, or made smaller."""
