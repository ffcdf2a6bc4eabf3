"""Trials of patches in one sandbox process."""
