"""A module with one change: what of it is compiled otherwise, and how it gets into a process.

Where only the body of a function changes, the function objects that live in the process get the
new code: whoever holds one (a test module, a table, a decorator's closure) holds the mutant too,
and classes stay the same classes. Everything else needs the module to be imported afresh.
"""

from __future__ import annotations
import __future__

import gc
import importlib.util
import sys
import types
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from typing import Any

_FUNCTION_FLAGS = 0x1 | 0x2  # CO_OPTIMIZED, CO_NEWLOCALS: a class body has neither
_SUSPENDABLE_TYPES = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
FunctionKey = tuple[str, int]


class OriginalModule:
    """The module as it is. A splice is `start`, `end`, `text` and the `unit` around it:

    the piece (start, end, first line, class name or '') that is compiled in place of the whole.
    """

    def __init__(self, text: str, path: str) -> None:
        self.text, self.path = text, path
        self.code = self._compile(text)
        self._flags = self.code.co_flags & __future__.annotations.compiler_flag
        counts = Counter(function_key(item) for item in _walk_code(self.code))
        self._ambiguous_keys = {name for name, count in counts.items() if count > 1}
        self._compiled_units: dict[tuple[Any, ...], types.CodeType] = {}

    def compile_with_change(self, splice: dict[str, Any]) -> types.CodeType:
        """The whole module with the change."""
        start, end = splice["start"], splice["end"]
        return self._compile(self.text[:start] + splice["text"] + self.text[end:])

    def compile_changed_functions(
        self, splice: dict[str, Any]
    ) -> dict[FunctionKey, types.CodeType] | None:
        """The functions whose code changes, with their new code; None: what import runs changes."""
        unit = splice["unit"]
        start, end, line, owner = unit
        mutated = self.text[start : splice["start"]] + splice["text"]
        mutated += self.text[splice["end"] : end]
        if tuple(unit) not in self._compiled_units:
            self._compiled_units[tuple(unit)] = self._compile_unit(
                self.text[start:end], line, owner
            )
        found: dict[FunctionKey, types.CodeType] = {}
        same = _collect_changed_functions(
            self._compiled_units[tuple(unit)], self._compile_unit(mutated, line, owner), found
        )
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
    """What a function is found again by: its name and first line."""
    return code.co_name, code.co_firstlineno


def _nested_code(code: types.CodeType) -> list[types.CodeType]:
    return [item for item in code.co_consts if isinstance(item, types.CodeType)]


def _walk_code(code: types.CodeType) -> Iterator[types.CodeType]:
    for item in _nested_code(code):
        yield item
        yield from _walk_code(item)


def _code_signature(code: types.CodeType) -> Any:
    """What a code object does itself, whatever its lines are and what is nested in it."""
    constants = [
        "" if isinstance(item, types.CodeType) else (type(item).__name__, repr(item))
        for item in code.co_consts
    ]
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    counts = (code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount, code.co_flags)
    handlers = getattr(code, "co_exceptiontable", b"")
    return (code.co_name, code.co_code, handlers, names, counts, constants)


def _is_same_code(old: types.CodeType, new: types.CodeType) -> bool:
    inner, others = _nested_code(old), _nested_code(new)
    return (
        _code_signature(old) == _code_signature(new)
        and len(inner) == len(others)
        and all(map(_is_same_code, inner, others))
    )


# At module level they have run by the time that the tests are collected.
_COMPREHENSION_NAMES = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})


def _collect_changed_functions(
    old: types.CodeType, new: types.CodeType, changed: dict[FunctionKey, types.CodeType]
) -> bool:
    """Collects the outermost functions that differ; False where code of the import itself does."""
    if old.co_flags & _FUNCTION_FLAGS == _FUNCTION_FLAGS:
        if not _is_same_code(old, new):
            if old.co_name in _COMPREHENSION_NAMES:
                return False
            changed[function_key(old)] = new
        return True
    inner, others = _nested_code(old), _nested_code(new)
    if _code_signature(old) != _code_signature(new) or len(inner) != len(others):
        return False
    return all(
        _collect_changed_functions(item, other, changed)
        for item, other in zip(inner, others, strict=True)
    )


class LoadedFunctions:
    """The functions of one file that live in this process, after its tests were collected."""

    def __init__(self, path: str, called: set[FunctionKey]) -> None:
        """`called`: functions that ran by then. What they made is made; they need a fresh import."""
        self._called_at_import = called
        self._functions: dict[FunctionKey, list[types.FunctionType]] = {}
        self._has_suspended_code = False
        self._replaced: list[tuple[types.FunctionType, types.CodeType]] = []
        for item in gc.get_objects():
            if type(item) is types.FunctionType and item.__code__.co_filename == path:
                self._functions.setdefault(function_key(item.__code__), []).append(item)
            elif type(item) in _SUSPENDABLE_TYPES:
                self._has_suspended_code |= _get_code(item).co_filename == path

    def affects_import(self, changed: dict[FunctionKey, types.CodeType] | None) -> bool:
        """Whether a change may show although no test reaches it: what ran by then has done its work."""
        return changed is None or not self._called_at_import.isdisjoint(changed)

    def replace(self, changed: dict[FunctionKey, types.CodeType] | None) -> bool:
        """Gives the functions their new code; False where that is not possible, or not enough."""
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
        except ValueError:  # it closes over other variables
            self.restore()
            return False
        return True

    def current_codes(
        self, keys: Iterable[FunctionKey]
    ) -> list[tuple[types.FunctionType, types.CodeType]]:
        """The functions of these names, each with the code that it has now."""
        found = [item for name in keys for item in self._functions.get(name, ())]
        return [(item, item.__code__) for item in found]

    def restore(self) -> None:
        """The functions get the code back that they had."""
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
    """Makes every import of one module an import of the code given here."""

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
