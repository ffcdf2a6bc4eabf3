"""Batches on more than one machine. Nothing outside this room knows Ray."""
