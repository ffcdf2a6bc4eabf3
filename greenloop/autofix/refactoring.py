"""Python 2 syntax rewritten by fissix, a fork of lib2to3, which is gone from Python 3.13.

Only what Python 3 cannot read is rewritten; the rest of the source keeps each of its characters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SYNTAX = {
    "print": "print statements",
    "except": "`except X, e`",
    "exec": "exec statements",
    "repr": "backticks",
    "ne": "`<>`",
    "numliterals": "old number literals",
    "raise": '`raise X, "…"`',
    "throw": "`throw(X, …)`",
    "tuple_params": "tuple parameters",
    "paren": "bare tuples in comprehensions",
    "has_key": "has_key",
}
HAS_KEY = {"has_key": SYNTAX["has_key"]}
PRINTS = {"print": SYNTAX["print"]}
IMPORTS = {"imports": "imports of renamed modules", "urllib": "imports of urllib's parts"}
_MADE_UP = "xxx_todo_changeme"
_Transform = Callable[[Any, Any], Any]


def refactored(code: str, fixers: dict[str, str]) -> tuple[str, list[str]]:
    """The source with these fixers run over it, and the words for those that found something.

    Where `print` is none of them, it is read as in Python 3. As it was, with no words, where fissix
    is not there or cannot read it.
    """
    used: set[str] = set()
    try:
        from fissix.pgen2.parse import ParseError  # type: ignore[import-untyped]
        from fissix.pgen2.tokenize import TokenError  # type: ignore[import-untyped]
        from fissix.refactor import RefactoringTool  # type: ignore[import-untyped]
    except (ImportError, OSError):  # it makes a folder for its cache
        return code, []
    try:
        names = [f"fissix.fixes.fix_{name}" for name in fixers]
        tool = RefactoringTool(names, {"print_function": "print" not in fixers})
        for fixer in (*tool.pre_order, *tool.post_order):
            fixer.transform = _noting(fixer, used)
        tree = tool.refactor_string(code if code.endswith("\n") else f"{code}\n", "script")
    except (ParseError, TokenError, SyntaxError, ValueError, RecursionError, OSError):
        return code, []
    except (AssertionError, AttributeError, LookupError, TypeError):  # a fixer's own mistake
        return code, []
    new = str(tree)
    new = new if code.endswith("\n") else new.removesuffix("\n")
    if _MADE_UP in new and _MADE_UP not in code:
        used.add("tuple_params")
        new = _plainer(new)
    return (new, [fixers[name] for name in fixers if name in used]) if new != code else (code, [])


def _noting(fixer: Any, used: set[str]) -> _Transform:
    name = type(fixer).__module__.rpartition(".fix_")[2]
    transform: _Transform = fixer.transform

    def noted(node: Any, results: Any) -> Any:
        if name == "print" and _is_call(node):
            return None
        before = str(node)
        new = transform(node, results)
        if new is not None or str(node) != before:
            used.add(name)
        return new

    return noted


def _is_call(node: Any) -> bool:
    """Whether it is `print(…)` and nothing behind it: Python 3 reads it, and it is meant so."""
    children = getattr(node, "children", [])
    if len(children) != 2 or not getattr(children[1], "children", None):
        return False
    inner = children[1].children
    return str(children[0]).strip() == "print" and str(inner[0]).strip() == "("


def _plainer(code: str) -> str:
    """The made-up names of parameters that were tuples, without what they say of themselves."""
    return code if "packed" in code else code.replace(_MADE_UP, "packed")
