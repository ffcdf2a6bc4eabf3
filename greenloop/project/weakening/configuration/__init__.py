"""Changes of configuration by which fewer tests count, or tests and coverage demand less."""

from greenloop.project.weakening.configuration.files import (
    find_loosened_configuration,
    is_deciding_file,
)
from greenloop.project.weakening.configuration.settings import (
    PYTEST_FILES,
    read_file_patterns,
    selects_tests,
)

__all__ = [
    "PYTEST_FILES",
    "find_loosened_configuration",
    "is_deciding_file",
    "read_file_patterns",
    "selects_tests",
]
