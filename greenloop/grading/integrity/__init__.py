"""Integrity: what the source of a module says of how it could pass its tests."""
