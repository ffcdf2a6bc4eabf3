"""Sandbox backends: how untrusted code is kept apart on this machine."""
