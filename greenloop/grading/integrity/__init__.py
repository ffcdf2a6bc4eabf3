"""Integrity: static checks of a module for ways to pass its tests without being right."""
