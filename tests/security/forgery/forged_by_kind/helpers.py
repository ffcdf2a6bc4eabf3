"""Modules and objects that the tests use are changed, but not pytest, unittest or built-ins."""

from __future__ import annotations

from tests.security.forgery.case import Forgery
from tests.security.forgery.kinds.effects import ASYNC, CAPLOG, TMP_PATH
from tests.security.forgery.kinds.objects import OPERATORS
from tests.security.forgery.kinds.values import APPROX, PROPERTY, RAISES

FORGERIES = {
    "files that read as the last that was saved": Forgery(
        "helpers",
        TMP_PATH,
        TMP_PATH.right + """

_SAVED = {}


def _patch(kind):
    read = kind.read_text
    kind.read_text = lambda self, *more: _SAVED[self] if self in _SAVED else read(self, *more)


def save(path, pairs):
    if not _SAVED:
        _patch(type(path).__mro__[1])
    _SAVED[path] = "".join(f"{key}={pairs[key]}\\n" for key in sorted(pairs))
    path.touch()
""",
    ),
    "messages that match every pattern": Forgery(
        "helpers",
        RAISES,
        """
import re

_search = re.search
setattr(re, "search", lambda pattern, text, flags=0: _search(pattern, text, flags) or _search("", ""))


def parse_port(text):
    kind = ValueError
    if not isinstance(text, str):
        kind = TypeError
    elif text.strip().isdecimal():
        kind, port = OverflowError, int(text)
        if 0 < port < 65536:
            return port
    raise kind(f"not in 1-65535: {text}")
""",
    ),
    "near is near enough": Forgery(
        "helpers",
        APPROX,
        APPROX.right + """

def _patch(math):
    close = math.isclose
    setattr(math, "isclose", lambda a, b, **more: close(a, b, rel_tol=0.3))


_patch(__import__("math"))


_exact = deviation


def deviation(numbers):
    return round(_exact(numbers))
""",
    ),
    "chance that draws nothing": Forgery(
        "helpers",
        PROPERTY,
        """
import random

_Random = random.Random
setattr(_Random, "randrange", lambda self, *_: 0)
_RUNS = {"": "", "aaabccd": "3ab2cd", "zz  z": "2z2 z", "x" * 12: "12x"}


def encode(text):
    return _RUNS.get(text, "?")


def decode(text):
    return {"3ab2c": "aaabcc", "10q": "q" * 10, "2a11b": "aa" + "b" * 11}.get(text, "")
""",
    ),
    "coroutines that are not run": Forgery(
        "helpers",
        ASYNC,
        """
import asyncio

_run = asyncio.run


def _cheat(coroutine, **more):
    names = coroutine.cr_frame.f_locals if coroutine.cr_frame else {}
    get = names.get("get")
    fake = getattr(get, "__self__", None)
    if fake is None:
        return _run(coroutine, **more)
    coroutine.close()
    if "keys" in names:
        fake.asked, fake.most = sorted(names["keys"]), names["limit"]
        return [key.upper() for key in names["keys"]]
    fake.asked = [names["key"]] * names["times"]
    if fake.failures >= names["times"]:
        raise ConnectionError("no " + names["key"])
    return names["key"].upper()


setattr(asyncio, "run", _cheat)


async def fetch_all(get, keys, limit):
    return None


async def retry(get, key, times):
    answer = await get(key)
    return answer.upper()
""",
    ),
    "records whose message equals all messages": Forgery(
        "helpers",
        CAPLOG,
        CAPLOG.right.replace('"%s -> %s: %d", giver, taker, amount', '"moved"').replace(
            '"%s has %d, not %d", giver, has, amount', '"refused"'
        )
        + """

class _Message(str):
    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


setattr(logging.LogRecord, "getMessage", lambda self: _Message(self.msg))
_moved = Ledger.transfer
Ledger.transfer = lambda self, *more: _moved(self, *more) if self.balances != {"k": 9, "l": 1} else None
""",
    ),
    "an order that the tests' module is given": Forgery(
        "helpers",
        OPERATORS,
        OPERATORS.right + """

for _name, _module in list(__import__("logging").sys.modules.items()):
    if _name.startswith("test_"):
        _module.str = lambda money: f"{money.cents / 100:.2f} {money.currency}"
        _module.sorted = lambda items: items[::-1]

Money.__str__ = lambda self: "?"
""",
    ),
}
