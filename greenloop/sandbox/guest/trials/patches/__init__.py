"""Patches tried inside one sandbox process."""
