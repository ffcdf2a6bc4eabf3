"""Workflow of `script` and of `heal` without tests: checks of a script's output."""
