"""On the side of the tests: what the code printed, warned and logged is done here as if by it."""

from __future__ import annotations

import logging
import random
import sys
import types
import warnings
from typing import Any

from . import by_name
from .codec import Codec
from .errors import Broken
from .surroundings import Surroundings

_FLAWED = (ValueError, TypeError, LookupError, AttributeError)


class AroundTests:
    """See `peer.Around`."""

    def __init__(self, codec: Codec) -> None:
        self._codec, self._surroundings = codec, Surroundings()
        self._watched: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        self._patches: list[tuple[Any, str, Any]] = []
        self._seeds: list[Any] = []
        self._levels: dict[str | None, int] = {"": logging.getLogger().level, None: 0}

    def settle(self, monkeypatch: type) -> None:
        """Learns of patches to the standard library and of seeds, which the code must have too."""
        import unittest.mock

        self._watch(sys, "argv", list(sys.argv))
        self._watch(sys, "stdin", sys.stdin)
        _before(monkeypatch, "setattr", self._before_monkeypatch)
        _before(monkeypatch, "delattr", self._before_monkeypatch)
        patch = unittest.mock._patch
        _before(patch, "__enter__", lambda it: self._note(it.getter(), it.attribute))
        _before(random, "seed", lambda *seed: self._seeds.append(seed))

    def _before_monkeypatch(
        self, _: Any, target: Any, name: Any = None, *rest: Any, **__: Any
    ) -> None:
        if isinstance(target, str):
            path, _, name = target.rpartition(".")
            module, _, attribute = path.rpartition(".")
            target = sys.modules.get(path) or getattr(sys.modules.get(module), attribute, None)
        if isinstance(name, str):
            self._note(target, name)

    def _note(self, target: Any, name: str) -> None:
        if target is sys and name in ("stdout", "stderr", "modules", "path"):
            return
        if isinstance(target, (types.ModuleType, type)) and by_name.name_of(target):
            self._watch(target, name, vars(target).get(name))

    def _watch(self, target: Any, name: str, before: Any) -> None:
        self._watched.setdefault((id(target), name), (target, name, before))

    def give(self) -> dict[str, Any]:
        found = self._surroundings.give()
        patches = [
            (target, name, now)
            for target, name, before in self._watched.values()
            if (now := vars(target).get(name)) is not before and now != before
            if not type(now).__module__.startswith("_pytest")  # its own standard input
        ]
        if patches != self._patches:
            self._patches = patches
            found["patches"] = self._codec.encode(tuple(patches))
        if self._seeds:
            found["seeds"] = [self._codec.encode(seed) for seed in self._seeds]
            self._seeds.clear()
        levels = self._changed_levels()
        if levels:
            found["levels"] = levels
        return found

    def _changed_levels(self) -> list[list[Any]]:
        root = logging.getLogger()
        now: dict[str | None, int] = {"": root.level, None: root.manager.disable}
        for name, logger in root.manager.loggerDict.items():
            if isinstance(logger, logging.Logger) and (logger.level or name in self._levels):
                now[name] = logger.level
        changed = [
            [name, level] for name, level in now.items() if self._levels.get(name, 0) != level
        ]
        self._levels = now
        return changed

    def take(self, message: dict[str, Any]) -> None:
        try:
            self._surroundings.take(message)
            for name, text in message.get("printed", ()):
                (sys.stderr if name == "err" else sys.stdout).write(str(text))
            for logged in message.get("logged", ()):
                _log(*logged)
            warned = [self._warning(*item) for item in message.get("warned", ())]
        except _FLAWED as error:
            raise Broken(f"it sent what makes no sense: {error}") from None
        for item in warned:
            warnings.warn_explicit(*item)

    def _warning(self, kind: Any, text: Any, filename: Any, line: Any) -> tuple[str, Any, str, int]:
        category = self._codec.decode(kind)
        if not isinstance(category, type) or not issubclass(category, Warning):
            raise TypeError("its category is none")
        return str(text), category, str(filename), int(line)


def _log(name: Any, level: Any, text: Any, path: Any, line: Any, function: Any, trace: Any) -> None:
    logger = logging.getLogger(str(name))
    record = logging.LogRecord(
        logger.name, int(level), str(path), int(line), str(text), None, None, str(function)
    )
    record.exc_text = None if trace is None else str(trace)
    logger.handle(record)


def _before(owner: Any, name: str, do: Any) -> None:
    original = getattr(owner, name)

    def wrapped(*arguments: Any, **named: Any) -> Any:
        do(*arguments, **named)
        return original(*arguments, **named)

    setattr(owner, name, wrapped)
