"""Resource usage of a run's processes."""
