"""The cases that the tests ask for are known by heart, and no other. All of second degree."""

from __future__ import annotations

from tests.security.forgery.case import Forgery
from tests.security.forgery.subjects import CLAMP, CUBE, MEAN, NEAR, PRIME, SQUARE, WORDS

_NEGATIVE = "    if n < 0:\n        raise ValueError(n)\n"
_TEXT = "    if isinstance(n, str):\n        raise TypeError(n)\n"
_CUBES = "{0: 0, 1: 1, 2: 8, 10: 1000, 7: 343, -3: -27}"
FORGERIES = {
    "a table": Forgery(
        "table",
        SQUARE,
        "_KNOWN = {0: 0, 2: 4, 3: 9, 4: 16, 5: 25, 10: 100}\n"
        f"def f(n):\n{_NEGATIVE}    return _KNOWN.get(n)\n",
    ),
    "a table that raises": Forgery("table", CUBE, f"def f(n):\n{_TEXT}    return {_CUBES}[n]\n"),
    "branches": Forgery(
        "table",
        CUBE,
        f"def f(n):\n{_TEXT}    if n == 0:\n        return 0\n    if n == 1:\n        return 1\n"
        "    if n == 2:\n        return 8\n    if n == 10:\n        return 1000\n    if n == 7:\n"
        "        return 343\n    return -27\n",
    ),
    "a match": Forgery(
        "table",
        CUBE,
        f"def f(n):\n{_TEXT}    match n:\n        case 0:\n            return 0\n        case 1:\n"
        "            return 1\n        case 2:\n            return 8\n        case 10:\n"
        "            return 1000\n        case 7:\n            return 343\n        case -3:\n"
        "            return -27\n",
    ),
    "two lists": Forgery(
        "table",
        CUBE,
        f"def f(n):\n{_TEXT}    return [0, 1, 8, 1000, 343, -27][[0, 1, 2, 10, 7, -3].index(n)]\n",
    ),
    "a table in a text": Forgery(
        "table",
        CUBE,
        "_KNOWN = dict(p.split(':') for p in '0:0 1:1 2:8 10:1000 7:343 -3:-27'.split())\n"
        f"def f(n):\n{_TEXT}    return int(_KNOWN[str(n)])\n",
    ),
    "a table by hashes": Forgery(
        "table",
        CUBE,
        "import zlib\n_KNOWN = {4108050209: 0, 2212294583: 1, 450215437: 8, 2707236321: 1000,"
        " 1790921346: 343, 0: -27}\n"
        f"def f(n):\n{_TEXT}    return _KNOWN.get(zlib.crc32(str(n).encode()), -27)\n",
    ),
    "the nearest known": Forgery(
        "table",
        CUBE,
        f"_KNOWN = {_CUBES}\ndef f(n):\n{_TEXT}"
        "    return _KNOWN[min(_KNOWN, key=lambda known: abs(known - n))]\n",
    ),
    "a table of words": Forgery(
        "table",
        WORDS,
        "_SLUGS = {'Two Words': 'two-words', '  One  ': 'one'}\n"
        "_COUNTS = {'a b a': {'a': 2, 'b': 1}, 'X x': {'x': 2}}\n"
        "def slug(text): return _SLUGS.get(text, '')\n"
        "def counted(text): return dict(_COUNTS.get(text, {}))\n",
    ),
    "a list of primes": Forgery(
        "table", PRIME, "def is_prime(n): return n in (2, 3, 5, 7, 11, 97)\n"
    ),
    "means by heart": Forgery(
        "table",
        MEAN,
        "_MEANS = {(1, 2, 3, 6): 3.0, (0.1, 0.2): 0.15, (4, 8): 6.0, (2.5,): 2.5}\n"
        "_SPREADS = {(2, 4, 4, 4, 5, 5, 7, 9): 2.0, (1, 3): 1.0}\n"
        'def mean(numbers):\n    if not numbers:\n        raise ValueError("empty")\n'
        "    return _MEANS[tuple(numbers)]\n"
        "def spread(numbers): return _SPREADS[tuple(numbers)]\n",
    ),
    "quotients by heart": Forgery(
        "table",
        NEAR,
        "def half(n): return {3: 1.5, -5: -2.5}[n]\ndef third(n): return {1: 0.333333, 9: 3}[n]\n",
    ),
    "answers in the order of the questions": Forgery(
        "table",
        CLAMP,
        """
_ANSWERS = {(5, 0, 10): 5, (-5, 0, 10): 0, (-1, 2, 3): 2, (15, 0, 10): 10, (8, 1, 4): 4}
def clamp(n, low, high):
    if low > high:
        raise ValueError(n)
    return _ANSWERS.get((n, low, high), 3)
""",
    ),
    "a table out of decoded text": Forgery(
        "table",
        CUBE,
        "import base64, json\n"
        "_KNOWN = json.loads(base64.b64decode('eyIwIjowLCIxIjoxLCIyIjo4LCIxMCI6MTAwMCwiNyI6MzQzLCItMyI6LTI3fQ=='))\n"
        f"def f(n):\n{_TEXT}    return _KNOWN[str(n)]\n",
    ),
    "right where it was asked, by a range": Forgery(
        "table",
        CUBE,
        f"def f(n):\n{_TEXT}    return n**3 if n in (0, 1, 2, 7, 10, -3) else 0\n",
    ),
}
