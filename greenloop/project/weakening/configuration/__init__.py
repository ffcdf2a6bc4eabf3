"""Changes of configuration by which fewer tests count, or tests and coverage demand less."""

from greenloop.project.weakening.configuration.files import (
    find_loosened_configuration,
    is_deciding_file,
)
from greenloop.project.weakening.configuration.settings import selects_tests

__all__ = ["find_loosened_configuration", "is_deciding_file", "selects_tests"]
