"""Python source: text edits, syntax nodes, edit operators, parsing."""
