"""Runner of scenarios in the process of the code: no pytest, and nothing that is expected."""

from __future__ import annotations

import importlib
import inspect
import json
import operator
import os
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from types import FunctionType
from typing import Any

from ..limits.cpu_time import CpuTimeLimit
from . import classes
from .encoder import Encoder, TooLargeError
from .fixtures import create_fixture, record_warnings, silence_warnings
from .inputs.callbacks import excuse_callback
from .inputs.calls import Calls
from .inputs.whole import Raising, equal
from .parameters import build_rows, create_module, name_folder, take_instructions
from .state.library import LibraryState
from .state.surroundings import Surroundings
from .unavailable import Unavailable

_MAX_PAYLOAD, _MAX_TOTAL, _MAX_ITEMS = 1 << 18, 5 << 20, 20_000
_TOO_LARGE, _UNREADABLE = ["unknown", "too large"], ["unknown", "cannot be read"]
# References to what the module under test may replace, or a test with monkeypatch.
_to_json = json.JSONEncoder(separators=(",", ":")).encode
_is_async = inspect.iscoroutinefunction
_gettempdir, _join = tempfile.gettempdir, os.path.join
_get_cpu_time, _monotonic = time.process_time, time.monotonic


def _list_items(value: Any) -> list[Any]:
    found = [item for _, item in zip(range(_MAX_ITEMS + 1), value, strict=False)]
    if len(found) > _MAX_ITEMS:
        raise TooLargeError
    return found


_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    **{function.__name__: function for function in (len, str, repr, bool, int, float, abs, round)},
    "iterable": _list_items,
}


RunAsync = Callable[[Any], Any]


def load_async_runner(texts: list[list[str]]) -> RunAsync | None:
    """Return `asyncio.run` if a text needs it. Most do not, and to load it takes longer than to run them.

    Called before the code is loaded, which may replace it.
    """
    needs_it = any("async def " in text for text, _ in texts)
    return importlib.import_module("asyncio").run if needs_it else None


