"""Evidence from observations: values that the code computes in a process without tests."""
