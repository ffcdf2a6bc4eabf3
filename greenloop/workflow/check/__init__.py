"""Checks: existing code and tests, without a text or against one."""
