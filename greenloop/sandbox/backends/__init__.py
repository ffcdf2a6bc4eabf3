"""Sandbox backends: mechanisms that isolate untrusted code on this machine."""
