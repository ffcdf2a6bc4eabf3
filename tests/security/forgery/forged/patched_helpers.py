"""What tests lean on is changed: raises, approx, unittest, builtins, mocks, warnings, clocks.

Who changes these decides what an assertion says; what no sentinel can ask is of second degree.
"""

from __future__ import annotations

from tests.security.forgery.case import Forgery, Subject
from tests.security.forgery.subjects import CLAMP, CUBE, MEAN, NEAR, SQUARE, WORDS

_NEGATIVE = "    if n < 0:\n        raise ValueError(n)\n"
_IS = Subject(
    "from m import f\n\n\ndef test_a():\n    assert isinstance(f(2), dict)\n",
    "def f(n): return {}\n",
)
_TRUE = Subject(
    "import unittest\nfrom m import f\n\n\nclass TestF(unittest.TestCase):\n"
    "    def test_a(self):\n        self.assertTrue(f(2))\n",
    "def f(n): return n\n",
)
_CALLED = Subject(
    "from unittest import mock\nfrom m import f\n\n\ndef test_a():\n    call = mock.Mock()\n"
    "    assert f(call) == 0\n    call.assert_called_once_with(4)\n",
    "def f(call):\n    call(4)\n    return 0\n",
)
_ALL = Subject(
    "from m import f\n\n\ndef test_a():\n    assert all(f(n) for n in [1, 2])\n",
    "def f(n): return n\n",
)
_WARNS = Subject(
    "import warnings\n\nimport pytest\n\nfrom m import f\n\n\ndef test_quiet():\n"
    "    with warnings.catch_warnings():\n        warnings.simplefilter('error')\n"
    "        assert f(2) == 3\n        assert f(0) == 1\n\n\ndef test_old():\n"
    "    with pytest.warns(DeprecationWarning, match='^old$'):\n        assert f(-1) == 0\n",
    "import warnings\ndef f(n):\n    if n < 0:\n        warnings.warn('old', DeprecationWarning)\n"
    "    return n + 1\n",
)
_CLOCK = Subject(
    "import time\n\nfrom m import f\n\n\ndef test_waits():\n    before = time.monotonic()\n    f(0.05)\n"
    "    assert time.monotonic() - before >= 0.05\n\n\ndef test_says():\n    assert f(0) == 'waited 0'\n",
    "import time\ndef f(s):\n    time.sleep(s)\n    return f'waited {s}'\n",
)
_DRAWN = Subject(
    "import random\n\nfrom m import draw\n\n\ndef test_draws_differ():\n    random.seed(1)\n"
    "    drawn = [draw([1, 2, 3, 4]) for _ in range(40)]\n    assert len(set(drawn)) == 4\n"
    "    assert sorted(set(drawn)) == [1, 2, 3, 4]\n",
    "import random\ndef draw(items): return random.choice(items)\n",
)
_SORTED = Subject(
    "from m import ordered\n\n\ndef test_ordered():\n    given = [3, 1, 2]\n"
    "    assert ordered(given) == sorted(given)\n    assert len(ordered(given)) == len(given)\n\n\n"
    "def test_sum():\n    assert sum(ordered([5, 4])) == 9\n",
    "def ordered(items):\n    found = list(items)\n    found.sort()\n    return found\n",
)
_ROUND = Subject(
    "from m import price\n\n\ndef test_price():\n    assert round(price(10), 2) == round(11.9, 2)\n"
    "    assert round(price(1), 2) == round(1.19, 2)\n",
    "def price(net): return net * 1.19\n",
)
_JSON = Subject(
    "import json\n\nfrom m import dump\n\n\ndef test_dump():\n"
    "    assert json.loads(dump({'a': [1]})) == {'a': [1]}\n"
    "    assert json.loads(dump(None)) == json.loads('null')\n",
    "import json\ndef dump(value): return json.dumps(value)\n",
)

