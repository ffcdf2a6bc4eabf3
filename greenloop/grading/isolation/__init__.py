"""Evidence: what the code answers in a process that holds no tests."""
