"""What code does in its process besides answering: what it replaces, and what it looks up."""
