"""All wrong modules, by name."""

from __future__ import annotations

from tests.security.forgery.case import Forgery
from tests.security.forgery.forged import (
    environment_detection,
    equality,
    exits,
    expected_values,
    import_time,
    memorization,
    patched_helpers,
    reports,
)

_GROUPS = {
    "exits": exits.FORGERIES,
    "reports": reports.FORGERIES,
    "equal": equality.FORGERIES,
    "leaned on": patched_helpers.FORGERIES,
    "early": import_time.FORGERIES,
    "reading": expected_values.FORGERIES,
    "memorised": memorization.FORGERIES,
    "elsewhere": environment_detection.FORGERIES,
}
WRONG: dict[str, Forgery] = {
    f"{group}: {name}": forgery
    for group, forgeries in _GROUPS.items()
    for name, forgery in forgeries.items()
}
