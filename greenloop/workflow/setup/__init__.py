"""Setup of a run: model, sandbox, packages."""
