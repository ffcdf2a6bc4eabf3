"""Scripts as text and what they show: checks of output, what a repair must not lose, source files."""
