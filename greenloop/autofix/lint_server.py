"""A linter for many sources: one `ruff server`, by the Language Server Protocol, for all of them."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

from greenloop.autofix.ruff import (
    LINT_RULES,
    TARGET_VERSION,
    LintResult,
    RuffEdit,
    RuffFinding,
    find_ruff,
    lint_code,
    summarize_findings,
)

_TIMEOUT_SECONDS = 20.0
# A document without a path, like standard input: no pattern for files applies to it.
_DOCUMENT = {"uri": "untitled:code"}
_REQUEST_ID = 1  # one at a time
_MAX_HEADER_BYTES = 200
# `editorOnly`: as with `--isolated`, no configuration file is read.
_SETTINGS = {
    "configurationPreference": "editorOnly",
    "configuration": {
        "target-version": TARGET_VERSION,
        "lint": {"select": LINT_RULES.split(",")},
    },
}
_INITIALIZATION: Mapping[str, Any] = {
    "processId": None,
    "rootUri": None,  # the working directory, in which the process looks for modules too
    "capabilities": {"textDocument": {"diagnostic": {}}},
    "initializationOptions": {"settings": _SETTINGS},
}


class LintServer:
    """Finds what `lint_code` finds, from any thread, without starting a process each time.

    The server starts with the first source. Where it does not start, ends, takes too long or gives
    no findings, and after `close`, each source has a process of its own.
    """

    def __init__(self, timeout_s: float = _TIMEOUT_SECONDS) -> None:
        self._timeout_s, self._lock = timeout_s, threading.Lock()
        self._is_usable = True
        self._process: subprocess.Popen[bytes] | None = None

    def lint(self, code: str) -> LintResult:
        """Return what ruff reports; nothing where it cannot be run."""
        with self._lock:
            findings = self._find_or_stop(code) if self._is_usable else None
        return lint_code(code) if findings is None else summarize_findings(findings, code)

    def close(self) -> None:
        """End the server. A thread that waits for its findings starts a process instead."""
        self._is_usable, process = False, self._process
        if process is not None:
            process.kill()
        with self._lock:
            self._stop()

    def _find_or_stop(self, code: str) -> list[RuffFinding] | None:
        """Return the findings; None where the server gives none, which ends it."""
        try:
            return self._find(code)
        except UnicodeEncodeError:  # a lone surrogate: nothing was sent
            return None
        except BaseException as error:  # whatever the server did, a process can still lint
            self._stop()  # it may have an answer left, which is not one to the next source
            if not isinstance(error, Exception):
                raise
            return None

    def _find(self, code: str) -> list[RuffFinding]:
        """Return the findings in order of appearance."""
        document = {**_DOCUMENT, "languageId": "python", "version": 1, "text": code}
        messages = (
            _encode("textDocument/didOpen", {"textDocument": document}),
            _encode("textDocument/diagnostic", {"textDocument": _DOCUMENT}, id=_REQUEST_ID),
            _encode("textDocument/didClose", {"textDocument": _DOCUMENT}),
        )
        items = self._exchange(self._process or self._start(), messages)["items"]
        items = sorted(items, key=lambda item: _read_position(item["range"]["start"]))
        return [_read_finding(item) for item in items]

    def _start(self) -> subprocess.Popen[bytes]:
        """Start the server, which ends by itself when its input ends, so when this process does."""
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        self._process = subprocess.Popen(
            [find_ruff(), "server"],
            stdin=pipe,
            stdout=pipe,
            stderr=nothing,
            env={},
            start_new_session=True,  # Ctrl-C at a terminal must not end it before the active runs
        )
        initializing = _encode("initialize", _INITIALIZATION, id=_REQUEST_ID)
        self._exchange(self._process, (initializing, _encode("initialized", {})))
        return self._process

    def _exchange(self, process: subprocess.Popen[bytes], messages: Sequence[bytes]) -> Any:
        """Send messages, one of which is a request, and return its result."""
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None
        with _killing_after(self._timeout_s, process):
            stdin.write(b"".join(messages))
            stdin.flush()
            while True:
                message = _read_message(stdout)
                if message.get("id") == _REQUEST_ID and "method" not in message:
                    return message["result"]

    def _stop(self) -> None:
        self._is_usable = False
        if self._process is not None:
            self._process.kill()
            with suppress(OSError), self._process:  # closes the pipes and waits
                self._process = None


@contextmanager
def _killing_after(seconds: float, process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Kill a process that the block takes too long for: its pipes then end, and no call blocks."""
    timer = threading.Timer(seconds, process.kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _encode(method: str, parameters: Mapping[str, Any], **number: int) -> bytes:
    """Return a message with its header. Raises UnicodeEncodeError."""
    message = {"jsonrpc": "2.0", **number, "method": method, "params": parameters}
    body = json.dumps(message, ensure_ascii=False).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def _read_message(stream: IO[bytes]) -> Any:
    """Return the next message. Raises ValueError where the stream ends or holds none."""
    length = 0
    while line := stream.readline(_MAX_HEADER_BYTES).strip():
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    return json.loads(stream.read(length))


def _read_finding(item: Mapping[str, Any]) -> RuffFinding:
    edits = (item.get("data") or {}).get("edits", ())
    code = item.get("code", "")  # older versions of ruff give none for a syntax error
    return RuffFinding(code, item["message"], tuple(_read_edit(edit) for edit in edits))


def _read_edit(edit: Mapping[str, Any]) -> RuffEdit:
    first, last = edit["range"]["start"], edit["range"]["end"]
    return RuffEdit(edit["newText"], _read_position(first), _read_position(last))


def _read_position(position: Mapping[str, Any]) -> tuple[int, int]:
    return position["line"], position["character"]
