"""Runner of programs in the process of the code, without pytest and without expected values."""

import builtins
import importlib
import inspect
import json
import operator
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from types import FunctionType, TracebackType
from typing import Any, NamedTuple

from ..limits.cpu_time import CpuTimeExceeded, CpuTimeLimit
from . import classes
from .encoder import Encoder, TooLargeError
from .fixtures import create_fixture
from .inputs.callbacks import excuse_callback
from .inputs.calls import ENDING, Calls
from .program_module import MODULE_NAME, create_module, name_folder, take_instructions
from .surroundings import Surroundings

_MAX_PAYLOAD, _MAX_TOTAL = 1 << 18, 5 << 20
_TOO_LARGE, _UNREADABLE = ["unknown", "too large"], ["unknown", "cannot be read"]
# References to functions that the module under test, or a test with monkeypatch, may replace.
_to_json = json.JSONEncoder(separators=(",", ":")).encode
_is_async = inspect.iscoroutinefunction
_gettempdir, _join = tempfile.gettempdir, os.path.join
_getcwd, _listdir, _chdir = os.getcwd, os.listdir, os.chdir
_mkdir, _rmtree = os.mkdir, shutil.rmtree
_get_cpu_time = time.process_time
_OPERATORS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "Add": ("add", operator.add),
    "Sub": ("sub", operator.sub),
    "Mult": ("mul", operator.mul),
    "Div": ("truediv", operator.truediv),
    "FloorDiv": ("floordiv", operator.floordiv),
    "Mod": ("mod", operator.mod),
    "Pow": ("pow", operator.pow),
    "BitAnd": ("and", operator.and_),
    "BitOr": ("or", operator.or_),
    "BitXor": ("xor", operator.xor),
}


# Functions by which tests inspect results, and which no module has a reason to replace for others.
_PURE = {
    name: vars(builtins)[name]
    for name in (
        "abs all any bool callable dict enumerate filter float getattr hasattr int isinstance"
        " issubclass iter len list map max min next range repr reversed round set sorted str sum"
        " tuple type zip"
    ).split()
}
_known = vars(builtins)


def _find_replaced() -> str:
    """Return the name of a built-in function that has been replaced, '' for none."""
    return next((name for name, item in _PURE.items() if _known.get(name) is not item), "")


def _enter_empty_folder(path: str, stack: ExitStack) -> None:
    """Change to a new folder, so that two programs find the same under relative paths.

    A current folder with more than modules, such as a project's, is not left.
    """
    if not all(name.endswith(".py") for name in _listdir()):
        return
    stack.callback(_rmtree, path, ignore_errors=True)
    stack.callback(_chdir, _getcwd())
    _rmtree(path, ignore_errors=True)  # left by a process that was killed
    _mkdir(path)
    _chdir(path)


class Place(NamedTuple):
    """Name of the programs' module, function that creates a folder for `tmp_path`, and working
    folder ('': the present one).
    """

    module: str = MODULE_NAME
    create_folder: Callable[[], str] | None = None
    folder: str = ""


RunAsync = Callable[[Any], Any]


def load_async_runner(text: str) -> RunAsync | None:
    """Return `asyncio.run` if a text needs it, else None: loading it is slower than most programs.

    Called before the code is loaded, which may replace it.
    """
    return importlib.import_module("asyncio").run if "async def " in text else None


