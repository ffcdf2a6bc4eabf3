"""Single calls of the module, each on newly built arguments, and a generator of such calls."""

import ast
import datetime
import decimal
import enum
import fractions
import functools
import importlib
import inspect
import io
import math
import random
import sys
import types
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from typing import Any

from .iterators import finish
from .precondition import Arguments, Precondition

ALLOWED, ANSWER, AFTER, BEFORE, PRINTED = range(5)
ENDING = 99_999  # number of the observation of the exception that ended a program
_MUTABLE = (list, dict, set, bytearray)
_MARK = "constant__"  # attribute of a marked number: the name of its constant
_MAX_TEXT, _TEXTS_AT_ONCE = 2000, 25
_VALUE_TYPES = (
    decimal.Decimal, fractions.Fraction, datetime.date, datetime.datetime, datetime.time,
    datetime.timedelta, datetime.timezone,
)  # fmt: skip
# Equal values of these types may be one object, which then does not identify a constant.
_SHARED_TYPES = (int, float, type(None))


def _mark(name: str, value: Any) -> Any:
    """Return an equal number that carries a constant's name, because other numbers may be equal."""
    return type(type(value).__name__, (type(value),), {_MARK: name})(value)


class _ModuleAndClass:
    """Object for the name `datetime` in a call, which may mean the module or the class."""

    def __call__(self, *given: Any, **named: Any) -> datetime.datetime:
        return datetime.datetime(*given, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(datetime if hasattr(datetime, name) else datetime.datetime, name)


class Calls:
    """Evaluator of calls that are given as expressions over the names of the module.

    `inputs` is the source of a precondition `allowed` and a generator `inputs`, '' for none; it can
    use the names of the module. If there are several `public` functions, or a class with methods,
    both have the name as first argument.
    """

    def __init__(
        self,
        observe: Callable[..., Any],
        encode: Callable[[Any], Any],
        module: str,
        inputs: str,
        public: tuple[str, ...],
    ) -> None:
        __import__(module)
        self._names: dict[str, Any] = {
            "inf": math.inf,
            "nan": math.nan,
            **{item.__name__: item for item in _VALUE_TYPES},
            **vars(sys.modules[module]),
        }
        self._observe, self._encode = observe, encode
        constants = {k: v for k, v in vars(sys.modules[module]).items() if k.isupper()}
        marked = {k: _mark(k, v) for k, v in constants.items() if type(v) in (int, float)}
        self._public, self._source = public, _compile_inputs(inputs)
        self._own, self._marked = dict(self._names), self._names | marked
        if self._names["datetime"] in (datetime, datetime.datetime):
            self._names["datetime"] = _ModuleAndClass()
        exec(self._source, self._own)
        allowed = self._own.get("allowed") if inputs else None
        is_class = any(isinstance(self._names.get(item), type) for item in public)
        self._has_names = len(public) > 1 or is_class or _takes_name(allowed)
        self._precondition = Precondition(allowed, self._has_names)
        self._constants = {
            id(value): name
            for name, value in constants.items()
            if id(value) != id(()) and not isinstance(value, _SHARED_TYPES)
        }

    def answer(self, call: str) -> None:
        """Observe the answer of a call, and its arguments after and before if it changes them.

        If it returns `None` or is `main`, its output is observed too. A call that is not allowed is
        not made, and only its refusal is observed.
        """
        tree = ast.parse(call, mode="eval").body
        if not isinstance(tree, ast.Call):
            raise TypeError("not a call")
        name, code = ast.unparse(tree.func), _compile(tree)
        if self._precondition.allowed is not None:
            function, given, named = self._evaluate(code)
            if not self._asks(name, function, (given, named)):
                return
        function, given, named = self._evaluate(code)
        written = io.BytesIO()
        output = io.TextIOWrapper(written, "utf-8", "replace", write_through=True)
        with redirect_stdout(output):
            answer = self._observe(ANSWER, lambda: finish(function(*given, **named)))
        is_silent = written.closed or not (answer is None or name == "main")
        if not is_silent and (printed := written.getvalue()):
            self._observe(PRINTED, lambda: printed.decode("utf-8", "replace"))
        if any(isinstance(item, _MUTABLE) for item in (*given, *named.values())):
            after, before = (given, named), tuple(self._evaluate(code)[1:])
            if self._encode(after) != self._encode(before):
                self._observe(AFTER, lambda: after)
                self._observe(BEFORE, lambda: before)

    def _asks(self, name: str, function: Any, arguments: Arguments) -> bool:
        """Return whether the precondition allows a call; if not, observe its refusal or error."""
        try:
            is_allowed = self._precondition.is_allowed(name, function, arguments)
        except BaseException as error:  # includes that of the limit of CPU time
            self._observe(ALLOWED, functools.partial(_raise, error))
            return False
        if not is_allowed:
            self._observe(ALLOWED, lambda: False)
        return is_allowed

    def answer_steps(self, text: str, **fixtures: Any) -> None:
        """Run statements over the names of the module; observe the last, which is an expression.

        Modules of the standard library need no import statement, and are loaded if they are used.
        """
        tree = ast.parse(text.strip())
        names, steps = {**self._names, **fixtures}, list[Any](tree.body)
        last = steps.pop()
        owners = (node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute))
        for name in {node.id for node in owners if isinstance(node, ast.Name)}.difference(names):
            if name in sys.stdlib_module_names:
                names[name] = importlib.import_module(name)
        exec(compile(ast.Module(steps, []), "<call>", "exec"), names)
        expression = compile(ast.Expression(last.value), "<call>", "eval")
        self._observe(0, lambda: eval(expression, names))

    def guard(self, name: str) -> Any:
        """Return an attribute of the module that checks the precondition before its calls."""
        return self._precondition.guard(name, self._names[name])

    def _evaluate(self, code: types.CodeType) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """Evaluate a call's function, positional and keyword arguments anew, and return them."""
        made: tuple[Any, tuple[Any, ...], dict[str, Any]] = eval(code, dict(self._names))
        return made

    def generate(self, seed: str, count: int) -> None:
        """Observe the calls, or sequences of calls, that `inputs` yields, 25 per observation."""
        exec(self._source, self._marked)
        source = self._marked.get("inputs")
        found = iter(source(random.Random(seed)) if source else ())
        for number in range(0, count, _TEXTS_AT_ONCE):
            texts = [
                self._render(item) for _, item in zip(range(_TEXTS_AT_ONCE), found, strict=False)
            ]
            self._observe(number, lambda texts=texts: [item for item in texts if item])
            if len(texts) < _TEXTS_AT_ONCE:
                return

    def _render(self, item: Any) -> str:
        """Return a call, calls on the first call's result, or statements as text; else ''."""
        with suppress(Exception):
            if isinstance(item, list) and self._is_program(item):
                return self._limit("\n".join(item))
            if isinstance(item, list) and item and all(map(_is_step, item)):
                return self._limit("; ".join(self._render_call(*step) for step in item))
            arguments = item if isinstance(item, tuple) else (item,)
            if self._has_names and type(arguments[0]) is str and arguments[0] in self._public:
                return self._limit(self._render_call(*arguments))
            if len(self._public) == 1:
                return self._limit(self._render_call(self._public[0], *arguments))
        return ""

    def _is_program(self, item: list[Any]) -> bool:
        """Return whether a list has statements that use the module; else it is an argument."""
        if not all(isinstance(line, str) for line in item):
            return False
        with suppress(SyntaxError, ValueError):
            nodes = ast.walk(ast.parse("\n".join(item)))
            return any(isinstance(node, ast.Name) and node.id in self._public for node in nodes)
        return False

    def _render_call(self, name: str, *arguments: Any) -> str:
        return f"{name}({', '.join(map(self._show, arguments))})"

    def _show(self, value: Any) -> str:
        """Return the text of an argument, with the names of the module's constants."""
        if isinstance(value, enum.Enum):
            return f"{type(value).__qualname__}.{value.name}"
        if type(value) is list:
            return f"[{', '.join(map(self._show, value))}]"
        name = getattr(value, _MARK, "") if isinstance(value, (int, float)) else ""
        return name or self._constants.get(id(value)) or repr(value)

    def _limit(self, text: str) -> str:
        return text if len(text) <= _MAX_TEXT else ""


