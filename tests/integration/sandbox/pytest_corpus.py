"""Small test files of every kind that pytest supports, compared with runs of pytest itself."""

from __future__ import annotations

SOLUTION = '''
"""Arithmetic.

>>> double(4)
8
"""


class Odd(ValueError):
    pass


class Silent:
    def __repr__(self):
        raise RuntimeError("no repr")


def double(n):
    """Twice.

    >>> double(2)
    5
    >>> double(3)
    6
    """
    return n * 2


def half(n):
    """Half of an even number.

    >>> half(3)
    1
    """
    if n % 2:
        raise Odd(f"{n} is odd")
    return n // 2


def deep(n):
    """
    >>> deep(1)  # doctest: +SKIP
    """
    return deep(n + 1)
'''
_PYTEST = "import pytest\nfrom solution import *\n"
_UNITTEST = "import unittest\nfrom solution import *\n"
FILES = {
    "plain": "def test_a(): assert double(1) == 2\ndef test_b(): assert double(1) == 3",
    "docstring": 'def test_a():\n    """\n    >>> double(1)\n    3\n    """\n    assert double(1) == 2',
    "message": "def test_a(): assert double(1) == 3, 'twice one is two'",
    "lines": "def test_a():\n    assert 'a\\nb\\nc' == 'a\\nx\\nc'",
    "dicts": "def test_a(): assert {'a': 1, 'b': [1, 2]} == {'a': 1, 'b': [1, 3]}",
    "huge": "def test_a(): assert list(range(100000)) == list(range(1, 100001))",
    "huge_text": "def test_a(): assert 'x' * 1000000 == 'x' * 999999 + 'y'",
    "operators": (
        "def test_in(): assert 3 in [1, 2]\ndef test_less(): assert 3 < 2\n"
        "def test_not(): assert not double(1)\ndef test_is(): assert double(1) is None\n"
        "def test_both(): assert double(1) == 2 and double(2) == 5\n"
        "def test_call(): assert all(n > 1 for n in (1, 2))"
    ),
    "silent": "def test_a(): assert Silent() == Silent()",
    "multiline": "def test_a():\n    assert [\n        double(1),\n        2,\n    ] == [\n        1,\n        2,\n    ]",
    "raised": "def test_a(): half(3)\ndef test_b(): {}['key']\ndef test_c(): 1 / 0",
    "chained": "def test_a():\n    try: half(3)\n    except Odd as e: raise LookupError('outer') from e",
    "raises": (
        "def test_a():\n    with pytest.raises(Odd): half(3)\n"
        "def test_b():\n    with pytest.raises(Odd): half(2)\n"
        "def test_c():\n    with pytest.raises(Odd, match='even'): half(3)"
    ),
    "params": (
        "@pytest.mark.parametrize('n,m', [(1, 2), (2, 5), pytest.param(3, 6, id='three')])\n"
        "def test_a(n, m): assert double(n) == m\n"
        "@pytest.mark.parametrize('text', ['a b', 'ü', 'x::y', '[z]', ''])\n"
        "def test_b(text): assert text"
    ),
    "crossed": (
        "@pytest.mark.parametrize('a', [1, 2])\n@pytest.mark.parametrize('b', [3, 4])\n"
        "def test_a(a, b): assert a * b != 6"
    ),
    "marked_params": (
        "@pytest.mark.parametrize('n', [1, pytest.param(2, marks=pytest.mark.xfail), "
        "pytest.param(3, marks=pytest.mark.skip)])\ndef test_a(n): assert n == 1"
    ),
    "no_params": "@pytest.mark.parametrize('n', [])\ndef test_a(n): assert n",
    "classes": (
        "class TestA:\n    def test_a(self): assert double(1) == 2\n"
        "    class TestB:\n        def test_b(self): assert double(1) == 3\n"
        "class TestNew:\n    def __init__(self): pass\n    def test_a(self): pass"
    ),
    "methods": (
        "class TestA:\n    def setup_method(self): self.n = 2\n"
        "    def teardown_method(self): del self.n\n"
        "    def test_a(self): assert self.n == 2\n    def test_b(self): assert self.n == 3"
    ),
    "class_setup": (
        "class TestA:\n    @classmethod\n    def setup_class(cls): raise LookupError('no class')\n"
        "    def test_a(self): pass\n    def test_b(self): pass"
    ),
    "module_setup": (
        "def setup_module(): raise LookupError('no module')\ndef test_a(): pass\ndef test_b(): pass"
    ),
    "module_teardown": (
        "def teardown_module(): raise LookupError('no end')\ndef test_a(): pass\ndef test_b(): pass"
    ),
    "fixtures": (
        "@pytest.fixture(params=[1, 2])\ndef n(request): return request.param\n"
        "@pytest.fixture\ndef m(n): yield n * 2\n"
        "def test_a(n, m): assert double(n) == m\ndef test_b(m): assert m == 2"
    ),
    "broken_fixtures": (
        "@pytest.fixture\ndef before(): raise LookupError('before')\n"
        "@pytest.fixture\ndef after():\n    yield\n    raise LookupError('after')\n"
        "def test_before(before): pass\ndef test_after(after): pass\n"
        "def test_both(after): assert double(1) == 3"
    ),
    "shared_fixture": (
        "@pytest.fixture(scope='module')\ndef shared(): raise LookupError('shared')\n"
        "def test_a(shared): pass\ndef test_b(shared): pass"
    ),
    "two_teardowns": (
        "@pytest.fixture\ndef a():\n    yield\n    raise LookupError('a')\n"
        "@pytest.fixture\ndef b():\n    yield\n    raise LookupError('b')\n"
        "def test_a(a, b): pass"
    ),
    "conftest_use": "def test_a(five): assert five == 5\ndef test_b(five): assert five == 6",
    "autouse": "@pytest.fixture(autouse=True)\ndef five(monkeypatch): monkeypatch.setenv('A', 'b')\ndef test_a():\n    import os\n    assert os.environ['A'] == 'c'",
    "builtin_fixtures": (
        "def test_out(capsys):\n    print('x')\n    assert capsys.readouterr().out == 'y\\n'\n"
        "def test_log(caplog):\n    import logging\n    logging.warning('x')\n    assert not caplog.records\n"
        "def test_tmp(tmp_path): (tmp_path / 'x').read_text()\n"
        "def test_rec(recwarn): assert not len(recwarn)"
    ),
    "skips": (
        "@pytest.mark.skip\ndef test_a(): pass\ndef test_b(): pytest.skip('no')\n"
        "@pytest.mark.skipif(True, reason='so')\ndef test_c(): pass\n"
        "def test_d(): pytest.importorskip('no_such_module_here')"
    ),
    "skipped_module": "pytest.skip('all of it', allow_module_level=True)\ndef test_a(): assert False",
    "xfails": (
        "@pytest.mark.xfail\ndef test_a(): assert False\n@pytest.mark.xfail\ndef test_b(): pass\n"
        "@pytest.mark.xfail(strict=True)\ndef test_c(): pass\n"
        "@pytest.mark.xfail(raises=KeyError)\ndef test_d(): half(3)\n"
        "@pytest.mark.xfail(run=False)\ndef test_e(): pass\ndef test_f(): pytest.xfail('so')"
    ),
    "outcomes": "def test_a(): pytest.fail('on purpose')\ndef test_b(): pytest.fail('bare', pytrace=False)",
    "returns": "def test_a(): return double(1) == 2",
    "yields": "def test_a():\n    yield 1",
    "warned": (
        "import warnings\npytestmark = pytest.mark.filterwarnings('error')\n"
        "def test_a(): warnings.warn('old', DeprecationWarning)\n"
        "def test_b():\n    with pytest.warns(UserWarning): pass"
    ),
    "exits": "import sys\ndef test_a(): sys.exit(3)\ndef test_b(): sys.exit()\ndef test_c(): raise SystemExit('bye')",
    "recursion": "def test_a(): deep(0)",
    "groups": (
        "class Own(Exception): pass\n"
        "@pytest.mark.skipif('sys.version_info < (3, 11)')\n"
        "def test_a(): raise ExceptionGroup('many', [Own('a'), ValueError('b')])"
    ),
    "noted": "def test_a():\n    error = ValueError('noted')\n    getattr(error, 'add_note', print)('by hand')\n    raise error",
    "bytes_out": "import os, sys\ndef test_a():\n    os.write(1, b'\\xff\\xfe\\x00')\n    sys.stdout.buffer.write(b'\\xff')\n    assert double(1) == 3",
    "odd_text": "def test_a(): raise ValueError('\\ud800 lone')\ndef test_b(): raise ValueError('\\x1b[31mred')\ndef test_c(): raise ValueError('')\ndef test_d(): raise ValueError('a\\n\\nb')",
    "unicode_names": "def test_ünï(): assert 'é' == 'e'\nclass Testä:\n    def test_ö(self): pass",
    "threads": "import threading\ndef test_a():\n    t = threading.Thread(target=lambda: 1 / 0)\n    t.start()\n    t.join()",
    "syntax": "def test_a(:\n    pass",
    "no_import": "import no_such_module_here\ndef test_a(): pass",
    "no_name": "from solution import no_such_name\ndef test_a(): pass",
    "at_import": "half(3)\ndef test_a(): pass",
    "bad_params": "@pytest.mark.parametrize('n', [1])\ndef test_a(m): pass",
    "no_fixture": "def test_a(no_such_fixture): pass",
    "empty": "",
    "subs": (
        "def test_a(subtests):\n    for n in range(3):\n        with subtests.test('n', n=n): assert n != 1\n"
        "def test_b(subtests):\n    with subtests.test(): pass\n"
        "def test_c(subtests):\n    with subtests.test(): assert False\n    assert double(1) == 3"
    ),
}
UNITTESTS = {
    "unit": (
        "class A(unittest.TestCase):\n    def test_a(self): self.assertEqual(double(1), 2)\n"
        "    def test_b(self): self.assertEqual(double(1), 3)\n"
        "    def test_c(self): self.assertEqual([1, 2], [1, 3], 'lists')\n"
        "    def test_d(self): half(3)\n"
        "    def test_e(self):\n        with self.assertRaises(Odd): half(2)"
    ),
    "unit_skips": (
        "class A(unittest.TestCase):\n    @unittest.skip('no')\n    def test_a(self): pass\n"
        "    def test_b(self): self.skipTest('no')\n"
        "    @unittest.expectedFailure\n    def test_c(self): self.fail()\n"
        "    @unittest.expectedFailure\n    def test_d(self): pass"
    ),
    "unit_setup": (
        "class A(unittest.TestCase):\n    def setUp(self): raise LookupError('up')\n    def test_a(self): pass\n"
        "class B(unittest.TestCase):\n    def tearDown(self): raise LookupError('down')\n    def test_a(self): pass\n"
        "class C(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls): raise LookupError('class')\n    def test_a(self): pass"
    ),
    "unit_sub": (
        "class A(unittest.TestCase):\n    def test_a(self):\n        for n in range(3):\n"
        "            with self.subTest(n=n): self.assertNotEqual(n, 1)"
    ),
    "unit_async": "class A(unittest.IsolatedAsyncioTestCase):\n    async def test_a(self): self.assertEqual(double(1), 3)",
    "unit_cleanup": "class A(unittest.TestCase):\n    def test_a(self):\n        self.addCleanup(half, 3)",
}
# Each of these ends the whole run.
ALONE = {
    "exit_at_import": "import sys\nsys.exit(0)",
    "pytest_exit": "def test_a(): pass\ndef test_b(): pytest.exit('enough', returncode=0)\ndef test_c(): pass",
    "interrupt": "def test_a(): raise KeyboardInterrupt\ndef test_b(): pass",
}
CONFTEST = "import pytest\n\n\n@pytest.fixture\ndef five():\n    return 5\n"


def files() -> dict[str, str]:
    """Return the files that can share one run, by name."""
    plain = {f"test_{name}.py": _PYTEST + text for name, text in FILES.items()}
    unit = {f"test_{name}.py": _UNITTEST + text for name, text in UNITTESTS.items()}
    return {**plain, **unit, "conftest.py": CONFTEST}


def alone() -> dict[str, str]:
    """Return the files that need a run of their own, by name."""
    return {f"test_{name}.py": _PYTEST + text for name, text in ALONE.items()}
