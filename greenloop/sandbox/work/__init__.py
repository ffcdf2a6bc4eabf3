"""Sandbox jobs: how each kind is built and its result decoded."""
