"""Validation under a JSON Schema, as a program of its own."""
