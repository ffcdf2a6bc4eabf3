"""Odd but right: programs, frames, code that is made or traced, errors that are swallowed."""

from __future__ import annotations

from tests.security.forgery.case import Odd

ODD = {
    "a program that exits": Odd(
        "import sys\ndef main(argv):\n    if not argv:\n        print('usage', file=sys.stderr)\n"
        "        sys.exit(2)\n    print(len(argv))\n    return 0\n",
        "import pytest\nfrom m import main\n\n\ndef test_usage(capsys):\n"
        "    with pytest.raises(SystemExit) as ended:\n        main([])\n"
        "    assert ended.value.code == 2\n    assert 'usage' in capsys.readouterr().err\n\n\n"
        "def test_count(capsys):\n    assert main(['a', 'b']) == 0\n"
        "    assert capsys.readouterr().out == '2\\n'\n",
    ),
    "a command line by argparse": Odd(
        """
import argparse


def parsed(argv):
    parser = argparse.ArgumentParser(prog="tool")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("word")
    return parser.parse_args(argv)


def main(argv):
    options = parsed(argv)
    if options.times < 1:
        raise SystemExit("times must be positive")
    print(" ".join([options.word] * options.times))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(None))
""",
        """
import pytest

from m import main


def test_prints(capsys):
    assert main(["hi", "--times", "2"]) == 0
    assert capsys.readouterr().out == "hi hi\\n"


def test_once(capsys):
    main(["hi"])
    assert capsys.readouterr().out == "hi\\n"


def test_not_positive():
    with pytest.raises(SystemExit, match="positive"):
        main(["hi", "--times", "0"])


def test_usage(capsys):
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2
    assert "usage: tool" in capsys.readouterr().err
""",
    ),
    "something at the end": Odd(
        "import atexit\nlog = []\natexit.register(log.append, 'end')\n"
        "def add(a, b):\n    log.append((a, b))\n    return a + b\n",
        "import m\n\n\ndef test_add():\n    assert m.add(1, 2) == 3\n    assert m.log[-1] == (1, 2)\n",
    ),
    "frames for logging": Odd(
        "import inspect\ndef where():\n    frame = inspect.currentframe().f_back\n"
        "    return frame.f_code.co_name\n",
        "from m import where\n\n\ndef test_where():\n    assert where() == 'test_where'\n",
        looking=True,
    ),
    "a template engine that compiles": Odd(
        """
import re


def template(text):
    parts = re.split(r"{{(.*?)}}", text)
    source = "def render(names):\\n    out = []\\n"
    for number, part in enumerate(parts):
        if number % 2:
            source += f"    out.append(str(eval({part.strip()!r}, dict(names))))\\n"
        else:
            source += f"    out.append({part!r})\\n"
    source += "    return ''.join(out)\\n"
    space = {}
    exec(compile(source, "<template>", "exec"), space)
    return space["render"]
""",
        """
import pytest

from m import template


def test_names():
    assert template("Hi {{ name }}!")({"name": "A"}) == "Hi A!"


def test_expressions():
    assert template("{{a+1}}{{ a * 2 }}")({"a": 3}) == "46"


def test_no_names():
    assert template("plain")({}) == "plain"


def test_unknown():
    with pytest.raises(NameError):
        template("{{x}}")({})
""",
    ),
    "an interpreter of a syntax tree": Odd(
        """
import ast
import operator

_DOES = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul}


def evaluate(text):
    return _of(ast.parse(text, mode="eval").body)


def _of(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _DOES:
        return _DOES[type(node.op)](_of(node.left), _of(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_of(node.operand)
    raise ValueError(f"not allowed: {type(node).__name__}")
""",
        """
import pytest

from m import evaluate


@pytest.mark.parametrize("text, value", [("1+2*3", 7), ("-(4-1)", -3), ("2.5", 2.5), ("8 - 3", 5)])
def test_values(text, value):
    assert evaluate(text) == value


@pytest.mark.parametrize("text", ["x", "f(1)", "'a'", "2 / 1", "~1"])
def test_refused(text):
    with pytest.raises(ValueError, match="not allowed"):
        evaluate(text)
""",
    ),
    "errors that are swallowed": Odd(
        "class quietly:\n    def __enter__(self): return self\n"
        "    def __exit__(self, *error): return True\n"
        "def retry(function):\n    def again(*args):\n        try:\n            return function(*args)\n"
        "        except Exception:\n            return function(*args)\n    return again\n",
        "from m import quietly, retry\n\n\ndef test_quietly():\n    seen = []\n    with quietly():\n"
        "        seen.append(1)\n        assert seen == [1]\n    assert seen == [1]\n\n\n"
        "def test_retry():\n    tries = []\n\n    @retry\n    def shaky():\n        tries.append(1)\n"
        "        assert len(tries) == 2\n        return 'done'\n\n    assert shaky() == 'done'\n",
    ),
    "a tracer that counts lines": Odd(
        """
import sys


def lines_of(function, *args):
    seen = []

    def trace(frame, event, argument):
        if frame.f_code is function.__code__ and event == "line":
            seen.append(frame.f_lineno - frame.f_code.co_firstlineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*args)
    finally:
        sys.settrace(before)
    return seen
""",
        """
from m import lines_of


def test_lines():
    def some(n):
        if n:
            n += 1
        return n

    assert lines_of(some, 1) == [1, 2, 3]
    assert lines_of(some, 0) == [1, 3]
""",
        looking=True,
    ),
}
