"""The tests of a file, each as one list of statements."""
