"""The zygote: a process with pytest loaded that forks itself for each run."""
