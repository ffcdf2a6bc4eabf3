"""The edits that a search tries, by what they change."""
