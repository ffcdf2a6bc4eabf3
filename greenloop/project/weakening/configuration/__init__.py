"""Changes of configuration by which fewer tests count, or less is asked."""

from greenloop.project.weakening.configuration.files import (
    find_loosened_configuration,
    is_deciding_file,
)

__all__ = ["find_loosened_configuration", "is_deciding_file"]
