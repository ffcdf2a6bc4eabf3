"""Chat models: selection, calls, budget, answer log and replay, parsing of answers."""
