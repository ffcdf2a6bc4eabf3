"""Mutants and patches swapped into a loaded module: changed functions get new code objects.

Where only bodies of functions change, the existing function objects get the new code. So all
references to them (in test modules, tables, closures of decorators) see the change, and classes
stay the same objects. All other changes need a new import of the module.
"""

from __future__ import annotations
import __future__

import gc
import importlib.util
import sys
import types
import warnings
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from typing import Any

from .loop_counter import LoopMarks

_FUNCTION_FLAGS = 0x1 | 0x2  # CO_OPTIMIZED, CO_NEWLOCALS: a class body has neither
_SUSPENDABLE_TYPES = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
FunctionKey = tuple[str, int]


ChangedFunctions = Mapping[FunctionKey, types.CodeType]


class OriginalModule:
    """The unchanged module. A splice has `start`, `end`, `text` and the `unit` around it:

    the part (start, end, first line, class name or '') that is compiled instead of the whole
    module.
    """

    def __init__(self, text: str, path: str) -> None:
        self.text, self.path = text, path
        self.code = self._compile(text)
        self._flags = self.code.co_flags & __future__.annotations.compiler_flag
        counts = Counter(function_key(item) for item in _walk_code(self.code))
        self._ambiguous_keys = {name for name, count in counts.items() if count > 1}
        self._compiled_units: dict[tuple[Any, ...], types.CodeType] = {}
        self._marks = LoopMarks(text)

    def compile_with_change(self, splice: dict[str, Any]) -> types.CodeType:
        """Compile the whole module with the change."""
        start, end = splice["start"], splice["end"]
        return self._compile(self.text[:start] + splice["text"] + self.text[end:])

    def compile_marked_functions(self) -> ChangedFunctions:
        """Return the functions with `while` loops, their iterations counted."""
        found: dict[FunctionKey, types.CodeType] = {}
        marked = self._compile(self._marks.render(0, len(self.text)))
        _collect_changed_functions(self.code, marked, found)
        return {key: code for key, code in found.items() if key not in self._ambiguous_keys}

    def compile_changed_functions(self, splice: dict[str, Any]) -> ChangedFunctions | None:
        """Return the new code of the functions that change; None if the import itself changes.

        The iterations of their `while` loops are counted.
        """
        unit = start, end, line, owner = tuple(splice["unit"])
        if unit not in self._compiled_units:
            original = self._marks.render(start, end)
            self._compiled_units[unit] = self._compile_unit(original, line, owner)
        found: dict[FunctionKey, types.CodeType] = {}
        mutated = self._compile_unit(self._marks.render(start, end, splice), line, owner)
        same = _collect_changed_functions(self._compiled_units[unit], mutated, found)
        return found if same and not self._ambiguous_keys.intersection(found) else None

    def _compile_unit(self, text: str, line: int, owner: str) -> types.CodeType:
        above = "\n" * (line - 2) + f"class {owner}:\n" if owner else "\n" * (line - 1)
        return self._compile(above + text, self._flags)

    def _compile(self, text: str, flags: int = 0) -> types.CodeType:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code: types.CodeType = compile(text, self.path, "exec", flags, dont_inherit=True)
            return code


def function_key(code: types.CodeType) -> FunctionKey:
    """Return what identifies a function: its name and first line."""
    return code.co_name, code.co_firstlineno


def _list_nested_code(code: types.CodeType) -> list[types.CodeType]:
    return [item for item in code.co_consts if isinstance(item, types.CodeType)]


def _walk_code(code: types.CodeType) -> Iterator[types.CodeType]:
    for item in _list_nested_code(code):
        yield item
        yield from _walk_code(item)


def _code_signature(code: types.CodeType) -> Any:
    """Return what a code object does, without its line numbers and nested code objects."""
    constants = [
        "" if isinstance(item, types.CodeType) else (type(item).__name__, repr(item))
        for item in code.co_consts
    ]
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount, code.co_flags)
    handlers = getattr(code, "co_exceptiontable", b"")
    return (code.co_name, code.co_code, handlers, names, counts, constants)


def _is_same_code(old: types.CodeType, new: types.CodeType) -> bool:
    inner, others = _list_nested_code(old), _list_nested_code(new)
    return (
        _code_signature(old) == _code_signature(new)
        and len(inner) == len(others)
        and all(map(_is_same_code, inner, others))
    )


# At module level these have run before the tests are collected.
_COMPREHENSION_NAMES = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})


def _collect_changed_functions(
    old: types.CodeType, new: types.CodeType, changed: dict[FunctionKey, types.CodeType]
) -> bool:
    """Collect the outermost functions that differ; False if code of the import itself differs."""
    if old.co_flags & _FUNCTION_FLAGS == _FUNCTION_FLAGS:
        if not _is_same_code(old, new):
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
    """The functions of one file in this process, after its tests were collected."""

    def __init__(self, path: str, called: set[FunctionKey]) -> None:
        """`called` are functions that ran during collection: a change of these needs a new import."""
        self._called_at_import = called
        self._functions: dict[FunctionKey, list[types.FunctionType]] = {}
        self._has_suspended_code = False
        self._replaced: list[tuple[types.FunctionType, types.CodeType]] = []
        for item in gc.get_objects():
            if type(item) is types.FunctionType and item.__code__.co_filename == path:
                self._functions.setdefault(function_key(item.__code__), []).append(item)
            elif type(item) in _SUSPENDABLE_TYPES:
                self._has_suspended_code |= _get_code(item).co_filename == path

    def affects_import(self, changed: Collection[FunctionKey] | None) -> bool:
        """Return whether a change may have an effect even if no test reaches it."""
        return changed is None or not self._called_at_import.isdisjoint(changed)

    def replace(self, changed: ChangedFunctions | None) -> bool:
        """Give functions other code; False if that is impossible or not sufficient."""
        if not changed or self._has_suspended_code or self._called_at_import.intersection(changed):
            return False
        if not all(name in self._functions for name in changed):
            return False
        try:
            for name, code in changed.items():
                for function in self._functions[name]:
                    before = function.__code__
                    function.__code__ = code
                    self._replaced.append((function, before))
        except ValueError:  # its closure has other variables
            self.restore()
            return False
        return True

    def replace_for_good(self, changed: ChangedFunctions) -> None:
        """Give functions other code, where possible, that `restore` leaves."""
        for key, code in changed.items():
            self.replace({key: code})
        self._replaced.clear()

    def restore(self) -> None:
        """Give all functions their original code."""
        while self._replaced:
            function, code = self._replaced.pop()
            function.__code__ = code


def _get_code(item: Any) -> types.CodeType:
    names = ("gi_code", "cr_code", "ag_code")
    code: types.CodeType = next(getattr(item, name) for name in names if hasattr(item, name))
    return code


class _CodeLoader(SourceFileLoader):
    def __init__(self, name: str, path: str, code: types.CodeType) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> types.CodeType:
        return self._code


class ModuleFinder:
    """Import finder that loads one module from a given code object."""

    def __init__(self, name: str, path: str, code: types.CodeType) -> None:
        self._name, self._path, self._code = name, path, code

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> ModuleSpec | None:
        if name != self._name:
            return None
        loader = _CodeLoader(name, self._path, self._code)
        return importlib.util.spec_from_file_location(name, self._path, loader=loader)

    def install(self) -> None:
        sys.meta_path.insert(0, self)
