"""The specification as text: examples."""
