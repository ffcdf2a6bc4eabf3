"""Which mutants probably change nothing that a test should see. Each rule says why.

The rules are narrow on purpose: a mutant that is marked is not tried and not counted, so a rule
that takes too much hides a gap in the tests.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import pairwise

from greenloop.grading.mutation.mutant import ProposedChange
from greenloop.syntax.nodes import NodeLocation, get_last_name
from greenloop.syntax.source import Source

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TEXT_OPERATORS = ("text", "formatted")
_LOGGER_NAMES = {"log", "logger", "logging", "_log", "_logger", "LOG", "LOGGER"}
_LOGGING_METHODS = {"debug", "info", "warning", "error", "exception", "critical", "log"}
_CACHE_DECORATORS = {"cache", "lru_cache", "cached_property"}
_COSMETIC_DECORATORS = {"wraps", "abstractmethod", "override", "final"}
_TYPE_FACTORIES = {"TypeVar", "NewType", "ParamSpec", "TypeVarTuple", "namedtuple", "NamedTuple"}

EquivalenceRule = Callable[[ProposedChange, ast.AST, NodeLocation, Source], bool]


def explain_equivalence(
    change: ProposedChange, node: ast.AST, location: NodeLocation, source: Source
) -> str:
    """Why this is probably no fault at all; '' where it is one."""
    for why, rule in _RULES:
        if rule(change, node, location, source):
            return why
    return ""


def _is_in_repr(
    change: ProposedChange, node: ast.AST, location: NodeLocation, source: Source
) -> bool:
    return any(
        isinstance(item, _FUNCTIONS) and item.name == "__repr__" for item in location.ancestors
    )


def _is_in_hash(
    change: ProposedChange, node: ast.AST, location: NodeLocation, source: Source
) -> bool:
    if change.operator in ("result", "raise-removed"):
        return False
    return any(
        isinstance(item, _FUNCTIONS) and item.name == "__hash__" for item in location.ancestors
    )


def _is_error_message(
    change: ProposedChange, node: ast.AST, location: NodeLocation, source: Source
) -> bool:
    """A text in the arguments of what is raised, or of an `assert`'s second half."""
    inside = [node, *reversed(location.ancestors)]
    written = change.operator in _TEXT_OPERATORS or _is_f_string_argument(change, node, source)
    for child, parent in pairwise(inside):
        written = written or isinstance(child, ast.JoinedStr)
        if isinstance(parent, ast.Raise):
            return written and child is parent.exc
        if isinstance(parent, ast.Assert):
            return written and child is parent.msg
        if isinstance(parent, ast.stmt):
            return False
    return False


def _is_f_string_argument(change: ProposedChange, node: ast.AST, source: Source) -> bool:
    """Whether the argument that becomes None is one: then it is the message, not a value."""
    if change.operator != "argument" or not isinstance(node, ast.Call):
        return False
    span = (change.start, change.end)
    return any(isinstance(arg, ast.JoinedStr) and source.span(arg) == span for arg in node.args)


def _is_logged(
    change: ProposedChange, node: ast.AST, location: NodeLocation, source: Source
) -> bool:
    own = node.value if isinstance(node, ast.Expr) else node
    return any(_is_logging_call(item) for item in (own, *location.ancestors))


def _is_logging_call(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr in _LOGGING_METHODS and get_last_name(node.func.value) in _LOGGER_NAMES


def _is_slice_from_zero(
    change: ProposedChange, node: ast.AST, location: NodeLocation, source: Source
) -> bool:
    if change.operator != "slice" or not isinstance(node, ast.Slice):
        return False
    begins = isinstance(node.lower, ast.Constant) and node.lower.value == 0
    forward = node.step is None
    return forward and begins and source.text[change.start : change.end].strip("()") == "0"


def _is_slice_step_one(
    change: ProposedChange, node: ast.AST, location: NodeLocation, source: Source
) -> bool:
    if change.operator != "slice" or not isinstance(node, ast.Slice):
        return False
    step = node.step
    once = isinstance(step, ast.Constant) and step.value == 1
    return once and step is not None and change.start >= source.span(step)[0]


def _is_extreme_of_equals(
    change: ProposedChange, node: ast.AST, location: NodeLocation, source: Source
) -> bool:
    """`if x > best: best = x`, and `x if x > y else y`: equal ones are the same value."""
    if change.operator != "boundary" or not isinstance(node, ast.Compare) or len(node.ops) > 1:
        return False
    sides = {ast.dump(node.left), ast.dump(node.comparators[0])}
    parent = location.parent
    if isinstance(parent, ast.IfExp) and parent.test is node:
        return {ast.dump(parent.body), ast.dump(parent.orelse)} == sides
    if not isinstance(parent, ast.If) or parent.test is not node or parent.orelse:
        return False
    only = parent.body[0]
    if len(parent.body) > 1 or not isinstance(only, ast.Assign) or len(only.targets) > 1:
        return False
    written = ast.dump(only.targets[0]).replace("Store()", "Load()")
    return {written, ast.dump(only.value)} == sides


def _is_cache_decorator(
    change: ProposedChange, node: ast.AST, location: NodeLocation, source: Source
) -> bool:
    return _is_removed_decorator(change, source, _CACHE_DECORATORS)


def _is_cosmetic_decorator(
    change: ProposedChange, node: ast.AST, location: NodeLocation, source: Source
) -> bool:
    return _is_removed_decorator(change, source, _COSMETIC_DECORATORS)


def _is_removed_decorator(change: ProposedChange, source: Source, names: set[str]) -> bool:
    if change.operator != "decorator":
        return False
    written = source.text[change.start : change.end].lstrip("@ ").partition("(")[0]
    return written.rpartition(".")[2] in names


def _is_cache_size(
    change: ProposedChange, node: ast.AST, location: NodeLocation, source: Source
) -> bool:
    calls = [item for item in (node, *location.ancestors) if isinstance(item, ast.Call)]
    return any(get_last_name(item) == "lru_cache" for item in calls)


def _is_default_encoding(
    change: ProposedChange, node: ast.AST, location: NodeLocation, source: Source
) -> bool:
    written = source.text[change.start : change.end].strip(", \n")
    if change.operator != "keyword" or not written.startswith("encoding"):
        return False
    return written.replace(" ", "").lower()[9:].strip("'\"") in ("utf-8", "utf8")


def _is_type_name(
    change: ProposedChange, node: ast.AST, location: NodeLocation, source: Source
) -> bool:
    parent = location.parent
    if change.operator != "text" or not isinstance(parent, ast.Call) or not parent.args:
        return False
    return parent.args[0] is node and get_last_name(parent) in _TYPE_FACTORIES


_RULES: tuple[tuple[str, EquivalenceRule], ...] = (
    ("in `__repr__`: written for developers, not for callers", _is_in_repr),
    ("in `__hash__`: any number is a right one as long as equals agree", _is_in_hash),
    ("only the wording of an error: its type is what callers act on", _is_error_message),
    ("only what is logged", _is_logged),
    ("a slice from 0 is the same as one from the beginning", _is_slice_from_zero),
    ("a slice in steps of 1 is the same as one without steps", _is_slice_step_one),
    ("of two equal values either is the extreme", _is_extreme_of_equals),
    ("a cache changes speed, not results", _is_cache_decorator),
    ("the size of a cache changes speed, not results", _is_cache_size),
    ("a decorator for readers and tools", _is_cosmetic_decorator),
    ("UTF-8 is the default where tests run", _is_default_encoding),
    ("the name of a type is for readers", _is_type_name),
)
