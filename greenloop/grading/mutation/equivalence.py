"""Rules that recognize probably equivalent mutants, each with its reason.

The rules are narrow: a mutant that matches a rule is neither tried nor counted, so a rule that is
too wide hides a gap in the tests.
"""

import ast
from collections.abc import Callable
from functools import partial
from itertools import pairwise

from greenloop.grading.mutation import types
from greenloop.grading.mutation.mutant import ProposedEdit
from greenloop.syntax.nodes import get_last_name

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TEXT_OPERATORS = ("text", "formatted")
_LOGGER_NAMES = {"log", "logger", "logging", "_log", "_logger", "LOG", "LOGGER"}
_LOGGING_METHODS = {"debug", "info", "warning", "error", "exception", "critical", "log"}
_CACHE_DECORATORS = {"cache", "lru_cache", "cached_property"}
_STRIPPING_METHODS = {"strip", "lstrip", "rstrip"}
_SPLITTING_METHODS = {"split", "rsplit"}
# Of argparse and optparse, and of click and typer.
_PARSER_CALLS = frozenset(
    "ArgumentParser add_argument add_parser add_subparsers add_argument_group OptionParser add_option "
    "option argument command group Option Argument Typer add_typer version_option".split()
)
_UNSEEN_ARGUMENTS = {"daemon", "stacklevel"}
_USAGE_KEYWORDS = frozenset("description epilog help metavar prog short_help title usage".split())
_COSMETIC_DECORATORS = {"wraps", "abstractmethod", "override", "final"}

EquivalenceRule = Callable[[ProposedEdit], bool]


def explain_equivalence(proposed: ProposedEdit) -> str:
    """Return why the edit is probably no fault; '' if it is one."""
    return next((reason for reason, rule in _RULES if rule(proposed)), "")


def _is_in_hash(proposed: ProposedEdit) -> bool:
    changes_type = proposed.operator.name in ("result", "raise-removed")
    return not changes_type and _is_in_method(proposed, "__hash__")


def _is_in_method(proposed: ProposedEdit, name: str) -> bool:
    ancestors = proposed.context.ancestors
    return any(isinstance(item, _FUNCTIONS) and item.name == name for item in ancestors)


def _is_error_message(proposed: ProposedEdit) -> bool:
    """Return whether the edit is in a text of an exception's arguments or an `assert`'s message."""
    path = [proposed.context.node, *reversed(proposed.context.ancestors)]
    is_text = proposed.operator.name in _TEXT_OPERATORS or _is_f_string_argument(proposed)
    for child, parent in pairwise(path):
        is_text = is_text or isinstance(child, ast.JoinedStr)
        if isinstance(parent, ast.Raise):
            return is_text and child is parent.exc
        if isinstance(parent, ast.Assert):
            return is_text and child is parent.msg
        if isinstance(parent, ast.stmt):
            return False
    return False


def _is_f_string_argument(proposed: ProposedEdit) -> bool:
    """Return whether an argument that becomes None is an f-string: a message, not a value."""
    node, span = proposed.context.node, (proposed.edit.start, proposed.edit.end)
    if proposed.operator.name != "argument" or not isinstance(node, ast.Call):
        return False
    source = proposed.context.source
    return any(isinstance(arg, ast.JoinedStr) and source.span(arg) == span for arg in node.args)


def _is_logged(proposed: ProposedEdit) -> bool:
    node = proposed.context.node
    own = node.value if isinstance(node, ast.Expr) else node
    return any(_is_logging_call(item) for item in (own, *proposed.context.ancestors))


