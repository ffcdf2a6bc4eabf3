"""Workflow of `make`: a module from a specification."""
