"""pytest plugin that reports the statements and branches of some files that each test executes."""

import os
import sys
import types
from collections.abc import Callable, Collection, Iterator, Mapping
from importlib.machinery import SourceFileLoader
from typing import Any

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook

from ..protocol.framing import PROCESSES, Channel
from ..trials.line_tracing import watch_started_processes
from .instrumentation import instrument_file

SendEvent = Callable[..., None]
_AT_IMPORT = ""
_DIGITS = b"01" + bytes(range(2, 256))


def install_recorder(job: Mapping[str, Any], channel: Channel) -> "list[HitRecorder]":
    """Install the recorder for the files that a job names; return its plug-ins, if any."""
    if not job.get("traced"):
        return []
    recorder = HitRecorder(job["work"] + os.sep, job["traced"], channel.send)
    recorder.install()
    return [recorder]


class HitRecorder:
    """Plug-in that instruments files at their import and reports their hits after each test.

    Each set of hits is sent once, as event `hits` with a number; tests refer to it by number.
    """

    def __init__(self, work: str, paths: Collection[str], send_event: SendEvent) -> None:
        """`work` is the run's folder, with a separator at its end; `paths` are relative to it."""
        files = [path for path in paths if path != PROCESSES]
        self._keys = {work + path: f"_reached_in_{number}" for number, path in enumerate(files)}
        self._paths = dict(zip(self._keys.values(), files, strict=True))
        self._flags = watch_started_processes() if PROCESSES in paths else {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._send_event = send_event

    def install(self) -> None:
        """Replace the compilation of the files; line numbers are kept.

        The files are excluded from pytest's assertion rewriting, which would compile them itself.
        """
        compile_plainly = SourceFileLoader.source_to_code
        find_plainly = AssertionRewritingHook.find_spec

        def find_spec(hook: Any, name: str, *rest: Any) -> Any:
            spec = find_plainly(hook, name, *rest)
            return None if spec and spec.origin in self._keys else spec

        def source_to_code(
            loader: Any, data: Any, path: Any, *, _optimize: int = -1
        ) -> types.CodeType:
            key = self._keys.get(path)
            instrumented = instrument_file(data, key) if key else None
            if instrumented is None:
                code: types.CodeType = compile_plainly(loader, data, path, _optimize=_optimize)
                return code
            return compile(instrumented.tree, path, "exec", dont_inherit=True, optimize=_optimize)

        SourceFileLoader.source_to_code = source_to_code  # type: ignore[method-assign,assignment]
        AssertionRewritingHook.find_spec = find_spec  # type: ignore[method-assign,assignment]

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        self._report(_AT_IMPORT)
        yield
        self._report(item.nodeid)

    def pytest_sessionfinish(self) -> None:
        self._report(_AT_IMPORT)

    def _report(self, test: str) -> None:
        """Send the hits since the last report."""
        found = []
        for key, path in self._paths.items():
            hits = sys.__dict__.get(key)
            if hits and 1 in hits:
                found.append(self._get_number(path, hits))
                hits[:] = bytes(len(hits))
        if any(self._flags.values()):
            found.append(self._get_number(PROCESSES, bytearray(b"\1")))
        if found:
            self._send_event("reached", id=test, sets=found)

    def _get_number(self, path: str, hits: bytearray) -> int:
        mask = f"{int(hits[::-1].translate(_DIGITS), 2):x}"
        number = self._numbers.get((path, mask))
        if number is None:
            number = self._numbers[path, mask] = len(self._numbers)
            self._send_event("hits", number=number, path=path, mask=mask)
        return number
