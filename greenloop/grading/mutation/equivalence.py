"""Which mutants probably change nothing that a test should see. Each rule says why.

The rules are narrow on purpose: a mutant that is marked is not tried and not counted, so a rule
that takes too much hides a gap in the tests.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import pairwise

from greenloop.grading.mutation.mutant import Change
from greenloop.syntax.nodes import Place, name_of
from greenloop.syntax.source import Source

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TEXTS = ("text", "formatted")
_LOGGERS = {"log", "logger", "logging", "_log", "_logger", "LOG", "LOGGER"}
_LOGGING = {"debug", "info", "warning", "error", "exception", "critical", "log"}
_ONLY_SPEED = {"cache", "lru_cache", "cached_property"}
_ONLY_LOOKS = {"wraps", "abstractmethod", "override", "final"}
_NAMED = {"TypeVar", "NewType", "ParamSpec", "TypeVarTuple", "namedtuple", "NamedTuple"}

Rule = Callable[[Change, ast.AST, Place, Source], bool]


def suspicion(change: Change, node: ast.AST, place: Place, source: Source) -> str:
    """Why this is probably no fault at all; '' where it is one."""
    for why, rule in _RULES:
        if rule(change, node, place, source):
            return why
    return ""


def _in_repr(change: Change, node: ast.AST, place: Place, source: Source) -> bool:
    return any(isinstance(item, _FUNCTIONS) and item.name == "__repr__" for item in place.ancestors)


def _in_hash(change: Change, node: ast.AST, place: Place, source: Source) -> bool:
    if change.operator in ("result", "raise-removed"):
        return False
    return any(isinstance(item, _FUNCTIONS) and item.name == "__hash__" for item in place.ancestors)


def _message(change: Change, node: ast.AST, place: Place, source: Source) -> bool:
    """A text in the arguments of what is raised, or of an `assert`'s second half."""
    inside = [node, *reversed(place.ancestors)]
    written = change.operator in _TEXTS or _is_f_string(change, node, source)
    for child, parent in pairwise(inside):
        written = written or isinstance(child, ast.JoinedStr)
        if isinstance(parent, ast.Raise):
            return written and child is parent.exc
        if isinstance(parent, ast.Assert):
            return written and child is parent.msg
        if isinstance(parent, ast.stmt):
            return False
    return False


def _is_f_string(change: Change, node: ast.AST, source: Source) -> bool:
    """Whether the argument that becomes None is one: then it is the message, not a value."""
    if change.operator != "argument" or not isinstance(node, ast.Call):
        return False
    span = (change.start, change.end)
    return any(isinstance(arg, ast.JoinedStr) and source.span(arg) == span for arg in node.args)


def _logged(change: Change, node: ast.AST, place: Place, source: Source) -> bool:
    own = node.value if isinstance(node, ast.Expr) else node
    return any(_is_logging(item) for item in (own, *place.ancestors))


def _is_logging(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr in _LOGGING and name_of(node.func.value) in _LOGGERS


def _from_zero(change: Change, node: ast.AST, place: Place, source: Source) -> bool:
    if change.operator != "slice" or not isinstance(node, ast.Slice):
        return False
    begins = isinstance(node.lower, ast.Constant) and node.lower.value == 0
    forward = node.step is None
    return forward and begins and source.text[change.start : change.end].strip("()") == "0"


def _one_step(change: Change, node: ast.AST, place: Place, source: Source) -> bool:
    if change.operator != "slice" or not isinstance(node, ast.Slice):
        return False
    step = node.step
    once = isinstance(step, ast.Constant) and step.value == 1
    return once and step is not None and change.start >= source.span(step)[0]


def _extreme(change: Change, node: ast.AST, place: Place, source: Source) -> bool:
    """`if x > best: best = x`, and `x if x > y else y`: equal ones are the same value."""
    if change.operator != "boundary" or not isinstance(node, ast.Compare) or len(node.ops) > 1:
        return False
    sides = {ast.dump(node.left), ast.dump(node.comparators[0])}
    parent = place.parent
    if isinstance(parent, ast.IfExp) and parent.test is node:
        return {ast.dump(parent.body), ast.dump(parent.orelse)} == sides
    if not isinstance(parent, ast.If) or parent.test is not node or parent.orelse:
        return False
    only = parent.body[0]
    if len(parent.body) > 1 or not isinstance(only, ast.Assign) or len(only.targets) > 1:
        return False
    written = ast.dump(only.targets[0]).replace("Store()", "Load()")
    return {written, ast.dump(only.value)} == sides


def _only_speed(change: Change, node: ast.AST, place: Place, source: Source) -> bool:
    return _without_decorator(change, source, _ONLY_SPEED)


def _only_looks(change: Change, node: ast.AST, place: Place, source: Source) -> bool:
    return _without_decorator(change, source, _ONLY_LOOKS)


def _without_decorator(change: Change, source: Source, names: set[str]) -> bool:
    if change.operator != "decorator":
        return False
    written = source.text[change.start : change.end].lstrip("@ ").partition("(")[0]
    return written.rpartition(".")[2] in names


def _cache_size(change: Change, node: ast.AST, place: Place, source: Source) -> bool:
    calls = [item for item in (node, *place.ancestors) if isinstance(item, ast.Call)]
    return any(name_of(item) == "lru_cache" for item in calls)


def _encoding(change: Change, node: ast.AST, place: Place, source: Source) -> bool:
    written = source.text[change.start : change.end].strip(", \n")
    if change.operator != "keyword" or not written.startswith("encoding"):
        return False
    return written.replace(" ", "").lower()[9:].strip("'\"") in ("utf-8", "utf8")


def _naming(change: Change, node: ast.AST, place: Place, source: Source) -> bool:
    parent = place.parent
    if change.operator != "text" or not isinstance(parent, ast.Call) or not parent.args:
        return False
    return parent.args[0] is node and name_of(parent) in _NAMED


_RULES: tuple[tuple[str, Rule], ...] = (
    ("in `__repr__`: written for developers, not for callers", _in_repr),
    ("in `__hash__`: any number is a right one as long as equals agree", _in_hash),
    ("only the wording of an error: its type is what callers act on", _message),
    ("only what is logged", _logged),
    ("a slice from 0 is the same as one from the beginning", _from_zero),
    ("a slice in steps of 1 is the same as one without steps", _one_step),
    ("of two equal values either is the extreme", _extreme),
    ("a cache changes speed, not results", _only_speed),
    ("the size of a cache changes speed, not results", _cache_size),
    ("a decorator for readers and tools", _only_looks),
    ("UTF-8 is the default where tests run", _encoding),
    ("the name of a type is for readers", _naming),
)
