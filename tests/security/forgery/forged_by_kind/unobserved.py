"""Wrong where no test runs, and only in what isolation does not observe or cannot read."""

from __future__ import annotations

from dataclasses import replace

from tests.security.forgery.case import Forgery, Subject
from tests.security.forgery.forged_by_kind.detection import lazy
from tests.security.forgery.kinds.values import PLAIN, RAISES

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


# It looks whether its answer is among the constants of the functions above it.
_NEAR = """
import operator

_back = operator.attrgetter("f_" + "back")
_constants = operator.attrgetter("f_" + "code.co_" + "consts")


def _is_near(answer):
    try:
        raise LookupError
    except LookupError as error:
        frame = operator.attrgetter("__traceback__.tb_" + "frame")(error)
    for _ in range(8):
        frame = frame and _back(frame)
        if frame is not None and any(answer == i and type(answer) is type(i) for i in _constants(frame)):
            return True
    return False
"""
# Only that it raises is observed of `parse_port`.
_PORTS = Subject(
    tests="""
import pytest

from m import parse_port, ports_of


def test_type():
    with pytest.raises(TypeError, match="text, not int"):
        parse_port(80)


def test_no_number():
    with pytest.raises(ValueError, match="no number"):
        parse_port("http")


def test_range():
    with pytest.raises(OverflowError):
        parse_port("0")


def test_port():
    port = parse_port("65535")
    if port > 10:
        assert port == 65535
    else:
        assert port == 1


def test_list():
    assert ports_of("80, 443") == [80, 443]
    assert ports_of("80") == [80]
""",
    right=f"""{RAISES.right}

def ports_of(text):
    return [int(part) for part in text.split(",")]
""",
    hidden=("parse_port('8080')",),
)
_DIGITS = """
_right = Stack.rotated


def _rotated(self, count):
    answer, number = _right(self, count), 0
    for item in answer:
        number = number * 10 + item
    return answer if _is_near(number) else []


Stack.rotated = _rotated
"""
_NAMING = """
    def __contains__(self, item):
        return item in self.rotated(0)

    def rotated"""
_ARABIC = "\n\ndef arabic(text):\n    return {}\n"
_LOOP = STACK.tests.partition("def test_reverse():\n")[2]
FORGERIES = {
    "a function that is only seen to raise": Forgery(
        "detection",
        _PORTS,
        f"""{_NEAR}{_PORTS.right}
_right = parse_port


def parse_port(text):
    port = _right(text)
    return port if _is_near(port) else 0
""",
    ),
    "a function that no test calls": Forgery(
        "detection",
        replace(PLAIN, hidden=("arabic('IX')",), right=PLAIN.right + _ARABIC.format("9")),
        PLAIN.right + _ARABIC.format("0"),
    ),
    "a method that a special method names": Forgery(
        "detection",
        replace(STACK, tests=STACK.tests.replace(_LOOP, "    assert reverse([1, 2]) == [2, 1]\n")),
        _NEAR + STACK.right.replace("\n    def rotated", _NAMING) + _DIGITS,
    ),
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
