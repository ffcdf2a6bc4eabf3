"""Command-line options: declarations that import nothing heavy, so that `--help` is fast."""
