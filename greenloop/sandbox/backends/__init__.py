"""Sandbox backends: how untrusted code is isolated on this machine."""
