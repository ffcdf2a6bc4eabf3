"""Steps of a run, from its request to its report, and their shared state."""
