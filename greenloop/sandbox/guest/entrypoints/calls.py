"""Answers calls on a module in plain tagged values. What they should give is never told here."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import sys
import types
from typing import Any

_DEPTH = 50


def tagged(value: Any, depth: int = 0) -> list[Any]:
    """A value as `[tag, content]`; subclasses of built-in types collapse to the built-in, and
    numpy's numbers, which tests take for equal to them, too.

    Else only methods of the built-in types are used: those of the value's own class could lie.
    """
    if depth > _DEPTH:
        return ["other", "nested too deeply"]
    for kind, name, encode in _SCALARS:
        if issubclass(type(value), kind):
            return [name, encode(value)]
    for kind, name in _SEQUENCES:
        if issubclass(type(value), kind):
            return [name, [tagged(item, depth + 1) for item in kind.__iter__(value)]]
    if issubclass(type(value), dict):
        pairs = dict.items(value)
        return ["dict", [[tagged(k, depth + 1), tagged(v, depth + 1)] for k, v in pairs]]
    if any(
        kind.__module__ == "numpy" and kind.__name__ == "generic" for kind in type(value).__mro__
    ):
        return tagged(value.item(), depth + 1)
    return ["other", type(value).__name__[:200]]


_PARTS: list[Any] = [vars(complex)["real"], vars(complex)["imag"]]
_SCALARS: list[tuple[type, str, Any]] = [
    (type(None), "none", lambda value: None),
    (bool, "bool", lambda value: int.__index__(value) == 1),
    (int, "int", lambda value: hex(int.__index__(value))),
    (float, "float", lambda value: float.hex(value)),
    (complex, "complex", lambda value: [float.hex(part.__get__(value)) for part in _PARTS]),
    (str, "str", lambda value: str.encode(value, "utf-8", "surrogatepass").hex()),
    (
        bytes,
        "bytes",
        lambda value: base64.b64encode(bytes.__getitem__(value, slice(None))).decode(),
    ),
]
_SEQUENCES: list[tuple[Any, str]] = [
    (list, "list"),
    (tuple, "tuple"),
    (set, "set"),
    (frozenset, "frozenset"),
]


def answer(call: str, names: dict[str, Any]) -> dict[str, Any]:
    """What one call gives: a tagged value, or the names of the exception's classes."""
    try:
        return {"value": tagged(eval(compile(call, "<call>", "eval"), names))}
    except BaseException as error:  # whatever the module raises is the answer
        return {"raised": [kind.__name__ for kind in type(error).__mro__], "message": _shown(error)}


def _shown(error: BaseException) -> str:
    try:
        return str.encode(str(error), "utf-8", "backslashreplace").decode()[:500]
    except BaseException:
        return ""


def forget_tests() -> None:
    """Nothing here shall tell the module that it is tried out: it is imported as any program would.

    The process may come from one that has pytest ready for runs of tests.
    """
    for name in list(sys.modules):
        if name.partition(".")[0] in _OF_TESTS:
            del sys.modules[name]
    sys.argv[:] = ["-c"]
    sys.modules["__main__"] = types.ModuleType("__main__")


_OF_TESTS = frozenset({"_pytest", "pytest", "pluggy", "iniconfig"})


def load(work: str, module: str) -> dict[str, Any]:
    """The module's names, freshly executed."""
    spec = importlib.util.spec_from_file_location(module, os.path.join(work, module + ".py"))
    if spec is None or spec.loader is None:
        raise ImportError(module)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[module] = loaded
    spec.loader.exec_module(loaded)
    return vars(loaded)


def main(job: dict[str, Any], handle: int) -> int:
    """Answers the job's calls on its module, one JSON line each."""

    def send(event: dict[str, Any]) -> None:
        data = f"{key} {json.dumps(event)}\n".encode()
        while data:
            data = data[os.write(handle, data) :]

    key = job.pop("key")
    forget_tests()
    names = load(job["work"], job["module"])
    for number, call in enumerate(job["calls"]):
        send({"event": "answer", "call": number, **answer(call, names)})
    send({"event": "end", "exit_status": 0})
    return 0
