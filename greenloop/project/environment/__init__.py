"""Python environments of projects: found and read on the host, executed only in a sandbox."""

from greenloop.project.environment.discovery import find_environment
from greenloop.project.environment.interpreter import Environment
from greenloop.project.environment.project_copy import open_environment

__all__ = ["Environment", "find_environment", "open_environment"]
