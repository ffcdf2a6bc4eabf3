"""Python source: edits, nodes, parsing."""
