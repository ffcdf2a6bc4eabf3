"""Dataset formats: one reader for each."""
