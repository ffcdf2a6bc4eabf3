"""Comparison of two versions of a project on the same inputs."""
