"""Entry point of calls: evaluates calls on a module and reports tagged plain values.

The expected values are never sent to this process.
"""

from __future__ import annotations

import base64
import importlib.util
import os
import sys
import types
from typing import Any

from ..protocol.framing import Channel

_MAX_DEPTH = 50
_TEST_MODULES = frozenset({"_pytest", "pytest", "pluggy", "iniconfig"})


def encode_value(value: Any, depth: int = 0) -> list[Any]:
    """Return a value as `[tag, content]`.

    Instances of subclasses of built-in types are encoded as the built-in type, by its methods, since
    those of the value's own class could lie. Scalars of numpy, which tests compare equal to plain
    numbers, are encoded as plain numbers.
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
        return ["dict", [[encode_value(item, depth + 1) for item in pair] for pair in pairs]]
    if any((kind.__module__, kind.__name__) == _NUMPY_SCALAR for kind in type(value).__mro__):
        return encode_value(value.item(), depth + 1)
    return ["other", type(value).__name__[:200]]


_NUMPY_SCALAR = ("numpy", "generic")
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
    """Return the tagged value of a call, or the exception's class names and message."""
    try:
        return {"value": encode_value(eval(compile(call, "<call>", "eval"), namespace))}
    except BaseException as error:  # whatever the module raises is the result
        names = [kind.__name__ for kind in type(error).__mro__]
        return {"raised": names, "message": _error_message(error)}


def _error_message(error: BaseException) -> str:
    try:
        return str.encode(str(error), "utf-8", "backslashreplace").decode()[:500]
    except BaseException:
        return ""


def unload_test_modules() -> None:
    """Remove traces of pytest, so that the module cannot detect that it is being tested.

    The process may be a fork of a zygote that has pytest loaded.
    """
    for name in list(sys.modules):
        if name.partition(".")[0] in _TEST_MODULES:
            del sys.modules[name]
    sys.argv[:] = ["-c"]
    sys.modules["__main__"] = types.ModuleType("__main__")


def load_module(folder: str, module: str) -> dict[str, Any]:
    """Execute a module of the folder and return its namespace."""
    spec = importlib.util.spec_from_file_location(module, os.path.join(folder, module + ".py"))
    if spec is None or spec.loader is None:
        raise ImportError(module)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[module] = loaded
    spec.loader.exec_module(loaded)
    return vars(loaded)


def main(job: dict[str, Any], result_fd: int) -> int:
    """Evaluate the job's calls on its module, and report each."""
    channel = Channel(result_fd, job.pop("key"))
    unload_test_modules()
    namespace = load_module(job["work"], job["module"])
    for number, call in enumerate(job["calls"]):
        channel.send("answer", call=number, **evaluate_call(call, namespace))
    channel.send("end", exit_status=0)
    return 0
