"""Evidence in words and as shares."""
