"""Names that a run's module cannot have."""

from __future__ import annotations

import keyword
import sys

# Modules that pytest needs while it runs, and names that it treats specially.
_RESERVED_NAMES = frozenset(
    "pytest conftest test tests pluggy iniconfig packaging pygments exceptiongroup tomli py".split()
)


def explain_invalid_module_name(name: str) -> str | None:
    """Return why a run's module cannot have a name; None where it can."""
    if not (name.isidentifier() and name.isascii()):
        return "it is not a plain Python name"
    if keyword.iskeyword(name):
        return "it is a Python keyword"
    if name in sys.stdlib_module_names:
        return "it is a module of the standard library"
    if name in _RESERVED_NAMES or name.startswith(("_", "test_")):
        return "it is reserved"
    return None
