"""Scripts: checks of their output, regressions of their repairs, and their source files."""
