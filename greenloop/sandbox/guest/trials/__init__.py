"""Many trials in one sandbox process: forks of a collected test session."""
