"""Workflow of `change`."""
