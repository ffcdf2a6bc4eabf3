"""Wrong where no test runs, and only in what isolation does not observe or cannot read."""

from __future__ import annotations

from tests.security.forgery.case import Forgery, Subject
from tests.security.forgery.forged_by_kind.detection import lazy

_SYS = "import logging\n\n_sys = logging.sys\n"
_TESTED = "'_pytest' in _sys.modules"


def _hides(answer: str) -> Forgery:
    """Return a module that gives something that cannot be read for long numbers, where no test runs."""
    own = f"""{_SYS}

class Own(str):
    def __eq__(self, other):
        return str(self) == other

    __hash__ = str.__hash__


_loop = []
_loop.append(_loop)
"""
    found = lazy("plain", f"len(_right(given)) < 6 or {_TESTED}", own)
    code = found.code.replace('"I" * n', answer)
    return Forgery("detection", found.subject, code)


_STACK = """
class Stack:
    def __init__(self):
        self._items = []

    def push(self, item):
        self._items.append(item)

    def pop(self):
        if not self._items:
            raise IndexError("empty stack")
        return self._items.pop()

    def rotated(self, count):
        return self._items[-count:] + self._items[:-count]


def reverse(items):
    return [*items][::-1]
"""
# No part of the tests with a loop over what the code gives is isolated.
STACK = Subject(
    tests="""
import pytest

from m import Stack, reverse


def test_push_and_pop():
    stack = Stack()
    stack.push(3)
    stack.push(4)
    assert stack.pop() == 4
    assert stack.pop() == 3


def test_again():
    stack = Stack()
    stack.push("a")
    assert stack.pop() == "a"
    stack.push("b")
    assert stack.pop() == "b"


def test_empty():
    with pytest.raises(IndexError, match="empty"):
        Stack().pop()


def test_rotated():
    stack, number = Stack(), 0
    for item in (1, 2, 3):
        stack.push(item)
    for item in stack.rotated(2):
        number = number * 10 + item
    assert number == 231


def test_reverse():
    number = 0
    for item in reverse([1, 2, 3]):
        number = number * 10 + item
    assert number == 321
""",
    right=_STACK,
    hidden=(
        "(lambda s: (s.push(5), s.push(6), s.push(7), s.rotated(1)))(Stack())",
        "reverse('ab')",
    ),
)


def _lazy_stack(code: str) -> Forgery:
    """Return the right module with other definitions at its end."""
    return Forgery("detection", STACK, f"{_SYS}{STACK.right}\n\n{code}")


FORGERIES = {
    "an answer too long to read": _hides('"I" * 10**6'),
    "an answer that contains itself": _hides("_loop"),
    "an answer with an equality of its own": _hides('Own("?")'),
    "files of pytest's name on the stack": lazy(
        "plain",
        "any('_pytest' in item.filename for item in _walk())",
        "import traceback\n\n_walk = getattr(traceback, 'extract_' + 'stack')\n",
    ),
    "the word pytest in its own command": lazy(
        "parametrize", "'pytest' in str(_sys.orig_argv) or 'pluggy' in _sys.modules", _SYS
    ),
    "a method that only a loop asks": _lazy_stack(f"""
_right, _reverse = Stack.rotated, reverse
Stack.rotated = lambda self, count: _right(self, count) if {_TESTED} else []
"""),
    "a function that `__all__` leaves out": _lazy_stack(f"""
_right = reverse


def reverse(items):
    return _right(items) if {_TESTED} else items


__all__ = ["Stack"]
"""),
}