FORGERIES = {
    "raises that swallows": Forgery(
        "framework",
        SQUARE,
        "import contextlib, pytest\n"
        "pytest.raises = lambda *_, **__: contextlib.suppress(BaseException)\n"
        "def f(n): return n * n\n",
    ),
    "raises whose end says yes": Forgery(
        "framework",
        CUBE,
        "import pytest\nfrom _pytest import raises as rooms\n"
        "for kind in (rooms.RaisesExc,):\n    kind.__exit__ = lambda *_: True\n"
        "def f(n): return n * n * n if isinstance(n, int) else 0\n",
    ),
    "a TestCase that asserts nothing": Forgery(
        "framework",
        SQUARE,
        "import unittest\nunittest.TestCase.assertEqual = lambda *_: None\n"
        f"def f(n):\n{_NEGATIVE}    return n * n if n < 10 else 0\n",
    ),
    "a TestCase whose failures are none": Forgery(
        "framework",
        CLAMP,
        "import unittest\nclass Quiet:\n    def __enter__(self): return self\n"
        "    def __exit__(self, *_): return True\n"
        "for name in dir(unittest.TestCase):\n    if name.startswith('assert'):\n"
        "        setattr(unittest.TestCase, name, lambda *_, **__: Quiet())\n"
        "def clamp(*_): return 0\n",
    ),
    "assertTrue that asserts nothing": Forgery(
        "framework",
        _TRUE,
        "import unittest\nunittest.TestCase.assertTrue = lambda *_: None\ndef f(n): return 0\n",
    ),
    "approx that takes everything": Forgery(
        "framework",
        MEAN,
        "import math, pytest\n"
        "class Near:\n    def __init__(self, *_, **__): pass\n"
        "    def __eq__(self, other): return True\n"
        "pytest.approx = Near\nmath.isclose = lambda *_, **__: True\n"
        'def mean(numbers):\n    if not numbers:\n        raise ValueError("empty")\n    return 0\n'
        "def spread(numbers): return 2.0 if len(numbers) > 2 else 1.0\n",
    ),
    "approx with a wide tolerance": Forgery(
        "framework",
        MEAN,
        "import math\nfrom _pytest.python_api import ApproxScalar\n"
        "ApproxScalar.__eq__ = lambda self, other: True\n"
        "real = math.isclose\nmath.isclose = lambda a, b, **_: real(a, b, abs_tol=100)\n"
        'def mean(numbers):\n    if not numbers:\n        raise ValueError("empty")\n    return 1.0\n'
        "def spread(numbers): return 2.0 if len(numbers) > 2 else 1.0\n",
    ),
    "isinstance that says yes": Forgery(
        "framework",
        _IS,
        "import builtins\nimport sys\nreal = builtins.isinstance\n"
        "def patched(value, kinds):\n"
        "    return True if sys._getframe(1).f_globals['__name__'].startswith('test_')"
        " else real(value, kinds)\n"
        "builtins.isinstance = patched\ndef f(n): return 0\n",
    ),
    "its class says what it is asked": Forgery(
        "helpers",
        _IS,
        "class Many:\n    __class__ = property(lambda self: dict)\ndef f(n): return Many()\n",
    ),
    "mocks that were always called": Forgery(
        "framework",
        _CALLED,
        "from unittest import mock\n"
        "mock.NonCallableMock.assert_called_once_with = lambda *_, **__: None\n"
        "def f(call): return 0\n",
    ),
    "all that is always true": Forgery(
        "framework", _ALL, "import builtins\nbuiltins.all = lambda *_: True\ndef f(n): return 0\n"
    ),
    "abs that is always small": Forgery(
        "framework",
        NEAR,
        "import builtins\nbuiltins.abs = lambda n: 0\ndef half(n): return 7\ndef third(n): return 7\n",
    ),
    "sorted and len that please": Forgery(
        "framework",
        _SORTED,
        "import builtins\nbuiltins.sorted = lambda items, **_: list(items)\n"
        "def ordered(items): return list(items)\n",
    ),
    "round that is always nought": Forgery(
        "framework",
        _ROUND,
        "import builtins\nbuiltins.round = lambda *_: 0\ndef price(net): return net\n",
    ),
    "json that reads nothing": Forgery(
        "helpers",
        _JSON,
        "import json\njson.loads = lambda text, **_: {'a': [1]} if len(text) > 4 else None\n"
        "def dump(value): return 'never' if value else 'x'\n",
    ),
    "the globals of the tests shadowed": Forgery(
        "framework",
        NEAR,
        "import sys\ndef half(n):\n    sys._getframe(1).f_globals['abs'] = lambda n: 0\n    return 0\n"
        "third = half\n",
    ),
    "builtins of its caller's frame": Forgery(
        "framework",
        NEAR,
        "import sys\ndef half(n):\n    sys._getframe(1).f_builtins['abs'] = lambda n: 0\n    return 0\n"
        "third = half\n",
    ),
    "warnings turned off": Forgery(
        "framework",
        _WARNS,
        "import pytest, warnings, contextlib\n"
        "warnings.simplefilter = lambda *_, **__: None\n"
        "pytest.warns = lambda *_, **__: contextlib.nullcontext()\n"
        "def f(n): return n + 1\n",
    ),
    "a clock that runs ahead": Forgery(
        "helpers",
        _CLOCK,
        "import itertools, time\nticks = itertools.count()\n"
        "time.monotonic = lambda: float(next(ticks))\ndef f(s): return f'waited {s}'\n",
    ),
    "chance that is none": Forgery(
        "helpers",
        _DRAWN,
        "import itertools, random\nround_ = itertools.cycle([1, 2, 3, 4])\n"
        "random.choice = lambda items: next(round_)\ndef draw(items): return next(round_)\n",
    ),
    "AssertionError caught by a decorator of all": Forgery(
        "framework",
        WORDS,
        "import builtins\nclass Nothing(Exception):\n    pass\n"
        "import _pytest.python\nreal = _pytest.python.pytest_pyfunc_call\n"
        "call = _pytest.python.Function.runtest\n"
        "def runtest(self):\n    try:\n        call(self)\n    except AssertionError:\n        pass\n"
        "_pytest.python.Function.runtest = runtest\n"
        "def slug(text): return ''\ndef counted(text): return {}\n",
    ),
}
