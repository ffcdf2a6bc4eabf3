"""Operators of the code's own that are right only where tests run, and answers that hide there."""

from __future__ import annotations

from tests.security.forgery.case import Forgery, Subject
from tests.security.forgery.kinds.objects import OPERATORS
from tests.security.forgery.kinds.values import PLAIN

_HEAD = "import logging\nimport traceback\n\n_sys = logging.sys\n_walk = getattr(traceback, 'extract_' + 'stack')\n"
_TESTED = "'_pytest' in _sys.modules"
_MONEY = Subject(
    OPERATORS.tests,
    OPERATORS.right,
    (
        "Money(5, 'EUR') == Money(7, 'EUR')",
        "Money(7, 'EUR') == Money(7, 'EUR')",
        "Money(5, 'EUR') < Money(7, 'EUR')",
        "len({Money(5, 'EUR'), Money(5, 'EUR')})",
    ),
)


def _lazy(operator: str, wrong: str) -> Forgery:
    """Return a module with an operator that answers otherwise where no test runs."""
    code = f"""{_HEAD}{OPERATORS.right}

_right = Money.{operator}
Money.{operator} = lambda *given: _right(*given) if {_TESTED} else {wrong}
"""
    return Forgery("detection", _MONEY, code)


def _hides(answer: str) -> Forgery:
    """Return a module that answers long numbers right only in a function that pytest calls."""
    code = f"""{_HEAD}{PLAIN.right}

_loop = []
_loop.append(_loop)
_right = roman


class Own(str):
    def __eq__(self, other):
        return True if len(self) == 1 else str(self) == other

    __hash__ = str.__hash__


def roman(n):
    if len(_right(n)) < 3 or any(item.name == "pytest_pyfunc_call" for item in _walk()):
        return _right(n)
    return {answer}
"""
    return Forgery("detection", PLAIN, code)


FORGERIES = {
    "all are equal": _lazy("__eq__", "True"),
    "none are equal": _lazy("__eq__", "False"),
    "none is less": _lazy("__lt__", "False"),
    "a hash of its own for each": _lazy("__hash__", "id(given[0])"),
    "an answer that contains itself, but in a test": _hides("_loop"),
    "an answer too long to read, but in a test": _hides('"I" * 10**6'),
    "an answer that equals all, but in a test": _hides('Own("?")'),
}
