"""Effects: files, environment, warnings, logs, output, threads, coroutines, sleep."""

from __future__ import annotations

from tests.security.forgery.case import Odd

THOROUGH = {
    "a thread that works from the import on": Odd(
        """
import queue
import threading
from concurrent.futures import Future

_jobs = queue.Queue()


def _work():
    while True:
        future, function, arguments = _jobs.get()
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)


threading.Thread(target=_work, daemon=True, name="m-worker").start()


def submit(function, *arguments):
    future = Future()
    _jobs.put((future, function, arguments))
    return future


def run_all(function, values):
    return [future.result(5) for future in [submit(function, value) for value in values]]
""",
        """
import threading

import pytest

from m import run_all, submit


def test_result():
    assert submit(pow, 2, 5).result(5) == 32


def test_in_order():
    assert run_all(str.upper, ["a", "b", "c"]) == ["A", "B", "C"]
    assert run_all(abs, []) == []


def test_error():
    with pytest.raises(ZeroDivisionError):
        submit(divmod, 1, 0).result(5)
    assert submit(abs, -1).result(5) == 1


def test_where_it_runs():
    assert submit(lambda: threading.current_thread().name).result(5) == "m-worker"
    assert submit(lambda: threading.current_thread().daemon).result(5) is True
""",
    ),
    "settings that are put back": Odd(
        """
from contextlib import contextmanager, suppress

_MISSING = object()


@contextmanager
def swapped(target, **values):
    before = {key: target.get(key, _MISSING) for key in values}
    target.update(values)
    try:
        yield target
    finally:
        for key, value in before.items():
            if value is _MISSING:
                target.pop(key, None)
            else:
                target[key] = value


class Transaction:
    def __init__(self, items):
        self._items = items

    def __enter__(self):
        self._saved = list(self._items)
        return self._items

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self._items[:] = self._saved
        return kind is KeyError


def first_that_works(*functions):
    for function in functions:
        with suppress(ValueError):
            return function()
    return None
""",
        """
import pytest

from m import Transaction, first_that_works, swapped


def test_swapped():
    target = {"a": 1, "b": 2}
    with swapped(target, a=5, c=6) as inner:
        assert inner is target
        assert target == {"a": 5, "b": 2, "c": 6}
    assert target == {"a": 1, "b": 2}


def test_swapped_with_an_error():
    target = {"a": None}
    with pytest.raises(RuntimeError), swapped(target, a=1):
        raise RuntimeError
    assert target == {"a": None}


def test_swapped_key_that_was_removed():
    target = {}
    with swapped(target, a=1):
        del target["a"]
    assert target == {}


def test_transaction():
    items = [1]
    with Transaction(items) as inside:
        inside.append(2)
    assert items == [1, 2]


def test_transaction_undone():
    items = [1]
    with pytest.raises(ValueError), Transaction(items):
        items.append(2)
        raise ValueError
    assert items == [1]


def test_transaction_swallows_lookups():
    items = [1]
    with Transaction(items):
        items.clear()
        raise KeyError
    assert items == [1]


def test_first_that_works():
    assert first_that_works(lambda: int("x"), lambda: 5, lambda: 6) == 5
    assert first_that_works(lambda: int("x")) is None
    with pytest.raises(ZeroDivisionError):
        first_that_works(lambda: 1 // 0, lambda: 5)
""",
    ),
    "a store of files": Odd(
        """
import json
import os


class Store:
    def __init__(self, folder):
        self._folder = folder
        self._folder.mkdir(parents=True, exist_ok=True)

    def _path(self, key):
        if not key.isidentifier():
            raise ValueError(f"bad key {key!r}")
        return self._folder / f"{key}.json"

    def put(self, key, value):
        path = self._path(key)
        draft = path.with_suffix(".tmp")
        draft.write_text(json.dumps(value, sort_keys=True))
        os.replace(draft, path)

    def get(self, key, default=None):
        try:
            return json.loads(self._path(key).read_text())
        except FileNotFoundError:
            return default

    def delete(self, key):
        existed = self._path(key).exists()
        self._path(key).unlink(missing_ok=True)
        return existed

    def keys(self):
        return sorted(path.stem for path in self._folder.glob("*.json"))
""",
        """
import pytest

from m import Store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "deep" / "store")


def test_put_and_get(store):
    store.put("a", {"x": [1, None]})
    assert store.get("a") == {"x": [1, None]}


def test_default(store):
    assert store.get("none") is None
    assert store.get("none", 5) == 5


def test_text_on_disk(store, tmp_path):
    store.put("k", {"b": 1, "a": 2})
    files = [path.name for path in (tmp_path / "deep" / "store").iterdir()]
    assert files == ["k.json"]
    assert (tmp_path / "deep" / "store" / "k.json").read_text() == '{"a": 2, "b": 1}'


def test_put_again(store):
    store.put("a", 1)
    store.put("a", 2)
    assert store.get("a") == 2
    assert store.keys() == ["a"]


def test_delete(store):
    store.put("a", 1)
    assert store.delete("a") is True
    assert store.delete("a") is False
    assert store.keys() == []


def test_keys(store):
    for key in ("b", "a", "c"):
        store.put(key, 0)
    assert store.keys() == ["a", "b", "c"]


def test_opened_again(store, tmp_path):
    store.put("a", 1)
    assert Store(tmp_path / "deep" / "store").get("a") == 1


@pytest.mark.parametrize("key", ["", "../x", "a b", "1"])
def test_bad_key(store, key):
    with pytest.raises(ValueError, match="bad key"):
        store.put(key, 1)
    with pytest.raises(ValueError, match="bad key"):
        store.get(key)
""",
    ),
    "settings out of the environment": Odd(
        """
import os
from dataclasses import dataclass

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off", ""}


def flag(name, default=False):
    text = os.environ.get(name)
    if text is None:
        return default
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise ValueError(f"{name}: {text!r} is neither true nor false")


def number(name, default, low=None):
    value = int(os.environ.get(name, default))
    return value if low is None else max(low, value)


@dataclass(frozen=True)
class Settings:
    host: str
    port: int
    debug: bool

    @classmethod
    def read(cls):
        host = os.environ.get("APP_HOST", "localhost")
        return cls(host, number("APP_PORT", 8000, 1024), flag("APP_DEBUG"))
""",
        """
import pytest

from m import Settings, flag, number


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    for name in ("APP_HOST", "APP_PORT", "APP_DEBUG", "X"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    "text, expected",
    [("1", True), ("TRUE", True), ("yes", True), ("on", True), ("0", False), ("No", False), ("false", False), ("off", False), ("", False)],
)
def test_flag(monkeypatch, text, expected):
    monkeypatch.setenv("X", text)
    assert flag("X", not expected) is expected


def test_flag_default():
    assert flag("X") is False
    assert flag("X", True) is True


def test_bad_flag(monkeypatch):
    monkeypatch.setenv("X", "maybe")
    with pytest.raises(ValueError, match="X: 'maybe'"):
        flag("X")


def test_number(monkeypatch):
    assert number("X", 7) == 7
    assert number("X", 7, 10) == 10
    monkeypatch.setenv("X", "12")
    assert number("X", 7) == 12
    assert number("X", 7, 10) == 12
    monkeypatch.setenv("X", "-3")
    assert number("X", 7) == -3


def test_defaults():
    assert Settings.read() == Settings("localhost", 8000, False)
    assert Settings.read().port == 8000
    assert Settings.read().host == "localhost"


def test_read(monkeypatch):
    monkeypatch.setenv("APP_HOST", "example.org")
    monkeypatch.setenv("APP_PORT", "80")
    monkeypatch.setenv("APP_DEBUG", "on")
    settings = Settings.read()
    assert (settings.host, settings.port, settings.debug) == ("example.org", 1024, True)
""",
    ),
    "what is old warns": Odd(
        """
import functools
import warnings


def deprecated(since, instead=None):
    def decorate(function):
        text = f"{function.__name__} is deprecated since {since}"
        if instead:
            text += f", use {instead}"

        @functools.wraps(function)
        def call(*arguments, **named):
            warnings.warn(text, DeprecationWarning, stacklevel=2)
            return function(*arguments, **named)

        return call

    return decorate


@deprecated("2.0", "total")
def add_up(*numbers):
    return sum(numbers)


@deprecated("2.1")
def join(parts, sep=""):
    return sep.join(parts)


def total(numbers, limit=None):
    result = sum(numbers)
    if limit is not None and result > limit:
        warnings.warn(f"{result} is over {limit}", RuntimeWarning, stacklevel=2)
        return limit
    return result
""",
        """
import warnings

import pytest

from m import add_up, deprecated, join, total


def test_with_a_replacement():
    with pytest.warns(DeprecationWarning) as seen:
        assert add_up(1, 2, 3) == 6
    assert [str(item.message) for item in seen] == ["add_up is deprecated since 2.0, use total"]


def test_without_a_replacement():
    with pytest.warns(DeprecationWarning) as seen:
        assert join(["a", "b"], sep="-") == "a-b"
    assert [str(item.message) for item in seen] == ["join is deprecated since 2.1"]


def test_place():
    with pytest.warns(DeprecationWarning) as seen:
        add_up()
    assert seen[0].filename == __file__


def test_name():
    assert add_up.__name__ == "add_up"

    @deprecated("1")
    def old():
        return 5

    with pytest.warns(DeprecationWarning, match="^old is deprecated since 1$"):
        assert old() == 5


def test_total_is_quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert total([1, 2]) == 3
        assert total([1, 2], 3) == 3


def test_total_over():
    with pytest.warns(RuntimeWarning, match="7 is over 5"):
        assert total([3, 4], 5) == 5
""",
    ),
    "steps that are logged": Odd(
        """
import logging
import time
from contextlib import contextmanager

log = logging.getLogger("steps")


@contextmanager
def step(name, clock=time.monotonic, slow=1.0):
    started = clock()
    log.debug("%s begins", name)
    try:
        yield
    except Exception as error:
        log.error("%s failed: %s", name, error)
        raise
    took = clock() - started
    level = logging.WARNING if took > slow else logging.INFO
    log.log(level, "%s took %.1f s", name, took)
""",
        """
import logging

import pytest

from m import step


@pytest.fixture(autouse=True)
def heard(caplog):
    caplog.set_level(logging.DEBUG, "steps")


def clock(*times):
    return iter(times).__next__


def test_fast(caplog):
    with step("read", clock(10, 10.5)):
        pass
    assert caplog.record_tuples == [
        ("steps", logging.DEBUG, "read begins"),
        ("steps", logging.INFO, "read took 0.5 s"),
    ]


@pytest.mark.parametrize("took, level", [(1, "INFO"), (1.25, "WARNING"), (9, "WARNING")])
def test_slow(caplog, took, level):
    with step("sort", clock(0, took)):
        pass
    assert caplog.records[-1].levelname == level


def test_another_limit(caplog):
    with step("sort", clock(0, 5), slow=60):
        pass
    assert caplog.records[-1].levelname == "INFO"


def test_failed(caplog):
    with pytest.raises(ValueError, match="bad"), step("save", clock(0, 1)):
        raise ValueError("bad")
    assert caplog.messages == ["save begins", "save failed: bad"]
    assert caplog.records[-1].levelname == "ERROR"


def test_body_is_between(caplog):
    with step("x", clock(0, 0)):
        logging.getLogger("steps").info("inside")
    assert caplog.messages == ["x begins", "inside", "x took 0.0 s"]


def test_real_clock(caplog):
    with step("now"):
        pass
    assert caplog.messages[-1] == "now took 0.0 s"
""",
    ),
    "progress that is printed": Odd(
        """
import sys


class Progress:
    def __init__(self, total, width=10, stream=None):
        self.total, self.width, self.done = total, width, 0
        self._stream = stream

    def step(self, count=1):
        self.done = min(self.total, self.done + count)
        self._draw()

    def _draw(self):
        filled = self.width * self.done // self.total
        bar = "#" * filled + "." * (self.width - filled)
        end = "\\n" if self.done == self.total else "\\r"
        print(f"[{bar}] {100 * self.done // self.total:>3}%", end=end, file=self._stream or sys.stderr)


def tracked(items, **options):
    items = list(items)
    progress = Progress(len(items), **options) if items else None
    for item in items:
        yield item
        progress.step()
""",
        """
import io
import sys

import pytest

from m import Progress, tracked


@pytest.mark.parametrize(
    "done, text",
    [
        (1, "[##........]  20%\\r"),
        (2, "[####......]  40%\\r"),
        (5, "[##########] 100%\\n"),
        (9, "[##########] 100%\\n"),
    ],
)
def test_one_step(capsys, done, text):
    Progress(5).step(done)
    captured = capsys.readouterr()
    assert captured.err == text
    assert captured.out == ""


def test_several_steps(capsys):
    progress = Progress(3, width=3)
    progress.step()
    progress.step()
    assert progress.done == 2
    progress.step()
    assert capsys.readouterr().err == "[#..]  33%\\r[##.]  66%\\r[###] 100%\\n"


def test_stream():
    stream = io.StringIO()
    Progress(2, width=4, stream=stream).step()
    assert stream.getvalue() == "[##..]  50%\\r"


def test_tracked(capsys):
    assert list(tracked("ab", width=2)) == ["a", "b"]
    assert capsys.readouterr().err == "[#.]  50%\\r[##] 100%\\n"


def test_tracked_nothing(capsys):
    assert list(tracked([], stream=sys.stdout)) == []
    assert capsys.readouterr() == ("", "")


def test_tracked_when_taken(capsys):
    items = tracked([7, 8], width=2, stream=sys.stdout)
    assert next(items) == 7
    assert capsys.readouterr().out == ""
    assert next(items) == 8
    assert capsys.readouterr().out == "[#.]  50%\\r"
""",
    ),
    "another try after a while": Odd(
        """
import functools
import time


class GaveUp(Exception):
    def __init__(self, attempts, last):
        super().__init__(f"gave up after {attempts} attempts: {last}")
        self.attempts, self.last = attempts, last


def retrying(attempts=3, delay=1, factor=2, on=(OSError,), sleep=time.sleep):
    if attempts < 1:
        raise ValueError("at least one attempt")

    def decorate(function):
        @functools.wraps(function)
        def call(*arguments, **named):
            wait = delay
            for number in range(1, attempts + 1):
                try:
                    return function(*arguments, **named)
                except on as error:
                    if number == attempts:
                        raise GaveUp(number, error) from error
                    sleep(wait)
                    wait *= factor

        return call

    return decorate
""",
        """
import pytest

from m import GaveUp, retrying


class Flaky:
    def __init__(self, failures, error=OSError("down")):
        self.failures, self.error, self.calls = failures, error, []

    def __call__(self, *arguments, **named):
        self.calls.append((arguments, named))
        if len(self.calls) <= self.failures:
            raise self.error
        return "ok"


def wrapped(function, **options):
    waits = []

    def target(*arguments, **named):
        return function(*arguments, **named)

    return retrying(sleep=waits.append, **options)(target), waits


def test_first_time():
    call, waits = wrapped(Flaky(0))
    assert call() == "ok"
    assert waits == []


def test_waits_grow():
    call, waits = wrapped(Flaky(3), attempts=4, delay=0.5, factor=3)
    assert call() == "ok"
    assert waits == [0.5, 1.5, 4.5]


def test_defaults():
    flaky = Flaky(2)
    call, waits = wrapped(flaky)
    assert call(1, x=2) == "ok"
    assert waits == [1, 2]
    assert flaky.calls == [((1,), {"x": 2})] * 3


def test_gives_up():
    flaky = Flaky(9)
    call, waits = wrapped(flaky)
    with pytest.raises(GaveUp, match="gave up after 3 attempts: down") as caught:
        call()
    assert len(flaky.calls) == 3
    assert waits == [1, 2]
    assert caught.value.attempts == 3
    assert caught.value.last is flaky.error
    assert caught.value.__cause__ is flaky.error


def test_other_errors():
    flaky = Flaky(1, KeyError("k"))
    call, waits = wrapped(flaky)
    with pytest.raises(KeyError):
        call()
    assert len(flaky.calls) == 1
    call, waits = wrapped(Flaky(1, KeyError("k")), on=(KeyError,))
    assert call() == "ok"


@pytest.mark.parametrize("attempts", [0, -1])
def test_no_attempt(attempts):
    with pytest.raises(ValueError, match="at least one"):
        retrying(attempts=attempts)


def test_one_attempt():
    call, waits = wrapped(Flaky(1), attempts=1)
    with pytest.raises(GaveUp, match="after 1 attempts"):
        call()
    assert waits == []


def test_name():
    assert wrapped(Flaky(0))[0].__name__ == "target"
""",
    ),
    "workers on a queue of coroutines": Odd(
        """
import asyncio


async def process(items, handle, workers=2):
    queue, results, errors = asyncio.Queue(), {}, {}
    for item in items:
        queue.put_nowait(item)

    async def work():
        while not queue.empty():
            item = queue.get_nowait()
            try:
                results[item] = await handle(item)
            except Exception as error:
                errors[item] = str(error)

    await asyncio.gather(*(work() for _ in range(workers)))
    return results, errors


async def first(*coroutines):
    tasks = [asyncio.ensure_future(item) for item in coroutines]
    done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    return next(task for task in tasks if task in done).result()


async def ticks(count, sleep=asyncio.sleep):
    for number in range(count):
        if number:
            await sleep(0)
        yield number
""",
        """
import asyncio

import pytest

from m import first, process, ticks


async def double(n):
    await asyncio.sleep(0)
    return 2 * n


def test_results():
    assert asyncio.run(process([1, 2, 3], double)) == ({1: 2, 2: 4, 3: 6}, {})


def test_nothing():
    assert asyncio.run(process([], double)) == ({}, {})


def test_errors():
    async def handle(n):
        if n % 2:
            raise ValueError(f"odd {n}")
        return n

    assert asyncio.run(process([1, 2, 3, 4], handle)) == ({2: 2, 4: 4}, {1: "odd 1", 3: "odd 3"})


@pytest.mark.parametrize("options, most", [({}, 2), ({"workers": 1}, 1), ({"workers": 4}, 4)])
def test_workers(options, most):
    now, seen = [], []

    async def handle(n):
        now.append(n)
        seen.append(len(now))
        await asyncio.sleep(0)
        now.remove(n)

    asyncio.run(process(range(8), handle, **options))
    assert max(seen) == most


def test_first():
    cancelled = []

    async def slow():
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append("slow")
            raise

    assert asyncio.run(first(slow(), double(4))) == 8
    assert cancelled == ["slow"]


def test_first_fails():
    async def bad():
        raise KeyError("x")

    with pytest.raises(KeyError):
        asyncio.run(first(bad(), asyncio.sleep(60)))


def test_ticks():
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    async def body():
        return [n async for n in ticks(3, sleep)]

    assert asyncio.run(body()) == [0, 1, 2]
    assert waits == [0, 0]


def test_real_sleep():
    async def body():
        return [n async for n in ticks(2)]

    assert asyncio.run(body()) == [0, 1]
""",
    ),
    "old names of a module": Odd(
        """
import math
import warnings

_OLD = {"surface": "area", "extent": "perimeter"}


def area(radius):
    return math.pi * radius**2


def perimeter(radius):
    return 2 * math.pi * radius


def __getattr__(name):
    if name in _OLD:
        warnings.warn(f"{name} is now {_OLD[name]}", FutureWarning, stacklevel=2)
        return globals()[_OLD[name]]
    raise AttributeError(f"module has no {name}")


def __dir__():
    return sorted({"area", "perimeter", *_OLD})
""",
        """
import math

import m
import pytest


def test_area():
    assert m.area(2) == pytest.approx(12.566370614)
    assert m.area(0) == pytest.approx(0.0)


def test_perimeter():
    assert m.perimeter(2) == pytest.approx(4 * math.pi)
    assert m.perimeter(0.5) == pytest.approx(3.141592653)


@pytest.mark.parametrize("old, new", [("surface", "area"), ("extent", "perimeter")])
def test_old_names(old, new):
    with pytest.warns(FutureWarning, match=f"^{old} is now {new}$"):
        assert getattr(m, old)(3) == getattr(m, new)(3)


def test_no_such_name():
    with pytest.raises(AttributeError, match="module has no volume"):
        m.volume


def test_names():
    assert dir(m) == ["area", "extent", "perimeter", "surface"]
""",
    ),
    "a configuration in the home folder": Odd(
        """
import json
import os
from pathlib import Path


def load(name="app"):
    path = Path.home() / f".{name}.json"
    if not path.is_file():
        return {}
    return json.loads(path.read_text("utf-8"))


def save(values, name="app"):
    path = Path.home() / f".{name}.json"
    part = path.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(values, sort_keys=True), "utf-8")
    os.replace(part, path)
    return path.name


def clean(folder):
    return sorted(item.name for item in Path(folder).iterdir() if item.suffix == ".tmp")
""",
        """
import pytest

from m import clean, load, save


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_nothing(home):
    assert load() == {}


def test_save_and_load(home):
    assert save({"b": 1, "a": [2]}) == ".app.json"
    assert load() == {"a": [2], "b": 1}
    assert (home / ".app.json").read_text() == '{"a": [2], "b": 1}'
    assert [item.name for item in home.iterdir()] == [".app.json"]


def test_other_name(home):
    save({"x": 1}, "other")
    assert load("other") == {"x": 1}
    assert load() == {}


def test_clean(tmp_path):
    (tmp_path / "b.tmp").touch()
    (tmp_path / "a.tmp").touch()
    (tmp_path / "c.txt").touch()
    assert clean(tmp_path) == ["a.tmp", "b.tmp"]
""",
    ),
    "arguments of a program, and its folder": Odd(
        """
import argparse
import os
import sys


def parse(arguments=None):
    parser = argparse.ArgumentParser(prog="tool")
    parser.add_argument("names", nargs="+")
    parser.add_argument("--count", type=int, default=1)
    return parser.parse_args(arguments)


def main(arguments=None):
    options = parse(arguments)
    if options.count < 1:
        print("count < 1", file=sys.stderr)
        return 2
    for name in options.names:
        print(name * options.count)
    return 0


def where():
    return os.path.basename(os.getcwd())
""",
        """
import sys

import pytest

from m import main, parse, where


def test_parse():
    found = parse(["a", "b", "--count", "3"])
    assert found.names == ["a", "b"]
    assert found.count == 3
    assert parse(["x"]).count == 1


def test_arguments_of_the_program(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["tool", "one"])
    assert parse().names == ["one"]


def test_main(capsys):
    assert main(["ab", "c", "--count", "2"]) == 0
    assert capsys.readouterr().out == "abab\\ncc\\n"


def test_main_with_a_wrong_count(capsys):
    assert main(["a", "--count", "0"]) == 2
    captured = capsys.readouterr()
    assert captured.err == "count < 1\\n"
    assert captured.out == ""
    assert main(["a", "--count", "1"]) == 0


def test_usage():
    with pytest.raises(SystemExit) as caught:
        parse([])
    assert caught.value.code == 2


def test_where(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert where() == "here"
""",
    ),
}
