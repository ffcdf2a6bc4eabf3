"""Evidence: tests with changed expected values, which must fail."""
