"""Coverage of a project's files by test."""
