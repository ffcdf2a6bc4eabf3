"""Steps of a run, from its request to its report, and the state that they share."""
