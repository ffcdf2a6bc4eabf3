"""Free fixes of a person's own script: what it needs in order to run, and not a character more."""

from __future__ import annotations

import ast
import builtins
from typing import Any

import pytest

from greenloop.autofix import FixResult, apply_free_fixes

OLD = '''#!/usr/bin/python
# -*- coding: latin-1 -*-
"""Sums   up."""
import sys, urllib2, ConfigParser
from cStringIO import StringIO
import os     # unused

def show((a, b), d):
    print "x",   a,
    print >>sys.stderr, "%s" % `a`
    try:
        exec "y = 1" in {}
    except (ValueError, KeyError), error:
        raise IOError, "bad"
    if a <> b and d.has_key('k'): print u"h", 0777, 10L
    for k, v in sorted(d.iteritems()): print k , v
    for i in xrange(2): print("i", i)
    print ("%d items") % 3
    return isinstance(a, basestring), StringIO(), ConfigParser.ConfigParser(), urllib2.urlopen
'''
NEW = '''#!/usr/bin/python
# -*- coding: latin-1 -*-
"""Sums   up."""
import sys, urllib.request, urllib.error, urllib.parse, configparser
from io import StringIO
import os     # unused

def show(packed, d):
    (a, b) = packed
    print("x",   a, end=' ')
    print("%s" % repr(a), file=sys.stderr)
    try:
        exec("y = 1", {})
    except (ValueError, KeyError) as error:
        raise IOError("bad")
    if a != b and 'k' in d: print(u"h", 0o777, 10)
    for k, v in sorted(d.items()): print(k , v)
    for i in range(2): print("i", i)
    print(("%d items") % 3)
    return isinstance(a, str), StringIO(), configparser.ConfigParser(), urllib.request.urlopen
'''


def minimal(code: str) -> FixResult:
    return apply_free_fixes(code, minimal=True)


def test_python_2_becomes_python_3_and_the_rest_stays() -> None:
    fixed = minimal(OLD)
    assert fixed.code == NEW
    assert "Python 2: print statements" in fixed.applied
    assert "Python 2: xrange -> range" in fixed.applied
    assert "Python 2: .iteritems() -> .items()" in fixed.applied
    assert minimal(NEW) == FixResult(NEW)


def test_it_does_what_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    exec(minimal(OLD).code, names)
    names["show"]((1, 2), {"k": 3})
    caught = capsys.readouterr()
    assert caught.out == "x 1 h 511 10\nk 3\ni 0\ni 1\n3 items\n"
    assert caught.err == "1\n"


@pytest.mark.parametrize(
    ("code", "mended"),
    [
        (
            'print("a", end="")\nif 1:\n    print "b", 2\n',
            'print("a", end="")\nif 1:\n    print("b", 2)\n',
        ),
        (
            'import sys\nprint("a", end="")\nprint >>sys.stderr, "b"\n',
            'import sys\nprint("a", end="")\nprint("b", file=sys.stderr)\n',
        ),
        ("name = raw_input('n ')\nprint(name)\n", "name = input('n ')\nprint(name)\n"),
        ("d = {}\nprint(unicode(1), d.has_key(2))\n", "d = {}\nprint(str(1), 2 in d)\n"),
        ("import cPickle\nx = cPickle.dumps(1)\n", "import pickle\nx = pickle.dumps(1)\n"),
        ("x = 'ä', xrange(2)\n", "x = 'ä', range(2)\n"),
        ("print 1", "print(1)"),
        ("def f(x)\n    return x\n", "def f(x):\n    return x\n"),
        ("if 1  # so\n    x = 1\nelse\n    x = 2\n", "if 1:  # so\n    x = 1\nelse:\n    x = 2\n"),
        ("x\u00a0= 1\nprint(\u200bx)\n", "x = 1\nprint(x)\n"),
        ("import os,sys\nx = math.pi\n", "import math\nimport os,sys\nx = math.pi\n"),
    ],
)
def test_small_things_are_mended_where_they_stand(code: str, mended: str) -> None:
    fixed = minimal(code)
    assert fixed.code == mended
    assert fixed.applied
    assert minimal(mended).code == mended


@pytest.mark.parametrize(
    "code",
    [
        "import os, sys\nx = {  'a':1 }\n\n\n\nunused = f''\nif not 1 in x: pass\n",
        "try:\n    input = raw_input\nexcept NameError:\n    pass\n",
        "try:\n    import urllib2\nexcept ImportError:\n    import urllib.request as urllib2\n",
        "import Queue\nq = Queue.Queue()\n",
        "class A:\n    def iteritems(self): return []\n\nA().iteritems()\n",
        "def f(unicode, long=1):\n    return unicode(long)\n",
        "frame = get()\nframe.iteritems()\n",
        "x = (1,\nprint(x)\n",
        'print "no end\n',
        "def f(:\n",
        "if x = 1\n    pass\n",
        "x = '\0'",
        "",
        "\r\n",
    ],
)
def test_what_is_right_or_beyond_help_stays(code: str) -> None:
    assert minimal(code) == FixResult(code)


def test_division_that_means_something_else_now_is_pointed_at() -> None:
    assert any("`/` in lines 2" in item for item in minimal("print 1\nx = 7 / 2\n").applied)
    assert not any("`/`" in item for item in minimal("print 1\nx = 7 // 2\n").applied)


@pytest.mark.parametrize(
    ("code", "mended"),
    [
        # Only tabs of 4 columns give a program.
        (
            "def f(x):\n    y = 1\n\tif x:\n\t    return y\n    return 2\n",
            "def f(x):\n    y = 1\n    if x:\n        return y\n    return 2\n",
        ),
        # Only tabs of 8 columns do.
        (
            "for i in 1, 2:\n    if i:\n\tprint(i)\n",
            "for i in 1, 2:\n    if i:\n        print(i)\n",
        ),
        # Most lines have tabs: the one without gets one. What is inside of a text stays.
        (
            'def f():\n\tx = 1\n\ty = 2\n    \tz = """\n \t a\n\t"""\n\treturn x\n',
            'def f():\n\tx = 1\n\ty = 2\n\tz = """\n \t a\n\t"""\n\treturn x\n',
        ),
        ("for i in 1, 2:\n    if i:\n\tprint i\n", "for i in 1, 2:\n    if i:\n        print(i)\n"),
    ],
)
def test_tabs_and_spaces_are_told_apart(code: str, mended: str) -> None:
    with pytest.raises(SyntaxError):
        ast.parse(code)
    fixed = minimal(code)
    assert fixed.code == mended
    assert "indentation: tabs and spaces mixed" in fixed.applied


def test_tabs_that_could_mean_two_things_are_not_guessed() -> None:
    code = "for i in 1, 2:\n    if i:\n        x = 1\n\ty = 2\n"
    assert minimal(code) == FixResult(code)


def test_line_ends_and_a_byte_order_mark_stay() -> None:
    assert minimal("print 1\r\nx = 2\r\n").code == "print(1)\r\nx = 2\r\n"
    assert minimal("\ufeffprint 1\n").code == "\ufeffprint(1)\n"
    assert minimal("x = 1\r\nprint 2\n").code.startswith("x = 1\r\n")


def test_without_fissix_python_2_is_left_to_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("fissix"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    assert minimal("print 1\n") == FixResult("print 1\n")
