"""All right modules that look odd, by name."""

from __future__ import annotations

from tests.forgery.case import Odd
from tests.forgery.odd import (
    classes,
    equality,
    imports,
    interleaved,
    running,
    state,
    surroundings,
    tables,
    values,
)

_GROUPS = (
    classes.ODD,
    equality.ODD,
    values.ODD,
    tables.ODD,
    running.ODD,
    interleaved.ODD,
    surroundings.ODD,
    imports.ODD,
    state.ODD,
)
ODD: dict[str, Odd] = {name: odd for group in _GROUPS for name, odd in group.items()}
