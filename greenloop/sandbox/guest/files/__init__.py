"""Files of a run: written before it, collected after it."""
