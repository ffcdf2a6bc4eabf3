"""Pid 1 of a container, which serves runs."""
