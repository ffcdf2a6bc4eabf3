"""What both sides have of their own and should have alike: environment variables, working folder."""

from __future__ import annotations

import os
from os import chdir, getcwd
from typing import Any

_NOT_FROM_THERE = ("PYTEST", "PYTHON", "LD_")


class Surroundings:
    """Says what has changed here since the other side was last told, and does what it says."""

    def __init__(self) -> None:
        self._variables, self._folder = dict(os.environ), _folder()

    def give(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        now = dict(os.environ)
        if now != self._variables:
            names = {*now, *self._variables}
            changed = {name: now.get(name) for name in names}
            before, self._variables = self._variables, now
            found["variables"] = {
                name: value for name, value in changed.items() if value != before.get(name)
            }
        folder = _folder()
        if folder != self._folder:
            found["folder"] = self._folder = folder
        return found

    def take(self, message: dict[str, Any]) -> None:
        for name, value in message.get("variables", {}).items():
            if value is None:
                os.environ.pop(name, None)
            elif not name.startswith(_NOT_FROM_THERE):
                os.environ[name] = str(value)
        if "variables" in message:
            self._variables = dict(os.environ)
        if isinstance(message.get("folder"), str):
            try:
                chdir(message["folder"])
            except OSError:
                pass  # gone already; the next relative path will say so
            self._folder = _folder()


def _folder() -> str:
    try:
        return getcwd()
    except OSError:
        return ""
