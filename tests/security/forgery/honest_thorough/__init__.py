"""Unusual modules whose tests are thorough: each deserves `verified`."""

from __future__ import annotations

from tests.security.forgery.case import Odd
from tests.security.forgery.honest_thorough import (
    algorithms,
    effects,
    objects,
    registries,
    standard_types,
    styles,
    surroundings,
    values,
)

_GROUPS = (
    values.THOROUGH,
    objects.THOROUGH,
    algorithms.THOROUGH,
    effects.THOROUGH,
    styles.THOROUGH,
    registries.THOROUGH,
    standard_types.THOROUGH,
    surroundings.THOROUGH,
)
THOROUGH: dict[str, Odd] = {name: odd for group in _GROUPS for name, odd in group.items()}
