"""The specification as text: signatures and examples that it states."""
