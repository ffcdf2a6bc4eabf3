"""Evidence from programs: what the code answers in a process that holds no tests."""
