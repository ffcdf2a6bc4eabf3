"""Calls that tests and examples make with plain arguments, and the words and numbers of texts."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from greenloop.grading.assertion_mutation.parametrize import read_rows
from greenloop.syntax.names import find_stores, get_dotted_name
from greenloop.syntax.parse import parse_or_none
from greenloop.syntax.values import is_value_constant, is_value_type
from greenloop.testsuite.bare_interface import reduce_interface
from greenloop.testsuite.module_calls import fill_in, get_member, read_imports
from greenloop.testsuite.variants.literals import Vocabulary
from greenloop.testsuite.variants.trees import fold_signs

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)
_DATA = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.USub, ast.Load)
_DATA_CALLS = frozenset({"set", "frozenset", "float", "dict", "list", "tuple"})
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,6}(?:\.\d{1,6})?(?![\w.]*\d)")
_QUOTED = re.compile(r"`([^`\n]{1,24})`|\"([^\"\n]{1,24})\"|'([^'\n]{1,12})'")
_NAMED_CALL = re.compile(r"[A-Za-z_][\w.]*\(")  # `total(basket)`: the text speaks of the program
_ANY_NUMBER = re.compile(r"\b(numbers?|values?|amounts?|floats?|decimals?|zahl(en)?)\b", re.I)
_WHOLE_NUMBER = re.compile(r"\b(int|integers?|whole|natural|counts?|ganze[nr]?)\b", re.I)
_MAX_WORDS, _MAX_NUMBERS, _MAX_CALL = 24, 16, 4000


def read_public(interface: str, code: str) -> tuple[str, ...]:
    """Return the public functions and classes of an interface, or else of the code."""
    for source in (interface, code):
        tree = parse_or_none(source)
        nodes = tree.body if tree else []
        kinds = (*_Function, ast.ClassDef)
        found = [item.name for item in nodes if isinstance(item, kinds) and item.name[:1] != "_"]
        if found:
            return tuple(dict.fromkeys(found))
    return ()


def read_constants(code: str) -> frozenset[str]:
    """Return the public constants of a module, and those of its classes: `RED`, `Color.RED`."""
    tree = parse_or_none(code)
    nodes = tree.body if tree else []
    found = {*_list_constants(nodes)}
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{name}" for name in _list_constants(node.body)}
    return frozenset(found)


def _list_constants(nodes: Iterable[ast.stmt]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = sorted(name for item in targets for name in find_stores(item))
            yield from (name for name in names if name.isupper() and name[0] != "_")


def pair_open_constants(
    interface: str, text: str, code: str, peer: str
) -> frozenset[tuple[str, str]]:
    """Return the values, as source, that two programs give the constants of an interface.

    Left out are those whose value the text states, and all where both programs agree.
    """
    tree = parse_or_none(reduce_interface(interface, text) if parse_or_none(interface) else "")
    nodes = tree.body if tree else []
    stated = (item for item in nodes if not getattr(item, "value", None) or _is_open(item))
    names = {*_list_constants(stated)}
    mine, theirs = map(_read_values, (code, peer))
    pairs = {(mine[key], theirs[key]) for key in names if key in mine and key in theirs}
    return frozenset(pairs) if any(one != other for one, other in pairs) else frozenset()


def _is_open(node: Any) -> bool:
    return isinstance(node.value, ast.Constant) and node.value.value is ...


def _read_values(code: str) -> dict[str, str]:
    """Return the numbers and texts that a module assigns to names at its top level, as source."""
    tree = parse_or_none(code)
    return {
        target.id: repr(node.value.value)
        for node in (tree.body if tree else [])
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value.value, (int, str))
    }


def read_call(text: str, public: Sequence[str], constants: Collection[str] = ()) -> ast.Call | None:
    """Return a call of a public name with plain arguments; None for other texts.

    `constants` are names that may stand for an argument.
    """
    names = {*public, *_DATA_CALLS}
    try:
        node = ast.parse(text.strip(), mode="eval").body if len(text) <= _MAX_CALL else None
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in public
        ):
            return fold_signs(node) if _has_plain_arguments(node, names, constants) else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return None


def read_sequence(text: str, public: Sequence[str], constants: Collection[str]) -> list[ast.Call]:
    """Return calls of which the first makes an object of a public class; [] for other texts."""
    tree = parse_or_none(text)
    steps = [getattr(item, "value", None) for item in tree.body] if tree else []
    calls = [item for item in steps if isinstance(item, ast.Call)]
    names = [ast.unparse(item.func) for item in calls]
    if len(calls) < 2 or len(calls) < len(steps) or names[0] not in public:
        return []
    pairs = zip(calls, names, strict=True)
    return calls if all(read_call(ast.unparse(i), [name], constants) for i, name in pairs) else []


def list_module_names(steps: Sequence[ast.Call], constants: Collection[str]) -> list[str]:
    """Return what a sequence of calls takes from the module: its first name, and constants."""
    known = {name.partition(".")[0] for name in constants}
    nodes = [node for step in steps for node in ast.walk(step)]
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    return sorted({ast.unparse(steps[0].func)} | (used & known))


def _has_plain_arguments(
    call: ast.Call, callable_names: Collection[str], constants: Collection[str]
) -> bool:
    """Whether arguments are literals and constants, or made of them by calls that are known."""
    given = [*call.args, *(item.value for item in call.keywords)]
    if any(item.arg is None for item in call.keywords):
        return False
    return all(_is_plain(node, callable_names, constants) for node in given)


def _is_plain(node: ast.expr, callable_names: Collection[str], constants: Collection[str]) -> bool:
    if isinstance(node, ast.Call):
        is_known = is_value_type(node.func) or ast.unparse(node.func) in callable_names
        return is_known and _has_plain_arguments(node, callable_names, constants)
    if is_value_constant(node) or get_dotted_name(node) in constants:
        return True
    children = [item for item in ast.iter_child_nodes(node) if isinstance(item, ast.expr)]
    return isinstance(node, _DATA) and all(
        _is_plain(item, callable_names, constants) for item in children
    )


def iterate_calls(
    tests: Iterable[str], module: str, public: Sequence[str], constants: Collection[str] = ()
) -> Iterator[tuple[str, ast.Call]]:
    """Yield the calls of public names in test files, each with the name of its function."""
    for source in tests:
        tree = parse_or_none(source)
        names = read_imports(tree, module) if tree else {}
        functions = [node for node in ast.walk(tree) if isinstance(node, _Function)] if tree else []
        shared = _read_assigned(tree.body) if tree else {}
        for function in functions:
            for call in _find_in_function(function, names, shared):
                if read := read_call(call, public, constants):
                    yield function.name, read


def _find_in_function(
    function: Any, names: dict[str, str], shared: dict[str, ast.expr]
) -> Iterator[str]:
    wanted = [item.arg for item in function.args.args if item.arg != "self"]
    rows = list(read_rows(function.decorator_list, wanted)) or [{}]
    assigned = shared | _read_assigned(ast.walk(function))
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    for row in rows[:40]:
        for call in calls:
            if get_member(call.func, names):
                yield from _format_call(fill_in(call, assigned | row, names))


def _format_call(call: ast.AST) -> Iterator[str]:
    """Yield a call as text, unless there is none: before 3.12 for an f-string with a backslash."""
    with suppress(ValueError):
        yield ast.unparse(call)


def _read_assigned(nodes: Iterable[ast.AST]) -> dict[str, ast.expr]:
    """Return the names that are assigned once, and what; loops give the first item."""
    found: dict[str, list[ast.expr]] = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found.setdefault(name, []).append(value)
            case ast.For(target=ast.Name(id=name), iter=ast.List(elts=[first, *_])):
                found.setdefault(name, []).append(first)
    return {name: values[0] for name, values in found.items() if len(values) == 1}


def read_vocabulary(text: str, interface: str, programs: Sequence[str]) -> Vocabulary:
    """Return numbers and quoted words of a text, and the constants of programs."""
    numbers: dict[int | float, None] = {}
    words: dict[str, None] = {}
    for found in _NUMBER.findall(text):
        numbers[float(found) if "." in found else int(found)] = None
    quoted = (next(filter(None, parts), "") for parts in _QUOTED.findall(text))
    words |= dict.fromkeys(item for item in quoted if not _NAMED_CALL.match(item))
    for program in programs:
        tree = parse_or_none(program)
        for node in ast.walk(tree) if tree else ():
            value = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
            if isinstance(value, str) and 0 < len(value) <= 24:
                words[value] = None
            elif type(value) in (int, float) and abs(value) < 10**6:  # type: ignore[arg-type]
                numbers[value] = None  # type: ignore[index]
    is_whole = bool(_WHOLE_NUMBER.search(f"{text}\n{interface}"))
    has_fractions = bool(_ANY_NUMBER.search(text)) and not is_whole
    known = tuple(numbers)[:_MAX_NUMBERS], tuple(filter(None, words))[:_MAX_WORDS]
    return Vocabulary(*known, has_fractions, is_whole)
