"""Evaluation of models: tasks run as a batch, their code checked with hidden tests."""