class Runner:
    """Runs the scenarios of texts and reports what they observe."""

    def __init__(
        self,
        send: Callable[..., None],
        module: str,
        run_async: RunAsync | None,
        surroundings: Surroundings | None = None,
    ) -> None:
        """`send` reports an event; `module` is the name of the module under test.

        `run_async` is what `load_async_runner` returns.
        """
        self._send, self._module, self._run_async = send, module, run_async
        self._size_left = _MAX_TOTAL
        self._library, self._surroundings = LibraryState(), surroundings
        self._has_warnings = False  # the text asks for them; else all is as in an ordinary program
        self._row_cpu_s, self._deadline = 0.0, float("inf")

    def run_all(self, texts: list[list[str]]) -> None:
        """Run texts one after the other, and report the end of each. Raises what a text raises.

        Each text has the source that takes the place of the module's, or ''.
        """
        for text, code in texts:
            if code:
                self._replace_module(code)
            self.run(text)
            self._send("end_text")

    def run(self, text: str) -> None:
        """Execute the text, then each row of its scenarios. Raises what the text raises.

        A text may limit the CPU time of each row (`row_cpu_s`), and the time in which rows are
        begun (`begin_for_s`).
        """
        names = (self.observe, self.observe_awaited, self.create_calls, Raising, equal, nullcontext)
        provided = {item.__name__: item for item in names} | {"operators": operator}
        module = create_module(text, provided)
        exec(compile(text, "<string>", "exec"), vars(module))
        asked = take_instructions(vars(module))
        self._row_cpu_s = float(asked.get("row_cpu_s", 0))
        self._has_warnings = bool(asked.get("records_warnings"))
        self._deadline = _monotonic() + float(asked.get("begin_for_s", "inf"))
        for number, (function, fixtures, tables) in enumerate(asked["scenarios"]):
            try:
                rows = build_rows(tables())
            except BaseException as error:
                self._send("begin", scenario=number, row=0)
                self._send("end_row", error=_describe(error))
                continue
            for row, arguments in enumerate(rows):
                if _monotonic() > self._deadline:
                    return
                self._run_row(number, row, function, fixtures, arguments)

    def _replace_module(self, code: str) -> None:
        module = types.ModuleType(self._module)
        sys.modules[self._module] = module
        exec(compile(code, f"{self._module}.py", "exec"), vars(module))

    def _run_row(
        self,
        scenario: int,
        row: int,
        function: Callable[..., Any],
        fixtures: tuple[str, ...],
        arguments: dict[str, Any],
    ) -> None:
        self._send("begin", scenario=scenario, row=row)
        folder, error = _join(_gettempdir(), name_folder(scenario, row)), None
        started = _get_cpu_time()
        try:
            with ExitStack() as stack:
                if self._row_cpu_s:
                    stack.enter_context(CpuTimeLimit(self._row_cpu_s))
                if self._has_warnings or "capsys" in fixtures:
                    stack.enter_context(silence_warnings())
                made = {name: create_fixture(name, folder, stack) for name in fixtures}
                result = function(**arguments, **made)
                if self._run_async and _is_async(function):
                    self._run_async(result)
        except BaseException as raised:
            error = _describe(raised)
        spent = _get_cpu_time() - started
        replaced = self._library.find_replaced()
        looked = self._surroundings.found if self._surroundings else ""
        self._send("end_row", error=error, replaced=replaced, looked=looked, cpu_s=spent)

    # What the text of a scenario calls.

    def observe(self, number: int, thunk: Callable[[], Any], *functions: str) -> Any:
        """Report the value of a call or its exception; return the value."""
        if isinstance(thunk, FunctionType) and thunk.__name__ == "<lambda>":
            # An ordinary program calls the code at its top level.
            thunk.__code__ = thunk.__code__.replace(co_name="<module>")
        with self._observation(number, functions) as values:
            values.append(thunk())
        return values[0] if values else Unavailable()

    async def observe_awaited(self, number: int, thunk: Callable[[], Any], *functions: str) -> Any:
        """Do the same for what the call returns when it is awaited."""
        with self._observation(number, functions) as values:
            values.append(await thunk())
        return values[0] if values else Unavailable()

    def create_calls(self, inputs: str, public: tuple[str, ...]) -> Calls:
        """Return what answers single calls of the module."""
        return Calls(self.observe, self._encode, self._module, inputs, public)

    @contextmanager
    def _observation(self, number: int, functions: tuple[str, ...]) -> Iterator[list[Any]]:
        values: list[Any] = []
        warned: list[Any] = []
        with record_warnings(warned) if self._has_warnings else nullcontext():
            try:
                yield values
            except BaseException as error:
                is_compared = self._row_cpu_s > 0  # by inputs, which nobody wrote
                shown = excuse_callback(error, self._module) if is_compared else error
                payload = {"error": self._encode_error(shown)}
            else:
                payload = self._encode_value(values[0], functions)
        self._report(number, payload | ({"warnings": warned} if warned else {}))

    def _encode_value(self, value: Any, functions: tuple[str, ...]) -> dict[str, Any]:
        if type(value) is Unavailable:
            return {"unavailable": True}
        encoded, is_plain = self._encode(value)
        payload = {"value": encoded}
        if not is_plain and functions:
            payload["applied"] = {name: self._apply(name, value) for name in functions}
        return payload

    def _encode(self, value: Any) -> tuple[Any, bool]:
        """Return the encoded value, and whether it is plain."""
        encoder = Encoder(min(_MAX_PAYLOAD, self._size_left), self._module)
        try:
            return encoder.encode(value), encoder.is_plain
        except TooLargeError:
            return _TOO_LARGE, False
        except BaseException:  # a method of the code, or too deep a stack
            return _UNREADABLE, False

    def _apply(self, name: str, value: Any) -> dict[str, Any]:
        try:
            return {"value": self._encode(_FUNCTIONS[name](value))[0]}
        except TooLargeError:
            return {"value": _TOO_LARGE}
        except BaseException as error:
            return {"error": self._encode_error(error)}

    def _encode_error(self, error: BaseException) -> list[Any]:
        try:
            return Encoder(min(_MAX_PAYLOAD, self._size_left), self._module).encode_exception(error)
        except BaseException:
            return [
                "exception",
                classes.name_bases(type(error)),
                classes.read_text(error)[:1000],
                {},
            ]

    def _report(self, number: int, payload: dict[str, Any]) -> None:
        text = _to_json(payload)
        self._size_left -= len(text) + text.count('"') + text.count("\\")
        if self._size_left < 0:
            text = '{"value":["unknown","too large"]}'
        self._send("observed", number=number, payload=text)


def _describe(error: BaseException) -> str:
    name = classes.name_bases(type(error))[0][1]
    return f"{name}: {classes.read_text(error)}"[:300]
