"""Views of a sandbox: with events, with a limit on concurrent jobs, for a project."""
