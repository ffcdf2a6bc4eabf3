"""Workflow of `script`: checks of a script's output, which `heal` without tests uses too."""
