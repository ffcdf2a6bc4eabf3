"""The process that serves runs inside a container."""
