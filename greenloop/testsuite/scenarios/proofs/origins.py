"""The constants of a test that expressions depend on, by names, tables and definitions."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set

from greenloop.testsuite.scenarios.names import (
    Function,
    bound_names,
    children,
    get_dotted_name,
    walk,
)
from greenloop.testsuite.scenarios.proofs.bindings import OPERATORS, Bindings
from greenloop.testsuite.scenarios.records import RefusedError
from greenloop.testsuite.scenarios.splitting.functions import (
    MUTATING_METHODS,
    SELECTING_FUNCTIONS,
    SELECTING_METHODS,
)
from greenloop.testsuite.scenarios.splitting.steps import (
    Uses,
    find_used_places,
    merge_uses,
    read_key,
)
from greenloop.testsuite.scenarios.splitting.tables import (
    match_target,
    project_value,
    read_columns,
)

Place = tuple[int, int, str]
_NOT_HANDING_ON = SELECTING_METHODS | MUTATING_METHODS


def read_place(node: ast.AST) -> Place | None:
    """Return where a constant of the test file stands; None for other nodes and for None."""
    if isinstance(node, ast.Constant) and node.value is not None and hasattr(node, "lineno"):
        return node.lineno, node.col_offset, repr(node.value)
    return None


class Origins:
    """Follows expressions to the constants that their values are made of.

    With `is_whole` only values that are handed on whole are followed: a part of one, such as the
    first word of a text, does not show the rest. `needed` are the names that the test reads at all.
    """

    def __init__(self, bindings: Bindings, needed: Set[str], *, is_whole: bool) -> None:
        self._bindings, self._literals = bindings, bindings.literals
        self._needed, self._is_whole = needed, is_whole
        self._uses: Uses = {}
        self._places: set[Place] = set()

    def find(self, expressions: Iterable[ast.AST]) -> set[Place]:
        """Return the places of the constants that the expressions depend on."""
        for item in expressions:
            self._use(item)
        before: Uses | None = None
        while self._uses != before:
            before = dict(self._uses)
            for target, value, is_loop in self._bindings.all:
                self._follow(target, value, is_loop)
        return self._places

    def _follow(self, target: ast.AST, value: ast.AST, is_loop: bool) -> None:
        """Use what the names of one binding, as far as they are used, are made of."""
        names = bound_names(target) & self._uses.keys()
        if not names:
            return
        if not is_loop and isinstance(target, ast.Name):
            self._use_part(value, self._uses[target.id])
            return
        cells = self._read_cells(target, value, is_loop)
        if cells is not None:
            for name in names:
                for cell in cells[name]:
                    self._use_part(cell, self._uses[name])
        elif bound_names(target) & self._needed <= names:
            self._use(value)
        elif isinstance(value, ast.Name) and not is_loop:
            used = find_used_places(target, self._uses) if isinstance(target, ast.expr) else None
            if used is not None or not self._is_whole:
                merge_uses(self._uses, {value.id: used})
        elif not self._is_whole:
            self._use(value)

    def _read_cells(
        self, target: ast.AST, value: ast.AST, is_loop: bool
    ) -> dict[str, list[ast.expr]] | None:
        """Return the parts of a value by the names that they are bound to; None where unknown."""
        if not isinstance(target, ast.expr) or not isinstance(value, ast.expr):
            return None
        if is_loop:
            return read_columns(target, value, self._literals)
        known = self._literals.get(get_dotted_name(value), value)
        pairs = match_target(target, known) if isinstance(known, ast.expr) else ()
        found = {name: [cell] for name, cell in pairs}
        return found if found.keys() == bound_names(target) else None

    def _use_part(self, value: ast.AST, keys: frozenset[object] | None) -> None:
        """Use a value, or the parts of it under some keys."""
        if isinstance(value, ast.ClassDef) and keys is not None:
            for node in value.body:
                is_method = getattr(node, "name", None) in keys
                if is_method or not keys.isdisjoint(bound_names(node)):
                    self._use(value if is_method else node)
        elif keys is None or not isinstance(value, ast.expr):
            self._use(value)
        elif isinstance(value, ast.Name):
            merge_uses(self._uses, {value.id: keys})
        else:
            try:
                part = project_value(value, keys, self._literals)
            except RefusedError:
                if not self._is_whole or self._has_method(value, keys):
                    self._use(value)
                return
            is_record = isinstance(part, ast.Call)
            for item in self._list_record(part, keys) if is_record else [part]:
                self._use(item)

    def _has_method(self, value: ast.expr, names: frozenset[object]) -> bool:
        """Whether one of the names is a method of the class of the tests that makes the value."""
        found = self._literals.get(get_dotted_name(getattr(value, "func", value)))
        body = found.body if isinstance(found, ast.ClassDef) else []
        return any(isinstance(item, Function) and item.name in names for item in body)

    def _list_record(self, call: ast.expr, keys: frozenset[object]) -> Iterator[ast.expr]:
        """Yield the arguments of a record, and the defaults of the fields with these names."""
        yield from (item for item in children(call)[1:] if isinstance(item, ast.expr))
        yield from (i.value for i in children(call) if isinstance(i, ast.keyword))
        found = self._literals.get(get_dotted_name(children(call)[0]))
        for item in found.body if isinstance(found, ast.ClassDef) else ():
            if isinstance(item, ast.AnnAssign) and item.value and ast.unparse(item.target) in keys:
                yield item.value

    def _use(self, node: ast.AST) -> None:
        """Use an expression or a definition, with the names in it."""
        if (place := read_place(node)) is not None:
            self._places.add(place)
        elif isinstance(node, ast.Name):
            merge_uses(self._uses, {node.id: None})
        elif isinstance(node, (ast.Subscript, ast.Attribute)):
            self._use_selected(node)
        elif isinstance(node, ast.Call):
            self._use_call(node)
        else:
            for child in children(node):
                if not self._is_whole or not isinstance(child, ast.comprehension) or _counts(child):
                    self._use(child)  # what else a comprehension goes through comes by its names

    def _use_selected(self, node: ast.Subscript | ast.Attribute) -> None:
        """Use what a part is selected from; with `is_whole` only if all of it is handed on."""
        owner, key = node.value, read_key(node)
        known = self._literals.get(get_dotted_name(owner))
        parts = children(node)
        if isinstance(owner, ast.Name) and key is not None:
            merge_uses(self._uses, {owner.id: frozenset({key})})
            return
        if self._is_whole:
            if isinstance(node, ast.Subscript) and isinstance(owner, ast.Name):
                parts = [] if isinstance(node.slice, ast.Slice) else parts
                parts = [*known.values] if isinstance(known, ast.Dict) else parts  # not the key
            elif not any(map(self._bindings.is_code, walk(owner))):
                parts = []
        for item in parts:
            self._use(item)

    def _use_call(self, node: ast.Call) -> None:
        """Use what is called and given; with `is_whole` not what only a part is taken of."""
        function = node.func
        if not isinstance(function, ast.Attribute):
            self._use(function)
        elif not self._is_whole or function.attr not in _NOT_HANDING_ON:
            self._use(function.value)
        if not self._is_whole or get_dotted_name(function) not in SELECTING_FUNCTIONS:
            is_operator = get_dotted_name(function).startswith(OPERATORS)
            is_kept = self._is_whole and is_operator and self._bindings.is_own_part(node.args[0])
            given = node.args[1:] if is_kept else node.args  # a container of the test stays there
            for part in (*given, *(item.value for item in node.keywords)):
                self._use(part)


def _counts(node: ast.comprehension) -> bool:
    return isinstance(node.iter, ast.Call) and get_dotted_name(node.iter.func) == "range"
