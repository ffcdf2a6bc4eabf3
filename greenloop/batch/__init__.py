"""Batches: many specifications with one sandbox, shared rate limits and one budget."""
