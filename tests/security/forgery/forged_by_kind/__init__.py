"""Wrong modules over all kinds of test files, by name."""

from __future__ import annotations

from tests.security.forgery.case import Forgery
from tests.security.forgery.forged_by_kind import (
    crossing,
    detection,
    equality,
    exceptions,
    framework,
    generic,
    helpers,
    leftovers,
    observer,
    operators,
    reading,
    records,
    table,
    unobserved,
)

_GROUPS = {
    "own equality": equality.FORGERIES,
    "own exceptions": exceptions.FORGERIES,
    "changed framework": framework.FORGERIES,
    "changed helpers": helpers.FORGERIES,
    "sign of a test": detection.FORGERIES,
    "left from a run": leftovers.FORGERIES,
    "recognised observer": observer.FORGERIES,
    "read": reading.FORGERIES,
    "read on the way": crossing.FORGERIES,
    "own operators": operators.FORGERIES,
    "record": records.FORGERIES,
    "table": table.FORGERIES,
    "unobserved": unobserved.FORGERIES,
    "generic": generic.FORGERIES,
}
WRONG_BY_KIND: dict[str, Forgery] = {
    f"{group}: {name}": forgery
    for group, forgeries in _GROUPS.items()
    for name, forgery in forgeries.items()
}
