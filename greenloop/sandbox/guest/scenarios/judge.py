"""Judgement of observed rows by the tests, in a process without the code."""

from __future__ import annotations

import collections
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from . import checks
from .checks import DiffersError, Observation, Raised
from .decoder import build_call
from .descriptions import NotObservableError
from .parameters import Tables, build_rows, create_module
from .stand_ins import REQUIRED, ClassStandIn, type_of

_MAX_REASON = 300


class Judge:
    """Judges rows: `[scenario, row, [[number, payload], ...], error or null, has ended]`."""

    def __init__(self, send: Callable[..., None], rows: list[list[Any]]) -> None:
        self._send = send
        self._rows = {(scenario, row): rest for scenario, row, *rest in rows}
        self._line = 0
        self._taken: list[Observation] = []
        self._names: dict[str, str] = {}
        self._all: dict[int, list[str]] = {}
        self._waiting: dict[int, collections.deque[str]] = {}

    def run(self, text: str) -> None:
        """Execute the text of the tests and report the outcome of each row."""
        module = create_module(text, self._build_names())
        exec(compile(text, "<judge>", "exec"), vars(module))
        self._names = vars(module).get("names", {})
        judges = [_prepare_rows(*judge) for judge in vars(module)["judges"]]
        for scenario, rows in enumerate(judges):
            for row, function in enumerate(rows):
                self._line = 0
                self._taken = []
                outcome, reason = self._judge_row((scenario, row), function)
                found = {"scenario": scenario, "row": row, "outcome": outcome, "line": self._line}
                has_objects = any(item.has_objects for item in self._taken)
                reason = reason[:_MAX_REASON]
                self._send("judged", **found, reason=reason, has_objects=has_objects)

    def _judge_row(self, key: tuple[int, int], function: Callable[[], Any]) -> tuple[str, str]:
        if key not in self._rows:
            return "differs", "the code did not come so far"
        observations, error, has_ended = self._rows[key]
        if not has_ended:
            error = "the code ended its process"
        self._all = {}
        for number, payload in observations:
            text = re.sub(r"definition__\d+", self._restore_name, payload)
            self._all.setdefault(number, []).append(text)
        self._waiting = {number: collections.deque(found) for number, found in self._all.items()}
        try:
            function()
        except NotObservableError as refusal:
            return "not observable", str(refusal)
        except (DiffersError, AssertionError) as difference:
            return "differs", error or _read_text(difference)
        except BaseException as other:
            if error is None:
                return "not observable", f"{type(other).__name__}: {_read_text(other)}"
        return ("agrees", "") if error is None else ("differs", error)

    def _restore_name(self, found: re.Match[str]) -> str:
        """Return the name that a test gave a definition, for the one that it had beside the code."""
        return self._names.get(found[0], found[0])

    def _build_names(self) -> dict[str, Any]:
        own = (self.take, self.completed, self.raised, self.warned, self.at, self.symbol)
        checked = (checks.is_instance, checks.is_subclass, checks.is_same, type_of)
        compared = (checks.count_equal, checks.re_search, checks.almost_equal)
        return {
            **{function.__name__: function for function in (*own, *checked, *compared)},
            "strictly_equal": checks.is_strictly_equal,
            "REQUIRED": REQUIRED,
            "call": build_call,
        }

    # What the text of the tests calls.

    def at(self, line: int) -> None:
        """Set the line of the test file that is judged."""
        self._line = line

    def take(self, number: int) -> Observation:
        """Return the next observation of a number; using it shows whether there is one."""
        waiting = self._waiting.get(number)
        self._taken.append(Observation(waiting.popleft() if waiting else None))
        return self._taken[-1]

    def completed(self, number: int) -> None:
        """Check that no exception was raised."""
        self.take(number).check_completed()

    def raised(
        self, numbers: tuple[int, ...], classes: Any = Exception, match: Any = None
    ) -> Raised:
        """Check that the first exception of these observations is the expected one."""
        for item in [self.take(number) for number in numbers]:
            error = item.get_exception()
            if error is None:
                continue
            if not checks.fits(error, classes, match):
                raise DiffersError(f"raised {error.observed__.bases[0][1]}: {error}")
            return Raised(error)
        raise DiffersError("did not raise")

    def warned(
        self, numbers: tuple[int, ...], classes: Any = Warning, match: Any = None
    ) -> list[Raised]:
        """Check that one of the warnings is the expected one; return all of them.

        Nothing is taken: the values of the same observations are asked for elsewhere.
        """
        seen = [Observation(item) for number in numbers for item in self._all.get(number, ())]
        found = [item for observation in seen for item in observation.get_warnings()]
        if not any(checks.fits(item, classes, match) for item in found):
            raise DiffersError("no such warning")
        return [Raised(item) for item in found]

    def symbol(self, module: str, name: str, kind: Any = "class", fields: Any = ()) -> ClassStandIn:
        """Return a stand-in for a class of the module."""
        return ClassStandIn([[module, name]], kind, fields)


def _prepare_rows(function: Callable[..., Any], tables: Callable[[], Tables]) -> list[Any]:
    """Return the function with the arguments of each row; where there are none, one that says why."""
    try:
        return [partial(function, **arguments) for arguments in build_rows(tables())]
    except BaseException as error:
        return [partial(_raise, error)]


def _raise(error: BaseException) -> None:
    raise error


def _read_text(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # it shows a stand-in
        return ""
