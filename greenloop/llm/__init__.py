"""Chat models: from a name, recorded and replayed, budgeted; answers read into typed values."""
