"""Evidence: answers to the tests' inputs written into the code."""
