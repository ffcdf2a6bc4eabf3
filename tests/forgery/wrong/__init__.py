"""All wrong modules, by name."""

from __future__ import annotations

from tests.forgery.case import Forgery
from tests.forgery.wrong import (
    early,
    elsewhere,
    equal,
    exits,
    leaned_on,
    memorised,
    reading,
    reports,
)

_GROUPS = {
    "exits": exits.FORGERIES,
    "reports": reports.FORGERIES,
    "equal": equal.FORGERIES,
    "leaned on": leaned_on.FORGERIES,
    "early": early.FORGERIES,
    "reading": reading.FORGERIES,
    "memorised": memorised.FORGERIES,
    "elsewhere": elsewhere.FORGERIES,
}
WRONG: dict[str, Forgery] = {
    f"{group}: {name}": forgery
    for group, forgeries in _GROUPS.items()
    for name, forgery in forgeries.items()
}