class Runner:
    """Runner of the programs of a text, which reports their observations."""

    def __init__(
        self,
        send: Callable[..., None],
        module: str,
        run_async: RunAsync | None,
        surroundings: Surroundings | None = None,
        place: Place | None = None,
    ) -> None:
        """`send` reports events; `module` is under test; `run_async`: see `load_async_runner`."""
        self._send, self._module, self._run_async = send, module, run_async
        self._surroundings, self._place = surroundings, place or Place()
        self._size_left = _MAX_TOTAL
        self._is_own = False  # whether an operator of the code returned a plain value
        self._row_cpu_s = 0.0
        self._seen: dict[int, tuple[int, Any]] = {}

    def run(self, text: str) -> None:
        """Execute the text, then each row of its programs. Raises what the text raises.

        A text may limit the CPU time of each row (`row_cpu_s`), and the CPU time after which no row
        is begun (`begin_for_cpu_s`).
        """
        names = (self.see, self.attempt, self.raising, self.operate, self.create_calls)
        module = create_module(text, {item.__name__: item for item in names}, self._place.module)
        if self._place.folder:
            _chdir(self._place.folder)
        exec(compile(text, "<string>", "exec"), vars(module))
        asked = take_instructions(vars(module))
        self._row_cpu_s = float(asked.get("row_cpu_s", 0))
        end = _get_cpu_time() + float(asked.get("begin_for_cpu_s", "inf"))
        for number, (function, fixtures, rows) in enumerate(asked["programs"]):
            for row, arguments in enumerate(rows):
                if _get_cpu_time() > end:
                    return
                self._run_row(number, row, function, fixtures, arguments)

    def _run_row(
        self,
        program: int,
        row: int,
        function: Callable[..., Any],
        fixtures: tuple[str, ...],
        arguments: tuple[Any, ...],
    ) -> None:
        self._send("begin", program=program, row=row)
        folder, error = _join(_gettempdir(), name_folder(program, row)), None
        self._seen, self._is_own, started = {}, False, _get_cpu_time()
        if self._surroundings:
            self._surroundings.begin_row()
        try:
            with ExitStack() as stack:
                if self._row_cpu_s:
                    stack.enter_context(CpuTimeLimit(self._row_cpu_s))
                    _enter_empty_folder(f"{folder}.cwd", stack)
                if "tmp_path" in fixtures and self._place.create_folder:
                    folder = self._place.create_folder()
                made = {name: create_fixture(name, folder, stack) for name in fixtures}
                result = function(*arguments, **made)
                if self._run_async and _is_async(function):
                    self._run_async(result)
        except BaseException as raised:
            error = self._describe(raised)
            if self._row_cpu_s and isinstance(function, FunctionType):
                self.report_error(ENDING, excuse_callback(raised, self._module))
        spent = _get_cpu_time() - started
        looked = self._surroundings.found if self._surroundings else ""
        is_earlier = bool(self._surroundings and self._surroundings.is_earlier)
        found = {"looked": looked, "looked_earlier": is_earlier, "replaced": _find_replaced()}
        self._send("end_row", error=error, cpu_s=spent, **found)

    def _describe(self, error: BaseException) -> str:
        name = classes.name_bases(type(error))[0][1]
        return f"{name}: {classes.read_text(error)}"[:300]

    # Functions that the text of a program calls.

    def see(self, number: int, value: Any) -> None:
        """Report a value."""
        self._report(number, {"value": self.encode(value), **self._tell_own()})

    def raising(self, number: int) -> "_Raising":
        """Return a context manager that reports and suppresses the exception of its block."""
        return _Raising(self, number)

    def operate(self, name: str, left: Any, right: Any) -> Any:
        """Apply an operator; note whether an operator of the code returned a plain value."""
        method, function = _OPERATORS[name]
        value = function(left, right)
        is_own = classes.has_own_operator(left, method) or classes.has_own_operator(right, method)
        self._is_own = self._is_own or (is_own and classes.is_plain(value))
        return value

    def create_calls(self, inputs: str, public: tuple[str, ...]) -> Calls:
        """Return an evaluator of single calls of the module."""
        return Calls(self.attempt, self.encode, self._module, inputs, public)

    def attempt(self, number: int, thunk: Callable[[], Any]) -> Any:
        """Report and return the value of a call, or its exception."""
        try:
            value = thunk()
        except BaseException as error:
            is_compared = self._row_cpu_s > 0  # on generated inputs
            shown = excuse_callback(error, self._module) if is_compared else error
            self.report_error(number, shown)
            return error
        self.see(number, value)
        return value

    def report_error(self, number: int, error: BaseException) -> None:
        """Report an exception."""
        try:
            encoded = self._create_encoder().encode_exception(error)
        except BaseException:
            name, text = classes.name_bases(type(error)), classes.read_text(error)
            encoded = ["exception", name, text[:1000], {}]
        self._report(number, {"error": encoded})

    def encode(self, value: Any) -> Any:
        """Return a value as JSON values."""
        try:
            return self._create_encoder().encode(value)
        except TooLargeError:
            return _TOO_LARGE
        except BaseException:  # of a method of the code, or of too deep a stack
            return _UNREADABLE

    def _create_encoder(self) -> Encoder:
        return Encoder(min(_MAX_PAYLOAD, self._size_left), self._module, self._number)

    def _number(self, value: Any) -> int:
        """Return a number for an object, and hold the object so that its id is not reused."""
        return self._seen.setdefault(id(value), (len(self._seen) + 1, value))[0]

    def _tell_own(self) -> dict[str, Any]:
        return {"own": True} if self._is_own else {}

    def _report(self, number: int, payload: dict[str, Any]) -> None:
        text = _to_json(payload)
        self._size_left -= len(text) + text.count('"') + text.count("\\")
        if self._size_left < 0:
            text = '{"value":["unknown","too large"]}'
        self._send("observed", number=number, payload=text)


class _Raising:
    """Replacement of `pytest.raises` that accepts any exception: no class is expected here."""

    def __init__(self, runner: Runner, number: int) -> None:
        self._runner, self._number = runner, number

    def __enter__(self) -> "_Raising":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if isinstance(error, CpuTimeExceeded):
            return False
        if error is None:
            self._runner.see(self._number, None)
            return False
        self.value = self.exception = error
        self.type, self.typename, self.tb = kind, kind.__name__ if kind else "", trace
        self._runner.report_error(self._number, error)
        return True
