"""Support of the tests: a local OpenAI-compatible server, scripted models, builders of records."""
