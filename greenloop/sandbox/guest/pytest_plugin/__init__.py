"""pytest plugin and configuration of test runs."""
