"""All right modules that look odd, by name."""

from __future__ import annotations

from tests.security.forgery.case import Odd
from tests.security.forgery.honest import (
    classes,
    concurrency,
    containers,
    dynamic_lookup,
    environment,
    equality,
    introspection,
    state,
    values,
)

_GROUPS = (
    classes.ODD,
    equality.ODD,
    values.ODD,
    containers.ODD,
    introspection.ODD,
    concurrency.ODD,
    environment.ODD,
    dynamic_lookup.ODD,
    state.ODD,
)
ODD: dict[str, Odd] = {name: odd for group in _GROUPS for name, odd in group.items()}
