"""Models held against hidden tests: tasks are read, run as a batch, and judged by what nobody saw."""
