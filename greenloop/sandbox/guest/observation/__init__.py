"""Observation of code by programs, in a process without tests."""
