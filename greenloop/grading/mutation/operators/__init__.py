"""Mutation operators."""
