"""Statements and expressions in two parts, for the code and for the tests."""
