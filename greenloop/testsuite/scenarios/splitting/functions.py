"""Functions and methods whose result the tests' process can find itself, or not"""

from __future__ import annotations

import ast

# Functions that may be those of the code: of a value that is no plain data their result is
# observed.
OBSERVED_FUNCTIONS = frozenset("len str repr bool int float abs round".split())
ITERATING_FUNCTIONS = frozenset(
    "list tuple set frozenset sorted sum dict any all min max enumerate zip reversed map filter "
    "Counter deque iter".split()
)
REFLECTIVE_FUNCTIONS = frozenset("next hasattr getattr callable islice itertools.islice".split())
MUTATING_METHODS = frozenset(
    "append extend insert remove pop clear sort reverse add discard update popitem setdefault "
    "difference_update intersection_update symmetric_difference_update".split()
)
# Their results show only a part of what they are given.
SELECTING_FUNCTIONS = frozenset("len sum min max any all bool type isinstance next getattr".split())
SELECTING_METHODS = frozenset("pop popleft get index find rfind count".split())
VALUE_METHODS = {
    method
    for kind in (str, bytes, list, dict, set, tuple, int, float)
    for method in dir(kind)
    if not method.startswith("_")
} - MUTATING_METHODS
# Expressions that the tests' process evaluates from their parts.
DIVISIBLE = (
    ast.BinOp,
    ast.BoolOp,
    ast.Dict,
    ast.FormattedValue,
    ast.IfExp,
    ast.JoinedStr,
    ast.List,
    ast.Set,
    ast.Slice,
    ast.Starred,
    ast.Subscript,
    ast.Tuple,
    ast.UnaryOp,
)
