"""Views of a sandbox: with events, throttled, for a project."""
