"""Two versions of a project on the same inputs."""
