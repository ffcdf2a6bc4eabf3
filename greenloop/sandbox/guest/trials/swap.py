"""Edits of a file swapped into the loaded module: changed functions get new code objects.

If only bodies of functions change, the existing function objects get the new code. So all
references to them (in test modules, tables, closures of decorators) see the change, and classes
remain the same objects. All other changes need a new import of the module.
"""

import __future__

import gc
import sys
import tokenize
import types
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

_FUNCTION_FLAGS = 0x1 | 0x2  # CO_OPTIMIZED, CO_NEWLOCALS: a class body has neither
_SUSPENDABLE_TYPES = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
_CODE_ATTRIBUTES = ("gi_code", "cr_code", "ag_code")
# At module level they have already run when the tests are collected, so they cannot be swapped.
_COMPREHENSION_NAMES = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
FunctionKey = tuple[str, int]
ChangedFunctions = Mapping[FunctionKey, types.CodeType]


class EditedFile:
    """File to which edits are applied.

    An edit has `start`, `end`, `text`, and the `unit` around it: the part (start, end, first line,
    class name or '') that is compiled instead of the whole file.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        with open(path, "rb") as file:
            self._encoding = tokenize.detect_encoding(file.readline)[0]
        with open(path, encoding=self._encoding, errors="surrogatepass", newline="") as text:
            self.text = text.read()
        self._units: dict[tuple[Any, ...], types.CodeType] = {}
        self._flags = 0
        self._ambiguous: set[FunctionKey] = set()
        with suppress(SyntaxError, ValueError):
            code = self._compile(self.text)
            self._flags = code.co_flags & __future__.annotations.compiler_flag
            counts = Counter(function_key(item) for item in _walk_code(code))
            self._ambiguous = {name for name, count in counts.items() if count > 1}

    def write(self, edit: Mapping[str, Any]) -> None:
        """Write the file with the edit."""
        text = self.text[: edit["start"]] + edit["text"] + self.text[edit["end"] :]
        with open(self.path, "wb") as file:
            file.write(text.encode(self._encoding, "surrogatepass"))

    def compile_changed_functions(self, edit: Mapping[str, Any]) -> ChangedFunctions | None:
        """Return the new code of the changed functions; None if an edit changes anything else."""
        unit = start, end, line, owner = tuple(edit["unit"])
        edited = self.text[start : edit["start"]] + edit["text"] + self.text[edit["end"] : end]
        found: dict[FunctionKey, types.CodeType] = {}
        try:
            if unit not in self._units:
                self._units[unit] = self._compile_unit(self.text[start:end], line, owner)
            new = self._compile_unit(edited, line, owner)
        except (SyntaxError, ValueError):
            return None
        is_same = _collect_changed_functions(self._units[unit], new, found)
        return found if is_same and self._ambiguous.isdisjoint(found) else None

    def _compile_unit(self, text: str, line: int, owner: str) -> types.CodeType:
        above = "\n" * (line - 2) + f"class {owner}:\n" if owner else "\n" * (line - 1)
        return self._compile(above + text, self._flags)

    def _compile(self, text: str, flags: int = 0) -> types.CodeType:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code: types.CodeType = compile(text, self.path, "exec", flags, dont_inherit=True)
            return code


def function_key(code: types.CodeType) -> FunctionKey:
    """Return the key of a function: its name and first line."""
    return code.co_name, code.co_firstlineno


def _list_nested_code(code: types.CodeType) -> list[types.CodeType]:
    return [item for item in code.co_consts if isinstance(item, types.CodeType)]


def _walk_code(code: types.CodeType) -> Iterator[types.CodeType]:
    for item in _list_nested_code(code):
        yield item
        yield from _walk_code(item)


def _code_signature(code: types.CodeType) -> Any:
    """Return the behaviour of a code object, without line numbers and nested code objects."""
    constants = [
        "" if isinstance(item, types.CodeType) else (type(item).__name__, repr(item))
        for item in code.co_consts
    ]
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount, code.co_flags)
    handlers = getattr(code, "co_exceptiontable", b"")
    return (code.co_name, code.co_code, handlers, names, counts, constants)


def _collect_changed_functions(
    old: types.CodeType, new: types.CodeType, changed: dict[FunctionKey, types.CodeType]
) -> bool:
    """Collect the outermost functions that differ; return False if module-level code differs."""
    if old.co_flags & _FUNCTION_FLAGS == _FUNCTION_FLAGS:
        if old != new:
            if old.co_name in _COMPREHENSION_NAMES:
                return False
            changed[function_key(old)] = new
        return True
    inner, others = _list_nested_code(old), _list_nested_code(new)
    if _code_signature(old) != _code_signature(new) or len(inner) != len(others):
        return False
    return all(
        _collect_changed_functions(item, other, changed)
        for item, other in zip(inner, others, strict=True)
    )


class LoadedFunctions:
    """Functions of one file in this process, after its tests were collected."""

    def __init__(self, path: str, called: set[FunctionKey]) -> None:
        """`called` are functions that ran before the tests: a change of these needs a new import."""
        self._called = called
        self._functions: dict[FunctionKey, list[types.FunctionType]] = {}
        self._has_suspended_code = False
        gc.unfreeze()  # else objects from before a fork would not be listed
        for item in gc.get_objects():
            if type(item) is types.FunctionType and item.__code__.co_filename == path:
                self._functions.setdefault(function_key(item.__code__), []).append(item)
            elif type(item) in _SUSPENDABLE_TYPES:
                code = next(getattr(item, name) for name in _CODE_ATTRIBUTES if hasattr(item, name))
                self._has_suspended_code |= code.co_filename == path

    def can_replace(self, changed: ChangedFunctions | None) -> bool:
        """Return whether new code objects in these functions have the effect of the change."""
        return (
            bool(changed)
            and not self._has_suspended_code
            and self._called.isdisjoint(changed or ())
            and all(self._fits(name, code) for name, code in (changed or {}).items())
        )

    def _fits(self, name: FunctionKey, code: types.CodeType) -> bool:
        count = len(code.co_freevars)
        functions = self._functions.get(name, ())
        return bool(functions) and all(len(f.__code__.co_freevars) == count for f in functions)

    def replace(self, changed: ChangedFunctions) -> None:
        """Replace the code of functions."""
        for name, code in changed.items():
            for function in self._functions[name]:
                function.__code__ = code


def is_loaded(path: str) -> bool:
    """Return whether a module of this process was loaded from a file."""
    modules = [item for item in list(sys.modules.values()) if isinstance(item, types.ModuleType)]
    return any(vars(item).get("__file__") == path for item in modules)
