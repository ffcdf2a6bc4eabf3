"""Prices of a shop."""
