"""Changes of the test framework: what its functions report of code that replaces them proves nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

_PACKAGES = frozenset({"_pytest", "pytest", "pluggy", "unittest"})
# References to functions that the code under test may replace.
_vars, _getattr, _type = vars, getattr, type


class FrameworkState:
    """The functions and properties of the framework's loaded modules and of their classes.

    `run_async` is what scenarios beside the tests run coroutines with.
    """

    def __init__(self, run_async: Callable[[Any], Any] | None) -> None:
        self.run_async = run_async
        self._members = [
            (owner, name, item, _get_code(item))
            for owner in _find_owners()
            for name, item in _vars(owner).items()
            if isinstance(item, (FunctionType, property, staticmethod, classmethod))
        ]

    def find_replaced(self) -> str:
        """Return the name of a member that is another one now, '' for none.

        The framework itself replaces some of its functions for a session, by others of its own,
        and adds some, which are gone when it ends.
        """
        for owner, name, item, code in self._members:
            current = _vars(owner).get(name, item)
            is_same = current is item and _get_code(current) is code
            if not is_same and not _is_of_framework(current):
                return f"{_getattr(owner, '__name__', '')}.{name}"
        return ""


def _get_function(item: Any) -> Any:
    return _getattr(item, "fget" if _type(item) is property else "__func__", item)


def _get_code(item: Any) -> Any:
    return _getattr(_get_function(item), "__code__", None)


def _is_of_framework(item: Any) -> bool:
    names = _getattr(_get_function(item), "__globals__", {})
    return str(names.get("__name__")).partition(".")[0] in _PACKAGES


def _find_owners() -> Iterator[Any]:
    """Yield the loaded modules of the framework, and the classes that they define."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in _PACKAGES and module is not None:
            yield module
            yield from (
                item
                for item in _vars(module).values()
                if isinstance(item, type) and item.__module__ == name
            )
