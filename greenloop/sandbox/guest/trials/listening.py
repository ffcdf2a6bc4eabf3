"""Sockets that listen in the network of this process, whichever process has opened them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TABLES = ("tcp", "tcp6", "udp", "udp6")
_LISTENING, _BOUND = b"0A", b"07"  # states of TCP, and of UDP
_STATE_FIELD = 3


class ListeningSockets:
    """`is_seen`: something listened at the time of a look. Without /proc nothing is seen."""

    def __init__(self) -> None:
        self.is_seen = False

    def look(self) -> None:
        self.is_seen = self.is_seen or any(map(_has_listener, _TABLES))

    def shares(self, noticed: Mapping[str, Any]) -> bool:
        """Whether trials side by side could fail by each other; `noticed` is from `OutsideUse`."""
        return bool(noticed["uses_outside"] or (self.is_seen and noticed["starts_processes"]))


def _has_listener(table: str) -> bool:
    try:
        with open(f"/proc/net/{table}", "rb") as file:
            rows = file.read().split(b"\n")[1:]
    except OSError:
        return False
    return any(row.split()[_STATE_FIELD] in (_LISTENING, _BOUND) for row in rows if row)