def _is_logging_call(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr in _LOGGING_METHODS and get_last_name(node.func.value) in _LOGGER_NAMES


def _is_removed_decorator(proposed: ProposedEdit, names: set[str]) -> bool:
    name = proposed.original.lstrip("@ ").partition("(")[0].rpartition(".")[2]
    return proposed.operator.name == "decorator" and name in names


def _is_cache_size(proposed: ProposedEdit) -> bool:
    nodes = (proposed.context.node, *proposed.context.ancestors)
    return any(isinstance(item, ast.Call) and get_last_name(item) == "lru_cache" for item in nodes)


def _is_default_encoding(proposed: ProposedEdit) -> bool:
    text = proposed.original.strip(", \n")
    if proposed.operator.name != "keyword" or not text.startswith("encoding"):
        return False
    return text.replace(" ", "").lower()[9:].strip("'\"") in ("utf-8", "utf8")


def _is_copy_as_list(proposed: ProposedEdit) -> bool:
    """Whether `list(x)` becomes `x`."""
    node = proposed.context.node
    is_list = isinstance(node, ast.Call) and get_last_name(node.func) == "list"
    return proposed.operator.name == "unwrapped" and is_list


def _is_split_without_limit(proposed: ProposedEdit) -> bool:
    """Whether `split` and `rsplit` are exchanged without a maximum number of splits."""
    node = proposed.context.node
    if proposed.operator.name != "other-call" or not isinstance(node, ast.Call):
        return False
    names_limit = any(item.arg in ("maxsplit", None) for item in node.keywords)
    return proposed.original in _SPLITTING_METHODS and len(node.args) < 2 and not names_limit


def _is_set_of_characters(proposed: ProposedEdit) -> bool:
    """Whether the text is a set of punctuation marks to search one by one: `sign in "+-"`."""
    node, parent = proposed.context.node, proposed.context.parent
    if proposed.operator.name != "text" or not isinstance(node, ast.Constant):
        return False
    if not node.value or any(item.isalnum() for item in str(node.value)):
        return False
    if isinstance(parent, ast.Compare):
        is_membership = all(isinstance(item, (ast.In, ast.NotIn)) for item in parent.ops)
        return is_membership and node in parent.comparators
    method = parent.func if isinstance(parent, ast.Call) else None
    return isinstance(method, ast.Attribute) and method.attr in _STRIPPING_METHODS


def _is_unseen_argument(proposed: ProposedEdit) -> bool:
    """Return whether the edit is in an argument whose effect no test can compare.

    One operator changes the value, another one the whole keyword argument.
    """
    path = (proposed.context.node, proposed.context.parent)
    is_value = any(isinstance(item, ast.keyword) and item.arg in _UNSEEN_ARGUMENTS for item in path)
    return is_value or proposed.original.strip(", \n").partition("=")[0] in _UNSEEN_ARGUMENTS


def _is_usage_text(proposed: ProposedEdit) -> bool:
    """Return whether the edit is in a text that `argparse` shows as a program's usage."""
    path = (proposed.context.node, *reversed(proposed.context.ancestors))
    named = [item.arg for item in path if isinstance(item, ast.keyword)]
    if proposed.operator.name == "keyword":
        named = [proposed.original.strip(", \n").partition("=")[0].strip()]
    call = next((item for item in path if isinstance(item, ast.Call)), None)
    is_parser = call is not None and get_last_name(call.func) in _PARSER_CALLS
    return is_parser and not _USAGE_KEYWORDS.isdisjoint(map(str, named[:1]))


_RULES: tuple[tuple[str, EquivalenceRule], ...] = (
    (
        "in `__repr__`: written for developers, not for callers",
        partial(_is_in_method, name="__repr__"),
    ),
    ("in `__hash__`: any value is valid as long as equal objects agree", _is_in_hash),
    ("only the wording of an error: its type is what callers act on", _is_error_message),
    ("only what is logged", _is_logged),
    ("only the usage text of a program", _is_usage_text),
    ("`cast` does nothing with the type", types.is_type_of_cast),
    ("no test sees how long a thread lives, or where a warning points", _is_unseen_argument),
    ("a cache changes speed, not results", partial(_is_removed_decorator, names=_CACHE_DECORATORS)),
    ("the size of a cache changes speed, not results", _is_cache_size),
    (
        "a decorator for readers and tools",
        partial(_is_removed_decorator, names=_COSMETIC_DECORATORS),
    ),
    ("UTF-8 is the default where tests run", _is_default_encoding),
    ("names of types and type variables are for readers", types.is_name_of_type),
    ("a type is for type checkers", types.is_in_type),
    ("a list and its copy are equal until one is changed", _is_copy_as_list),
    ("without a maximum, splits from either end are the same", _is_split_without_limit),
    ("characters that do not occur do not change a search for others", _is_set_of_characters),
)
