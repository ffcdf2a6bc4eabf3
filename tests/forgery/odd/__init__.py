"""All right modules that look odd, by name."""

from __future__ import annotations

from tests.forgery.case import Odd
from tests.forgery.odd import classes, running, surroundings, values

ODD: dict[str, Odd] = {**classes.ODD, **values.ODD, **running.ODD, **surroundings.ODD}
