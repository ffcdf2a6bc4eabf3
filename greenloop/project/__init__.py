"""A user's project: snapshots and what they leave out."""
