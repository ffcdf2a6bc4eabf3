"""Views of a sandbox: with packages, with events, throttled, for a project."""
