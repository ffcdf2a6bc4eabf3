"""One file a format: from what stands in somebody's data to a task."""
