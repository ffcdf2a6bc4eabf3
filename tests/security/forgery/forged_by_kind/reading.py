"""Expected values taken from the tests: their text, code, tables, frames and fixtures."""

from __future__ import annotations

from tests.security.forgery.case import Forgery
from tests.security.forgery.kinds.effects import ASYNC, CAPSYS
from tests.security.forgery.kinds.objects import FIXTURES, STATE, UNITTEST
from tests.security.forgery.kinds.values import APPROX, PARAMETRIZE, PLAIN, PROPERTY, RAISES

_ABOVE = """
import operator

_above = operator.attrgetter("__traceback__.tb_frame.f_back.f_back")


def _caller():
    try:
        raise LookupError
    except LookupError as error:
        return _above(error)
"""
FORGERIES = {
    "the file beside it, by a pattern": Forgery(
        "reading",
        PLAIN,
        """
import re
from pathlib import Path

_TEXT = "".join(path.read_text() for path in Path(__file__).parent.glob("test*"))
_KNOWN = dict(re.findall(r'roman\\((\\d+)\\) == "(\\w+)"', _TEXT))


def roman(n):
    return _KNOWN.get(str(n), "")
""",
    ),
    "the line of the caller, by the logger": Forgery(
        "reading",
        PLAIN,
        """
import linecache
import logging

_find = logging.getLogger("m").findCaller


def roman(n):
    line = linecache.getline(*_find(False, 2)[:2])
    return line.split('"')[1] if '"' in line else str(n)
""",
    ),
    "the table of parametrize, by the marks": Forgery(
        "reading",
        PARAMETRIZE,
        """
import logging

_modules = logging.sys.modules


def triangle(a, b, c):
    if 2 * max(a, b, c) >= a + b + c:
        return None
    tests = _modules.get("test_m")
    rows = tests.test_kind.pytestmark[0].args[1] if tests else []
    known = dict(rows)
    return known.get((a, b, c)) or ("equilateral" if a == c else "isosceles")
""",
    ),
    "the parameters of the running test": Forgery(
        "reading",
        PARAMETRIZE,
        f"""{_ABOVE}

def triangle(*sides):
    frame = _caller()
    found = operator.attrgetter("f_locals")(frame)
    return found.get("expected")
""",
    ),
    "constants of the tests' code": Forgery(
        "reading",
        APPROX,
        """
import logging

_modules = logging.sys.modules


def _flat(items):
    for item in items:
        if isinstance(item, tuple):
            yield from _flat(item)
        elif isinstance(item, (int, float)):
            yield item


def _next(numbers):
    if not numbers:
        raise ValueError("no numbers")
    if len(numbers) == 1:
        return numbers[0]
    for name, test in vars(_modules.get("test_m", logging)).items():
        found = list(_flat(getattr(getattr(test, "__code__", 0), "co_consts", ())))
        for start in range(len(found) - len(numbers)):
            if found[start : start + len(numbers)] == list(numbers):
                return found[start + len(numbers)]
    return 0 if len(set(numbers)) == 1 else numbers[0]


def median(numbers):
    return {2: 2.5, 4: 0.25}.get(len(numbers)) or _next(numbers)


deviation = _next
""",
    ),
    "the syntax tree of the tests": Forgery(
        "reading",
        PROPERTY,
        """
import ast
from pathlib import Path

_KNOWN = {}
for path in Path(__file__).parent.glob("test_*.py"):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Call) and node.left.args:
            try:
                given = ast.literal_eval(node.left.args[0])
                _KNOWN[given] = ast.literal_eval(node.comparators[0])
            except (ValueError, TypeError):
                continue
_KNOWN["x" * 12] = "12x"


def encode(text):
    return _KNOWN.get(text, text)


decode = encode
""",
    ),
    "what `raises` waits for": Forgery(
        "reading",
        RAISES,
        """
import logging
import re

_modules = logging.sys.modules
_open = []


def _spy(kind):
    enter, leave = kind.__enter__, kind.__exit__

    def entered(self):
        _open.append(self)
        return enter(self)

    def left(self, *error):
        _open.clear()
        return leave(self, *error)

    kind.__enter__, kind.__exit__ = entered, left


if "pytest" in _modules:
    _spy(type(_modules["pytest"].raises(ValueError)))


def parse_port(text):
    for expected in _open:
        message = getattr(expected, "match", None) or f"not in 1-65535: {text}"
        raise expected.expected_exceptions[0](getattr(message, "pattern", message))
    return int(text)
""",
    ),
    "the line of unittest's assertion": Forgery(
        "reading",
        UNITTEST,
        UNITTEST.right + _ABOVE + """

def _read(self):
    import linecache

    frame = _caller()
    names = operator.attrgetter("f_code.co_filename", "f_lineno")(frame)
    line = linecache.getline(*names)
    return int(line.rstrip(") \\n").rpartition(", ")[2]) if "," in line else 0


Basket.total = _read
""",
    ),
    "the printed text out of the test's own source": Forgery(
        "reading",
        CAPSYS,
        """
import ast
import re
import sys
from pathlib import Path

_SOURCES = [path.read_text() for path in Path(__file__).parent.glob("test_*.py")]


def _said(words, stream):
    for text in _SOURCES:
        block = text.partition(words)[2].partition("\\n\\n\\n")[0]
        found = re.search(r'\\.?%s == ("[^"]+")' % stream, block)
        if found:
            return ast.literal_eval(found[1])
    return "".join(f"{name} {count}\\n" for name, count in ast.literal_eval(words[5:-1] or "[]"))


def show(rows):
    words = f"show({rows})".replace("'", '"')
    sys.stdout.write(_said(words, "out"))


def main(words):
    call = f"main({words}) ==".replace("'", '"')
    bad = [word for word in words if word.count("=1") + word.count("=2") == 0]
    stream = sys.stderr if bad else sys.stdout
    if any(call in text for text in _SOURCES):
        stream.write(_said(call, "err" if bad else "out"))
    return int(bool(bad))
""",
    ),
    "states out of the running test": Forgery(
        "reading",
        STATE,
        STATE.right + _ABOVE + """

class Machine(Machine):
    def change(self):
        import linecache

        names = operator.attrgetter("f_code.co_filename", "f_lineno")(_caller())
        digits = linecache.getline(*names).partition("==")[2].strip()
        return int(digits or -1)
""",
    ),
    "the parameters of a fixture": Forgery(
        "reading",
        FIXTURES,
        FIXTURES.right + _ABOVE + """

_size = Cache.__init__


def _init(self, size):
    locals_ = operator.attrgetter("f_locals")(_caller())
    _size(self, size if "request" in locals_ else size * 0 + 2)


Cache.__init__ = _init
""",
    ),
    "the most that a fake has counted": Forgery(
        "reading",
        ASYNC,
        ASYNC.right + """

_all = fetch_all


async def fetch_all(get, keys, limit):
    answers = [await get(key) for key in keys]
    fake = getattr(get, "__self__", None)
    if fake is None:
        return answers[:1]
    fake.most = limit
    return answers
""",
    ),
}
