"""Isolation of one run: namespaces, seccomp, Landlock, mounts."""
