"""Messages between guest and host."""
