"""Warm sandboxes: zygote processes with pytest loaded."""
