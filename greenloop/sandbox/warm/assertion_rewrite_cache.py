"""Tests as pytest would cache them: the assertions of a file are rewritten once, not in each run."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping

from greenloop.sandbox.work.result_decoder import decode_events

_MAX_FILES, _MAX_BYTES = 64, 2 << 20
_REWRITE_THRESHOLD_BYTES = (
    9000  # rewriting so many takes a run as long as a process of its own would cost
)
SourceTexts = Mapping[str, str]
CompiledFiles = dict[str, tuple[str, str]]


class AssertionRewriteCache:
    """Of files that come again: where pytest looks for its cached form, and that (base64).

    It is made once runs have rewritten as much of a file as making it costs, by pytest, in a
    process of the sandbox's in which nothing of the files is run: what foreign code says about it
    is never heard.
    """

    def __init__(self, rewrite: Callable[[SourceTexts], CompiledFiles]) -> None:
        """`rewrite` gives, by the file's name, the place below the working folder and the content."""
        self._rewrite, self._lock = rewrite, threading.Lock()
        self._entries: OrderedDict[str, tuple[str, str] | int] = OrderedDict()  # or bytes so far

    def get(self, files: SourceTexts) -> dict[str, str]:
        """By place; empty for what is new, too long, or cannot be rewritten."""
        digests = {name: _digest(name, text) for name, text in files.items()}
        with self._lock:
            waiting = {
                name: files[name]
                for name, digest in digests.items()
                if self._is_worth_rewriting(digest)
            }
            for name, digest in digests.items():
                self._record_use(digest, len(files[name]))
            while len(self._entries) > _MAX_FILES:
                self._entries.popitem(last=False)
        made = self._rewrite(waiting) if waiting else {}
        with self._lock:
            for name in waiting:
                place, data = made.get(name, ("", ""))
                fits = len(data) <= _MAX_BYTES
                self._entries[digests[name]] = (place, data) if fits else ("", "")
            found = [self._entries.get(digest, 0) for digest in digests.values()]
        return {item[0]: item[1] for item in found if isinstance(item, tuple) and item[0]}

    def _is_worth_rewriting(self, digest: str) -> bool:
        spent = self._entries.get(digest, 0)
        return isinstance(spent, int) and spent >= _REWRITE_THRESHOLD_BYTES

    def _record_use(self, digest: str, size: int) -> None:
        spent = self._entries.setdefault(digest, 0)
        if isinstance(spent, int):
            self._entries[digest] = spent + size
        self._entries.move_to_end(digest)


def parse_compiled(result: bytes, key: str) -> CompiledFiles:
    """What the rewriting process sent."""
    heard, _ = decode_events(result, key)
    sent = [item for item in heard if item.get("event") == "compiled"]
    return {str(item["name"]): (str(item["path"]), str(item["data"])) for item in sent}


def _digest(name: str, text: str) -> str:
    data = f"{name}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()
