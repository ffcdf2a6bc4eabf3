"""What the tests stand on: a local OpenAI-compatible server, scripted models, small builders."""
