"""Workflow of `heal` for modules."""