def _compile_inputs(source: str) -> types.CodeType:
    """Compile the source of `inputs` and `allowed`, which is run on plain and marked constants."""
    return compile(source, "<inputs>", "exec")


def _compile(call: ast.Call) -> types.CodeType:
    """Compile an expression that evaluates the function and the arguments of a call anew."""
    place: Any = {"lineno": 1, "col_offset": 0}
    names: list[ast.expr | None] = [
        ast.Constant(item.arg, **place) if item.arg else None for item in call.keywords
    ]
    parts = [
        call.func,
        ast.Tuple(call.args, ast.Load(), **place),
        ast.Dict(names, [item.value for item in call.keywords], **place),
    ]
    return compile(ast.Expression(ast.Tuple(parts, ast.Load(), **place)), "<call>", "eval")


def _raise(error: BaseException) -> None:
    raise error


def _takes_name(allowed: Any) -> bool:
    """Return whether a precondition has the form for several names: `allowed(name, *arguments)`."""
    with suppress(TypeError, ValueError):
        first, second, *_ = inspect.signature(allowed).parameters.values()
        return first.name == "name" and second.kind is second.VAR_POSITIONAL
    return False


def _is_step(item: Any) -> bool:
    return (
        isinstance(item, tuple)
        and bool(item)
        and isinstance(item[0], str)
        and item[0].isidentifier()
    )
