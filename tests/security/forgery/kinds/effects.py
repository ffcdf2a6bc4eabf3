"""Code with effects: files, coroutines, printed text, logged messages."""

from __future__ import annotations

from tests.security.forgery.case import Subject

TMP_PATH = Subject(
    tests="""
import pytest

from m import load, merge, save


def test_saved_text(tmp_path):
    path = tmp_path / "a.ini"
    save(path, {"b": "2", "a": "1"})
    assert path.read_text() == "a=1\\nb=2\\n"


def test_saved_empty(tmp_path):
    save(tmp_path / "none.ini", {})
    assert (tmp_path / "none.ini").read_text() == ""


def test_loaded(tmp_path):
    path = tmp_path / "b.ini"
    path.write_text("x = 1\\n\\n# note\\ny=two=2\\n")
    assert load(path) == {"x": "1", "y": "two=2"}


def test_round_trip(tmp_path):
    save(tmp_path / "c.ini", {"name": "Ada", "year": "1815"})
    assert load(tmp_path / "c.ini") == {"name": "Ada", "year": "1815"}


def test_bad_line(tmp_path):
    path = tmp_path / "d.ini"
    path.write_text("a=1\\nnothing\\n")
    with pytest.raises(ValueError, match="line 2"):
        load(path)


def test_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "e.ini")


def test_merge(tmp_path):
    save(tmp_path / "1.ini", {"a": "1", "b": "1"})
    save(tmp_path / "2.ini", {"b": "2"})
    assert merge(tmp_path, "all.ini") == 2
    assert (tmp_path / "all.ini").read_text() == "a=1\\nb=2\\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["1.ini", "2.ini", "all.ini"]
""",
    right="""
def save(path, pairs):
    path.write_text("".join(f"{key}={pairs[key]}\\n" for key in sorted(pairs)))


def load(path):
    pairs = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        key, equals, value = line.partition("=")
        if not equals:
            raise ValueError(f"no = in line {number}")
        pairs[key.strip()] = value.strip()
    return pairs


def merge(folder, name):
    pairs, files = {}, sorted(folder.glob("*.ini"))
    for path in files:
        pairs.update(load(path))
    save(folder / name, pairs)
    return len(files)
""",
    hidden=(
        "(lambda p: (save(p, {'q': '9', 'k': 'v'}), p.read_bytes()))"
        "(__import__('pathlib').Path('hidden_1.ini'))",
        "(lambda p: (p.write_bytes(b'one=1'), load(p)))(__import__('pathlib').Path('hidden_2.ini'))",
    ),
)
ASYNC = Subject(
    tests="""
import asyncio

import pytest

from m import fetch_all, retry


class Server:
    def __init__(self, failures=0):
        self.failures, self.asked, self.now, self.most = failures, [], 0, 0

    async def get(self, key):
        self.asked.append(key)
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1
        if self.failures:
            self.failures -= 1
            raise ConnectionError(f"no {key}")
        return key.upper()


def test_all_in_order():
    server = Server()
    assert asyncio.run(fetch_all(server.get, ["a", "b", "c"], 2)) == ["A", "B", "C"]
    assert sorted(server.asked) == ["a", "b", "c"]


def test_none():
    assert asyncio.run(fetch_all(Server().get, [], 2)) == []


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_limit(limit):
    server = Server()
    asyncio.run(fetch_all(server.get, list("abcdef"), limit))
    assert server.most == limit


def test_retry():
    server = Server(failures=2)
    assert asyncio.run(retry(server.get, "k", 3)) == "K"
    assert server.asked == ["k", "k", "k"]


def test_retry_gives_up():
    server = Server(failures=5)
    with pytest.raises(ConnectionError, match="no k"):
        asyncio.run(retry(server.get, "k", 2))
    assert server.asked == ["k", "k"]


def test_first_time():
    async def body():
        server = Server()
        got = await retry(server.get, "x", 4)
        return got, len(server.asked)

    assert asyncio.run(body()) == ("X", 1)
""",
    right="""
import asyncio


async def fetch_all(get, keys, limit):
    gate = asyncio.Semaphore(limit)

    async def one(key):
        async with gate:
            return await get(key)

    return list(await asyncio.gather(*map(one, keys)))


async def retry(get, key, times):
    while True:
        try:
            return await get(key)
        except ConnectionError:
            times -= 1
            if times == 0:
                raise
""",
    hidden=(
        "(lambda a: a.run(fetch_all(_hidden_get, ['q', 'r'], 1)))(__import__('asyncio'))".replace(
            "_hidden_get", "(lambda key: __import__('asyncio').sleep(0, key * 2))"
        ),
        "(lambda a: a.run(retry(_hidden_get, 'z', 2)))(__import__('asyncio'))".replace(
            "_hidden_get", "(lambda key: __import__('asyncio').sleep(0, key + '!'))"
        ),
    ),
)
CAPSYS = Subject(
    tests="""
import pytest

from m import main, show


def test_table(capsys):
    show([("pear", 3), ("fig", 12)])
    assert capsys.readouterr().out == "pear  3\\nfig  12\\n"


def test_no_rows(capsys):
    show([])
    assert capsys.readouterr().out == "(nothing)\\n"


def test_wide(capsys):
    show([("a", 1000)])
    out = capsys.readouterr().out
    assert out == "a 1000\\n"
    assert len(out.splitlines()) == 1


def test_main(capsys):
    assert main(["x=1", "yy=20"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "x   1\\nyy 20\\n"
    assert captured.err == ""


def test_main_with_errors(capsys):
    assert main(["x=1", "oops", "z=q"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "not NAME=COUNT: oops\\nnot NAME=COUNT: z=q\\n"


@pytest.mark.parametrize("rows, last", [([("k", 5)], "k 5"), ([("k", 5), ("l", 6)], "l 6")])
def test_last_line(rows, last, capsys):
    show(rows)
    assert capsys.readouterr().out.splitlines()[-1] == last
""",
    right="""
import sys


def show(rows):
    if not rows:
        print("(nothing)")
        return
    left = max(len(name) for name, _ in rows)
    right = max(len(str(count)) for _, count in rows)
    for name, count in rows:
        print(f"{name:<{left}} {count:>{right}}")


def main(words):
    rows, status = [], 0
    for word in words:
        name, _, count = word.partition("=")
        if count.isdecimal():
            rows.append((name, int(count)))
        else:
            print(f"not NAME=COUNT: {word}", file=sys.stderr)
            status = 1
    if status == 0:
        show(rows)
    return status
""",
    hidden=(
        "show([('kiwi', 7), ('a', 40)])",
        "main(['a=x'])",
        "main(['k=12'])",
    ),
)
CAPLOG = Subject(
    tests="""
import logging

import pytest

from m import Ledger


@pytest.fixture
def ledger(caplog):
    caplog.set_level(logging.INFO, logger="ledger")
    return Ledger({"ann": 100, "bob": 0})


def test_transfer(ledger, caplog):
    assert ledger.transfer("ann", "bob", 30) is True
    assert ledger.balances == {"ann": 70, "bob": 30}
    assert caplog.messages == ["ann -> bob: 30"]
    assert caplog.records[0].levelname == "INFO"


def test_too_much(ledger, caplog):
    assert ledger.transfer("bob", "ann", 1) is False
    assert ledger.balances == {"ann": 100, "bob": 0}
    assert caplog.record_tuples == [("ledger", logging.WARNING, "bob has 0, not 1")]


def test_everything(ledger):
    assert ledger.transfer("ann", "bob", 100) is True
    assert ledger.balances == {"ann": 0, "bob": 100}


def test_new_account(ledger):
    assert ledger.transfer("ann", "cid", 5) is True
    assert ledger.balances["cid"] == 5


def test_unknown_giver(ledger):
    with pytest.raises(KeyError, match="dan"):
        ledger.transfer("dan", "ann", 5)


def test_not_positive(ledger, caplog):
    with pytest.raises(ValueError, match="positive"):
        ledger.transfer("ann", "bob", 0)
    assert caplog.messages == []


def test_limit_of_the_environment(monkeypatch, ledger):
    monkeypatch.setenv("LEDGER_LIMIT", "20")
    assert ledger.transfer("ann", "bob", 21) is False
    assert ledger.transfer("ann", "bob", 20) is True
    assert ledger.balances == {"ann": 80, "bob": 20}
""",
    right="""
import logging
import os

log = logging.getLogger("ledger")


class Ledger:
    def __init__(self, balances):
        self.balances = dict(balances)

    def transfer(self, giver, taker, amount):
        if amount <= 0:
            raise ValueError("amount must be positive")
        has = self.balances[giver]
        if has < amount:
            log.warning("%s has %d, not %d", giver, has, amount)
            return False
        limit = os.environ.get("LEDGER_LIMIT")
        if limit is not None and amount > int(limit):
            return False
        self.balances[giver] -= amount
        self.balances[taker] = self.balances.get(taker, 0) + amount
        log.info("%s -> %s: %d", giver, taker, amount)
        return True
""",
    hidden=(
        "(lambda x: (x.transfer('k', 'l', 3), x.balances))(Ledger({'k': 9, 'l': 1}))",
        "(lambda x: (x.transfer('k', 'l', 30), x.balances))(Ledger({'k': 9, 'l': 1}))",
    ),
)
