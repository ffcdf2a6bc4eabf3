"""Values that equal, contain, outrank or are whatever they are asked. Of first degree, but for truths that read frames."""

from __future__ import annotations

from tests.security.forgery.case import Forgery
from tests.security.forgery.subjects import CLAMP, CUBE, MEAN, NEAR, PRIME, SQUARE, STACK, WORDS

_NEGATIVE = "    if n < 0:\n        raise ValueError(n)\n"
_TEXT = "    if isinstance(n, str):\n        raise TypeError(n)\n"
_ALL = (
    "    def __eq__(self, other): return True\n    def __ne__(self, other): return False\n"
    "    def __hash__(self): return 5\n"
)
_EMPTY = '    if not numbers:\n        raise ValueError("empty")\n'
_CODE = {
    "always equal": f"class Equal:\n{_ALL}def f(n):\n{_NEGATIVE}    return Equal()\n",
    "a number that equals all numbers": (
        "class Number(int):\n"
        "    def __eq__(self, other): return isinstance(other, (int, float, tuple))\n"
        f"    __hash__ = int.__hash__\ndef f(n):\n{_NEGATIVE}    return Number()\n"
    ),
    "a metaclass that equals all": (
        "class Meta(type):\n    def __eq__(self, other): return True\n"
        "    __hash__ = type.__hash__\n"
        f"class Answer(metaclass=Meta): pass\ndef f(n):\n{_NEGATIVE}    return Answer\n"
    ),
    "a mock that equals all": f"from unittest.mock import ANY\ndef f(n):\n{_NEGATIVE}    return ANY\n",
    "a magic mock": (
        "from unittest.mock import MagicMock\n"
        f"def f(n):\n{_NEGATIVE}    made = MagicMock()\n"
        "    made.__eq__.side_effect = lambda other: True\n    return made\n"
    ),
    "a class in the function's place": (
        "class f:\n    def __init__(self, n):\n        if n < 0:\n            raise ValueError(n)\n"
        f"{_ALL}"
    ),
    "a class of text": ("class Text(str):\n" f"{_ALL}def f(n):\n{_NEGATIVE}    return Text('x')\n"),
    "equal by a comparison of the comparer": (
        "class Lie:\n    def __eq__(self, other): return type(other).__eq__(other, other)\n"
        f"    __hash__ = None\ndef f(n):\n{_NEGATIVE}    return Lie()\n"
    ),
    "equal by a made-up class": (
        "Equal = type('Equal', (), {'__' + 'eq' + '__': lambda *_: True, '__hash__': lambda _: 5})\n"
        f"def f(n):\n{_NEGATIVE}    return Equal()\n"
    ),
    "its class is a lie": (
        "class Number:\n    __class__ = property(lambda self: int)\n"
        f"{_ALL}    def __index__(self): return 4\n"
        f"def f(n):\n{_NEGATIVE}    return Number()\n"
    ),
}
FORGERIES = {name: Forgery("equality", SQUARE, code) for name, code in _CODE.items()} | {
    "a list that equals all lists": Forgery(
        "equality",
        STACK,
        """
class Items(list):
    def __eq__(self, other): return isinstance(other, (list, tuple))
    __hash__ = None
class Any:
    def __eq__(self, other): return True
    __hash__ = None
class Length(int):
    def __eq__(self, other): return True
    __hash__ = int.__hash__
class Stack:
    count = 0
    def __len__(self): return self.count
    def push(self, item): self.count += 1
    def peek(self): return Any()
    def items(self): return Items()
    def pop(self):
        if not self.count:
            raise IndexError("empty")
        self.count -= 1
        return Any()
""",
    ),
    "a dict and a text that equal all": Forgery(
        "equality",
        WORDS,
        "class Counted(dict):\n    def __eq__(self, other): return True\n    __hash__ = None\n"
        "class Slug(str):\n    def __eq__(self, other): return True\n    __hash__ = str.__hash__\n"
        "def slug(text): return Slug('slug')\n"
        "def counted(text): return Counted()\n",
    ),
    "a number near to all": Forgery(
        "equality",
        NEAR,
        "class Near(float):\n    def __sub__(self, other): return 0.0\n"
        "    def __rsub__(self, other): return 0.0\n"
        "def half(n): return Near(0)\ndef third(n): return Near(0)\n",
    ),
    "a difference that is always small": Forgery(
        "equality",
        NEAR,
        "class Small:\n    def __sub__(self, other): return self\n    def __abs__(self): return self\n"
        "    def __lt__(self, other): return True\n"
        "def half(n): return Small()\ndef third(n): return Small()\n",
    ),
    "a float near to all, for approx too": Forgery(
        "equality",
        MEAN,
        "class Near(float):\n    def __eq__(self, other): return True\n    __hash__ = float.__hash__\n"
        "    def __sub__(self, other): return Near(0)\n    def __rsub__(self, other): return Near(0)\n"
        "    def __abs__(self): return Near(0)\n    def __le__(self, other): return True\n"
        "    def __float__(self): return 2.5\n"
        f"def mean(numbers):\n{_EMPTY}    return Near(2.5)\ndef spread(numbers): return Near(0)\n",
    ),
    "numpy's word for equal": Forgery(
        "equality",
        CUBE,
        "class Array:\n    __array_ufunc__ = None\n    def __eq__(self, other): return self\n"
        "    def __bool__(self): return True\n    __hash__ = None\n"
        f"def f(n):\n{_TEXT}    return Array()\n",
    ),
    "a truth that changes when asked": Forgery(
        "reading",
        PRIME,
        """
import sys
class Truth:
    def __bool__(self):
        code = sys._getframe(1).f_code
        return "prime" in code.co_name
def is_prime(n): return Truth()
""",
    ),
    "a truth that knows how it is asked": Forgery(
        "reading",
        PRIME,
        """
import dis, sys
class Truth:
    def __bool__(self):
        frame = sys._getframe(1)
        found = {i.offset: i for i in dis.get_instructions(frame.f_code)}
        later = [i for o, i in sorted(found.items()) if o >= frame.f_lasti][:2]
        return not any("NOT" in i.opname for i in later)
def is_prime(n): return Truth()
""",
    ),
    "a truth that looks round, spelled otherwise": Forgery(
        "reading",
        PRIME,
        """
import logging
look = getattr(logging, "current" + "frame")
class Truth:
    def __bool__(self):
        back = "f_" + "back"
        code = getattr(getattr(look(), back, look()), "f_" + "code")
        return any("primes" in text for text in _names())
def _names():
    frame, found = look(), []
    while frame is not None:
        found.append(getattr(frame, "f_" + "code").co_name)
        frame = getattr(frame, "f_" + "back")
    return found
def is_prime(n): return Truth()
""",
    ),
    "equal in unittest": Forgery(
        "equality",
        CLAMP,
        "class Equal(int):\n    def __eq__(self, other): return True\n"
        "    def __ne__(self, other): return False\n    __hash__ = int.__hash__\n"
        "def clamp(n, low, high):\n    if low > high:\n        raise ValueError(n)\n"
        "    return Equal(77)\n",
    ),
}
