"""Answers calls on a module in plain tagged values. What they should give is never told here."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import sys
import types
from typing import Any

_MAX_DEPTH = 50


def encode_value(value: Any, depth: int = 0) -> list[Any]:
    """A value as `[tag, content]`; subclasses of built-in types collapse to the built-in, and
    numpy's numbers, which tests take for equal to them, too.

    Else only methods of the built-in types are used: those of the value's own class could lie.
    """
    if depth > _MAX_DEPTH:
        return ["other", "nested too deeply"]
    for kind, name, encode in _SCALAR_ENCODERS:
        if issubclass(type(value), kind):
            return [name, encode(value)]
    for kind, name in _SEQUENCE_TAGS:
        if issubclass(type(value), kind):
            return [name, [encode_value(item, depth + 1) for item in kind.__iter__(value)]]
    if issubclass(type(value), dict):
        pairs = dict.items(value)
        return [
            "dict",
            [[encode_value(k, depth + 1), encode_value(v, depth + 1)] for k, v in pairs],
        ]
    if any(
        kind.__module__ == "numpy" and kind.__name__ == "generic" for kind in type(value).__mro__
    ):
        return encode_value(value.item(), depth + 1)
    return ["other", type(value).__name__[:200]]


_COMPLEX_PARTS: list[Any] = [vars(complex)["real"], vars(complex)["imag"]]
_SCALAR_ENCODERS: list[tuple[type, str, Any]] = [
    (type(None), "none", lambda value: None),
    (bool, "bool", lambda value: int.__index__(value) == 1),
    (int, "int", lambda value: hex(int.__index__(value))),
    (float, "float", lambda value: float.hex(value)),
    (complex, "complex", lambda value: [float.hex(part.__get__(value)) for part in _COMPLEX_PARTS]),
    (str, "str", lambda value: str.encode(value, "utf-8", "surrogatepass").hex()),
    (
        bytes,
        "bytes",
        lambda value: base64.b64encode(bytes.__getitem__(value, slice(None))).decode(),
    ),
]
_SEQUENCE_TAGS: list[tuple[Any, str]] = [
    (list, "list"),
    (tuple, "tuple"),
    (set, "set"),
    (frozenset, "frozenset"),
]


def evaluate_call(call: str, namespace: dict[str, Any]) -> dict[str, Any]:
    """What one call gives: a tagged value, or the names of the exception's classes."""
    try:
        return {"value": encode_value(eval(compile(call, "<call>", "eval"), namespace))}
    except BaseException as error:  # whatever the module raises is the answer
        return {
            "raised": [kind.__name__ for kind in type(error).__mro__],
            "message": _error_message(error),
        }


def _error_message(error: BaseException) -> str:
    try:
        return str.encode(str(error), "utf-8", "backslashreplace").decode()[:500]
    except BaseException:
        return ""


def unload_test_modules() -> None:
    """Nothing here shall tell the module that it is tried out: it is imported as any program would.

    The process may come from one that has pytest ready for runs of tests.
    """
    for name in list(sys.modules):
        if name.partition(".")[0] in _TEST_MODULES:
            del sys.modules[name]
    sys.argv[:] = ["-c"]
    sys.modules["__main__"] = types.ModuleType("__main__")


_TEST_MODULES = frozenset({"_pytest", "pytest", "pluggy", "iniconfig"})


def load_module(folder: str, module: str) -> dict[str, Any]:
    """The module's names, freshly executed."""
    spec = importlib.util.spec_from_file_location(module, os.path.join(folder, module + ".py"))
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
    unload_test_modules()
    names = load_module(job["work"], job["module"])
    for number, call in enumerate(job["calls"]):
        send({"event": "answer", "call": number, **evaluate_call(call, names)})
    send({"event": "end", "exit_status": 0})
    return 0
