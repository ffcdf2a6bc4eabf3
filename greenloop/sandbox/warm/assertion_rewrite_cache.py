"""Cache of test files with rewritten assertions: pytest rewrites a file once, not in each run."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping

from greenloop.sandbox.work.result_decoder import decode_events

_MAX_FILES, _MAX_BYTES = 64, 2 << 20
# To rewrite so many bytes takes as long as to start a process for it.
_REWRITE_THRESHOLD_BYTES = 9000
SourceTexts = Mapping[str, str]
CompiledFiles = dict[str, tuple[str, str]]


class AssertionRewriteCache:
    """Compiled files (base64) by the path where pytest looks for them.

    A file is compiled once runs have rewritten so much of it that compiling pays off. pytest does it
    in a sandbox process that executes nothing of the file, so untrusted code cannot interfere.
    """

    def __init__(self, rewrite: Callable[[SourceTexts], CompiledFiles]) -> None:
        """`rewrite` returns, by name, the path below the working folder and the content."""
        self._rewrite, self._lock = rewrite, threading.Lock()
        # Path and content; or, of a file that is not compiled, the bytes rewritten so far.
        self._entries: OrderedDict[str, tuple[str, str] | int] = OrderedDict()

    def get(self, files: SourceTexts) -> dict[str, str]:
        """Return compiled files by path; none of new, too long or invalid files."""
        digests = {name: _digest(name, text) for name, text in files.items()}
        with self._lock:
            pending = {
                name: files[name]
                for name, digest in digests.items()
                if self._is_worth_rewriting(digest)
            }
            for name, digest in digests.items():
                self._record_use(digest, len(files[name]))
            while len(self._entries) > _MAX_FILES:
                self._entries.popitem(last=False)
        compiled = self._rewrite(pending) if pending else {}
        with self._lock:
            for name in pending:
                path, data = compiled.get(name, ("", ""))
                fits = len(data) <= _MAX_BYTES
                self._entries[digests[name]] = (path, data) if fits else ("", "")
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
    """Parse the report of the process that compiled files."""
    events, _ = decode_events(result, key)
    sent = [item for item in events if item.get("event") == "compiled"]
    return {str(item["name"]): (str(item["path"]), str(item["data"])) for item in sent}


def _digest(name: str, text: str) -> str:
    data = f"{name}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()
