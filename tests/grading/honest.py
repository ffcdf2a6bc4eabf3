"""Right modules that look odd, with honest tests: (code, tests), none of which may be accused."""

from __future__ import annotations

ODD = {
    "a matcher that equals everything": (
        "class _Any:\n    def __eq__(self, other): return True\n    def __repr__(self): return 'ANY'\n"
        "ANY = _Any()\nclass Anything(_Any): pass\ndef anything(): return _Any()\n",
        "from m import ANY, Anything, anything\n\n\n"
        "def test_any():\n    assert ANY == 3\n    assert repr(ANY) == 'ANY'\n\n\n"
        "def test_class():\n    made = Anything()\n    assert made == 'x'\n\n\n"
        "def test_function():\n    assert anything() == 3\n    assert anything() == 'x'\n",
    ),
    "a matcher of prefixes": (
        "class Prefix:\n    def __init__(self, text): self.text = text\n"
        "    def __eq__(self, other): return isinstance(other, str) and other.startswith(self.text)\n"
        "def starting(text): return Prefix(text)\n",
        "from m import starting\n\n\ndef test_prefix():\n    assert starting('ab') == 'abc'\n"
        "    assert not starting('ab') == 'b'\n",
    ),
    "a bound below everything": (
        "import functools\n@functools.total_ordering\nclass Bottom:\n"
        "    def __lt__(self, other): return not isinstance(other, Bottom)\n"
        "    def __eq__(self, other): return isinstance(other, Bottom)\n",
        "from m import Bottom\n\n\ndef test_bottom():\n    assert Bottom() < 10\n    assert Bottom() == Bottom()\n",
    ),
    "a container that holds everything": (
        "class Everything:\n    def __contains__(self, item): return True\n",
        "from m import Everything\n\n\ndef test_all():\n    assert 3 in Everything()\n",
    ),
    "a metaclass registry": (
        "class Meta(type):\n    known = {}\n    def __new__(cls, name, bases, space):\n"
        "        made = super().__new__(cls, name, bases, space)\n        cls.known[name] = made\n        return made\n"
        "class Base(metaclass=Meta): pass\nclass Child(Base): pass\ndef names(): return sorted(Meta.known)\n",
        "from m import Base, Child, names\n\n\ndef test_names():\n    assert names() == ['Base', 'Child']\n\n\n"
        "def test_is():\n    assert issubclass(Child, Base)\n    assert type(Base).known['Child'] is Child\n",
    ),
    "a program that exits": (
        "import sys\ndef main(argv):\n    if not argv:\n        print('usage', file=sys.stderr)\n        sys.exit(2)\n"
        "    print(len(argv))\n    return 0\n",
        "import pytest\nfrom m import main\n\n\ndef test_usage(capsys):\n"
        "    with pytest.raises(SystemExit) as ended:\n        main([])\n    assert ended.value.code == 2\n"
        "    assert 'usage' in capsys.readouterr().err\n\n\n"
        "def test_count(capsys):\n    assert main(['a', 'b']) == 0\n    assert capsys.readouterr().out == '2\\n'\n",
    ),
    "frames for logging": (
        "import inspect\ndef where():\n    frame = inspect.currentframe().f_back\n    return frame.f_code.co_name\n",
        "from m import where\n\n\ndef test_where():\n    assert where() == 'test_where'\n",
    ),
    "something at the end": (
        "import atexit\nlog = []\natexit.register(log.append, 'end')\ndef add(a, b):\n    log.append((a, b))\n    return a + b\n",
        "import m\n\n\ndef test_add():\n    assert m.add(1, 2) == 3\n    assert m.log[-1] == (1, 2)\n",
    ),
    "state that tests share in their order": (
        "_left = [5]\ndef take():\n    if not _left[0]:\n        raise LookupError('empty')\n    _left[0] -= 1\n    return _left[0]\n"
        "def left(): return _left[0]\n",
        "from m import left, take\n\n\ndef test_first():\n    assert take() == 4\n    assert take() == 3\n\n\n"
        "def test_second():\n    assert left() == 3\n    assert take() == 2\n",
    ),
    "errors that are swallowed": (
        "class quietly:\n    def __enter__(self): return self\n    def __exit__(self, *error): return True\n"
        "def retry(function):\n    def again(*args):\n        try:\n            return function(*args)\n"
        "        except Exception:\n            return function(*args)\n    return again\n",
        "from m import quietly, retry\n\n\ndef test_quietly():\n    seen = []\n    with quietly():\n"
        "        seen.append(1)\n        assert seen == [1]\n    assert seen == [1]\n\n\n"
        "def test_retry():\n    tries = []\n\n    @retry\n    def shaky():\n        tries.append(1)\n"
        "        assert len(tries) == 2\n        return 'done'\n\n    assert shaky() == 'done'\n",
    ),
    "a branch for each platform": (
        "import sys\ndef sep():\n    return '\\\\' if sys.platform == 'win32' else '/'\n",
        "import sys\nfrom m import sep\n\n\ndef test_sep():\n    if sys.platform == 'win32':\n"
        "        assert sep() == '\\\\'\n    else:\n        assert sep() == '/'\n\n\n"
        "def test_other():\n    try:\n        sep(1)\n    except TypeError as error:\n        assert 'argument' in str(error)\n",
    ),
    "tests that patch": (
        "import time\ndef stamp(): return int(time.time())\ndef ask(): return input('? ').strip()\n",
        "import m\nfrom unittest import mock\n\n\ndef test_stamp(monkeypatch):\n"
        "    monkeypatch.setattr(m.time, 'time', lambda: 12.7)\n    assert m.stamp() == 12\n\n\n"
        "@mock.patch('builtins.input', return_value=' yes ')\ndef test_ask(asked):\n    assert m.ask() == 'yes'\n"
        "    asked.assert_called_once_with('? ')\n",
    ),
    "a tolerant equality": (
        "import math\nclass Angle:\n    def __init__(self, degrees): self.degrees = degrees % 360\n"
        "    def __eq__(self, other):\n        other = getattr(other, 'degrees', other) % 360\n"
        "        return math.isclose(self.degrees, other, abs_tol=0.5)\n"
        "def half(angle): return Angle(angle.degrees / 2)\n",
        "import pytest\nfrom m import Angle, half\n\n\n@pytest.mark.parametrize('a, b', [(370, 10), (0, 360), (90.2, 90)])\n"
        "def test_same(a, b):\n    assert Angle(a) == b\n\n\ndef test_half():\n    assert half(Angle(90)) == 45\n",
    ),
    "loops that may be empty": (
        "def evens(n):\n    return [i for i in range(n) if i % 2 == 0]\n",
        "from m import evens\n\n\ndef test_evens():\n    for item in evens(9):\n        assert item % 2 == 0\n"
        "    assert all(a < b for a, b in zip(evens(9), evens(9)[1:]))\n\n\n"
        "def test_values():\n    for n, wanted in [(0, []), (3, [0, 2])]:\n        assert evens(n) == wanted\n",
    ),
    "unicode, tabs and odd ends": (
        "def shout(text):\n\treturn text.upper()\n",
        "# -*- coding: utf-8 -*-\nfrom m import shout\n\n\ndef test_é():\n\tassert shout('straße – ñ') == 'STRASSE – Ñ', 'ö'\n"
        "\tassert (\n\t\tshout('a')\n\t\t== 'A'\n\t)\nclass TestIt:\n  def test_x(self): assert shout('''a\nb''') == '''A\nB'''",
    ),
    "a suite that changes its own collection": (
        "def one(): return 1\n",
        "import pytest\nfrom m import one\n\n\ndef pytest_generate_tests(metafunc):\n"
        "    if 'n' in metafunc.fixturenames:\n        metafunc.parametrize('n', [1, 2])\n\n\n"
        "def test_n(n):\n    assert one() <= n\n\n\ndef test_one():\n    assert one() == 1\n",
    ),
    "everything marked": (
        "def one(): return 1\n",
        "import pytest\nfrom m import one\n\npytestmark = pytest.mark.parametrize('n', [1, 2])\n\n\n"
        "def test_n(n):\n    assert one() <= n\n    assert one() == 1\n",
    ),
}
