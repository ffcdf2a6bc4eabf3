"""Workflow of `heal` for modules and scripts."""
