"""Tests as pytest would cache them: the assertions of a file are rewritten once, not in each run."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping

from greenloop.sandbox.protocol import events

_MOST, _MOST_BYTES = 64, 2 << 20
Texts = Mapping[str, str]
Compiled = dict[str, tuple[str, str]]


class Rewritten:
    """Of files that were seen before: where pytest looks for its cached form, and that (base64).

    It is made at the second sight, by pytest, in a process of the sandbox's in which nothing of the
    files is run: what foreign code says about it is never heard.
    """

    def __init__(self, rewrite: Callable[[Texts], Compiled]) -> None:
        """`rewrite` gives, by the file's name, the place below the working folder and the content."""
        self._rewrite, self._lock = rewrite, threading.Lock()
        self._known: OrderedDict[str, tuple[str, str] | None] = OrderedDict()

    def of(self, files: Texts) -> dict[str, str]:
        """By place; empty for what is new, too long, or cannot be rewritten."""
        digests = {name: _digest(name, text) for name, text in files.items()}
        with self._lock:
            again = {name for name, digest in digests.items() if digest in self._known}
            waiting = {name: files[name] for name in again if self._known[digests[name]] is None}
            for digest in digests.values():
                self._known.setdefault(digest, None)
                self._known.move_to_end(digest)
            while len(self._known) > _MOST:
                self._known.popitem(last=False)
        made = self._rewrite(waiting) if waiting else {}
        with self._lock:
            for name in waiting:
                place, data = made.get(name, ("", ""))
                fits = len(data) <= _MOST_BYTES
                self._known[digests[name]] = (place, data) if fits else ("", "")
            found = [self._known.get(digest) for digest in digests.values()]
        return {place: data for place, data in filter(None, found) if place}


def read_rewritten(result: bytes, key: str) -> Compiled:
    """What the rewriting process sent."""
    heard, _ = events(result, key)
    sent = [item for item in heard if item.get("event") == "compiled"]
    return {str(item["name"]): (str(item["path"]), str(item["data"])) for item in sent}


def _digest(name: str, text: str) -> str:
    data = f"{name}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()
