"""Batches on several machines by Ray. No other package imports Ray."""
