"""What the commands do: build (the composition root), call, exit status."""
