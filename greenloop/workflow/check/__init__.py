"""Workflow of `check`: existing code and tests, with or without a text."""
