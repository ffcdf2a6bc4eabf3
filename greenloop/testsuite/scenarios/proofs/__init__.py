"""The proofs that nothing of what a test expects reaches the process of the code."""
