"""Calls with plain arguments in tests, examples and generators, and the vocabulary of texts."""

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress

from greenloop.grading.assertion_mutation.parametrize import read_rows
from greenloop.grading.inputs.literals import Vocabulary
from greenloop.syntax.names import find_stores, get_dotted_name
from greenloop.syntax.nodes import Definition, Function, fold_signs, get_assigned_targets
from greenloop.syntax.parse import PARSE_ERRORS, parse_or_empty
from greenloop.syntax.values import is_value_constant, is_value_type
from greenloop.testsuite.module_under_test import fill_in, get_member, read_imports

_DATA = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp)
_DATA_CALLS = frozenset({"set", "frozenset", "float", "dict", "list", "tuple", "iter"})
_NUMBER = re.compile(r"(?<![\w.])-?\d{1,6}(?:\.\d{1,6})?(?![\w.]*\d)")
_QUOTED = re.compile(r"`([^`\n]{1,24})`|\"([^\"\n]{1,24})\"|'([^'\n]{1,12})'")
_NAMED_CALL = re.compile(r"[A-Za-z_][\w.]*\(")  # `total(basket)`: part of the program, no data
_ANY_NUMBER = re.compile(r"\b(numbers?|values?|amounts?|floats?|decimals?|zahl(en)?)\b", re.I)
_WHOLE_NUMBER = re.compile(r"\b(int|integers?|whole|natural|counts?|ganze[nr]?)\b", re.I)
_MAX_WORDS, _MAX_NUMBERS, _MAX_CALL, _MAX_ROWS = 24, 16, 4000, 40


def read_public(interface: str, code: str) -> tuple[str, ...]:
    """Return the public functions and classes of an interface, or else of the code.

    Exceptions are left out if there are other names, as these raise them.
    """
    for source in (interface, code):
        nodes = (item for item in parse_or_empty(source).body if isinstance(item, Definition))
        found = {item.name: _is_exception(item) for item in nodes if item.name[:1] != "_"}
        if found:
            return tuple(name for name, is_raised in found.items() if not is_raised) or (*found,)
    return ()


def _is_exception(node: Definition) -> bool:
    bases = map(ast.unparse, node.bases) if isinstance(node, ast.ClassDef) else ()
    return any(base.endswith(("Exception", "Error", "Warning")) for base in bases)


def read_constants(code: str) -> frozenset[str]:
    """Return the public constants of a module, and those of its classes: `RED`, `Color.RED`."""
    nodes = parse_or_empty(code).body
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    of_classes = (f"{node.name}.{name}" for node in classes for name in list_constants(node.body))
    return frozenset([*list_constants(nodes), *of_classes])


def list_constants(nodes: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield the names in upper case that statements assign."""
    targets = (item for node in nodes for item in get_assigned_targets(node))
    names = (name for item in targets for name in sorted(find_stores(item)))
    yield from (name for name in names if name.isupper() and name[0] != "_")


def read_call(text: str, public: Sequence[str], constants: Collection[str] = ()) -> ast.Call | None:
    """Return a call of a public name with plain arguments; None for other texts.

    `constants` are names that may stand for an argument.
    """
    with suppress(*PARSE_ERRORS):
        node = ast.parse(text.strip(), mode="eval").body if len(text) <= _MAX_CALL else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            names = {*public, *_DATA_CALLS}
            if node.func.id in public and _has_plain_arguments(node, names, constants):
                return fold_signs(node)
    return None


def read_sequence(text: str, public: Sequence[str], constants: Collection[str]) -> list[ast.Call]:
    """Return calls of which the first makes an object of a public class; [] for other texts."""
    steps = [getattr(item, "value", None) for item in parse_or_empty(text).body]
    calls = [item for item in steps if isinstance(item, ast.Call)]
    names = [ast.unparse(item.func) for item in calls]
    if len(calls) < 2 or len(calls) < len(steps) or names[0] not in public:
        return []
    pairs = zip(calls, names, strict=True)
    return calls if all(read_call(ast.unparse(i), [name], constants) for i, name in pairs) else []


def find_used_name(text: str, public: Sequence[str]) -> str:
    """Return the first public name in statements that end in an expression; '' for other texts."""
    body = parse_or_empty(text).body
    nodes = (node for item in body for node in ast.walk(item))
    used = (node.id for node in nodes if isinstance(node, ast.Name) and node.id in public)
    return next(used, "") if body and isinstance(body[-1], ast.Expr) else ""


def _has_plain_arguments(
    call: ast.Call, callable_names: Collection[str], constants: Collection[str]
) -> bool:
    """Whether all arguments are literals, constants, or known calls with such arguments."""
    given = [*call.args, *(item.value for item in call.keywords)]
    has_stars = any(item.arg is None for item in call.keywords)
    return not has_stars and all(_is_plain(node, callable_names, constants) for node in given)


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
    """Yield the calls of public names in test files, each with the name of the test function."""
    for source in tests:
        tree = parse_or_empty(source)
        names, shared = read_imports(tree, module), _read_assigned(tree.body)
        for function in ast.walk(tree):
            if isinstance(function, Function):
                for text in _find_in_function(function, names, shared):
                    if read := read_call(text, public, constants):
                        yield function.name, read


def _find_in_function(
    function: Function, names: dict[str, str], shared: dict[str, ast.expr]
) -> Iterator[str]:
    wanted = [item.arg for item in function.args.args if item.arg != "self"]
    rows = list(read_rows(function.decorator_list, wanted)) or [{}]
    assigned = shared | _read_assigned(ast.walk(function))
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    for row in rows[:_MAX_ROWS]:
        for call in calls:
            if get_member(call.func, names):
                with suppress(ValueError):  # before 3.12, for an f-string with a backslash
                    yield ast.unparse(fill_in(call, assigned | row, names))


def _read_assigned(nodes: Iterable[ast.AST]) -> dict[str, ast.expr]:
    """Return names that are assigned once, with their values; a loop's name with the first item."""
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
    found = (float(item) if "." in item else int(item) for item in _NUMBER.findall(text))
    quoted = (next(filter(None, parts), "") for parts in _QUOTED.findall(text))
    numbers = list[int | float](found)
    words = [item for item in quoted if not _NAMED_CALL.match(item)]
    for node in (node for program in programs for node in ast.walk(parse_or_empty(program))):
        match node:
            case ast.Constant(value=str() as word) if 0 < len(word) <= 24:
                words.append(word)
            case ast.Constant(value=int() | float() as number) if abs(number) < 10**6:
                numbers += [number] * (not isinstance(number, bool))
    is_whole = bool(_WHOLE_NUMBER.search(f"{text}\n{interface}"))
    has_fractions = bool(_ANY_NUMBER.search(text)) and not is_whole
    known = dict.fromkeys(numbers), dict.fromkeys(filter(None, words))
    return Vocabulary(
        tuple(known[0])[:_MAX_NUMBERS], tuple(known[1])[:_MAX_WORDS], has_fractions, is_whole
    )
