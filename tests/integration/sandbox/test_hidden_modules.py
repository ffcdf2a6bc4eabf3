"""The standard library in a process whose loaded modules are hidden until code imports them."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from greenloop.sandbox import Sandbox
from tests.integration.sandbox.conftest import make_sandbox
from tests.integration.sandbox.test_calls import decode

# Each imports what it needs when it is called. Code in C looks up modules without an import.
LIBRARY = """
def name_of_error(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return type(error).__name__

def json_error():
    import json
    return name_of_error(json.loads, "{")

def json_again():
    import json
    return json.loads(json.dumps({"a": [1, 2.5, None]}))

def parsed_date():
    import datetime
    return str(datetime.datetime.strptime("2026-01-02", "%Y-%m-%d"))

def pickled():
    import collections, pickle
    return list(pickle.loads(pickle.dumps(collections.OrderedDict(a=1))).items())

def decimals():
    import decimal, fractions
    return str(decimal.Decimal(1) / 3), str(fractions.Fraction("0.125"))

def decimal_error():
    import decimal
    return name_of_error(decimal.Decimal, "x")

def table():
    import csv, io
    text = io.StringIO()
    csv.writer(text).writerows([["a", "b c"], [1, 2]])
    return list(csv.reader(io.StringIO(text.getvalue())))

def database():
    import sqlite3
    with sqlite3.connect(":memory:") as found:
        return found.execute("select 1 + 1").fetchone()

def database_error():
    import sqlite3
    return name_of_error(sqlite3.connect(":memory:").execute, "selekt")

def pattern_error():
    import re
    return name_of_error(re.compile, "(")

def coroutines():
    import asyncio
    async def both():
        return await asyncio.gather(asyncio.sleep(0, 1), asyncio.sleep(0, 2))
    return asyncio.run(both())

def threads():
    import concurrent.futures
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(abs, [-1, -2]))

def elements():
    import xml.etree.ElementTree as tree
    return [item.text for item in tree.fromstring("<a><b>1</b><b>2</b></a>").iterfind("b")]

def element_error():
    import xml.etree.ElementTree as tree
    return name_of_error(tree.fromstring, "<a>")

def classes():
    import dataclasses, enum, typing
    made = dataclasses.make_dataclass("Point", [("x", int), ("y", int, 2)])
    colour = enum.Enum("Colour", "RED GREEN")
    return repr(made(1)), colour["RED"].name, str(typing.get_type_hints(made)["x"])

def options():
    import argparse
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=3)
    return vars(parser.parse_args(["--count", "4"]))

def messages():
    import io, logging
    stream = io.StringIO()
    logger = logging.getLogger("library")
    logger.addHandler(logging.StreamHandler(stream))
    logger.warning("%s left", 3)
    return stream.getvalue()

def mocks():
    from unittest import mock
    fake = mock.Mock(return_value=5)
    return fake(1), fake.call_count

def files():
    import pathlib, shutil, tempfile
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "a.txt").write_text("x")
    names = [path.name for path in folder.iterdir()]
    shutil.rmtree(folder)
    return names, folder.exists()

def digests():
    import base64, hashlib, hmac, uuid, zlib
    return (
        hashlib.sha256(b"a").hexdigest()[:8], hmac.new(b"k", b"a", "sha1").hexdigest()[:8],
        base64.b64encode(b"ab").decode(), zlib.crc32(b"a"), str(uuid.UUID(int=1)),
    )

def texts():
    import difflib, html, ipaddress, string, textwrap, urllib.parse
    return (
        difflib.get_close_matches("appel", ["apple", "pear"]), html.escape("<"),
        str(ipaddress.ip_address("::1")), string.Template("$a").substitute(a=1),
        textwrap.fill("a b c", 3), urllib.parse.parse_qs("a=1&b=2"),
    )

def numbers():
    import bisect, heapq, itertools, math, random, statistics, struct
    return (
        bisect.bisect([1, 3], 2), heapq.nsmallest(2, [3, 1, 2]), list(itertools.batched("abc", 2))
        if hasattr(itertools, "batched") else [], math.isqrt(10), random.Random(1).randint(0, 9),
        statistics.median([1, 2, 4]), name_of_error(struct.unpack, "i", b""),
    )

def zones():
    import datetime, zoneinfo
    return name_of_error(zoneinfo.ZoneInfo, "No/Where"), str(datetime.timezone.utc)

def warned():
    import warnings
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn("old", DeprecationWarning)
    return [str(item.message) for item in caught]

def dispatched():
    import copy, functools, weakref
    class Node:
        pass
    node = Node()
    return (
        functools.reduce(max, [1, 3, 2]), copy.deepcopy({"a": [1]}), weakref.ref(node)() is node,
        functools.singledispatch(lambda value: "any")(1),
    )

def inspected():
    import ast, inspect, traceback
    signature = inspect.signature(lambda a, b=1: None)
    return ast.unparse(ast.parse("1+1")), str(signature), traceback.format_exception_only(ValueError("x"))
"""


def _plain(value: Any) -> Any:
    """Return a value with lists for tuples."""
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value


def test_library_gives_the_same_results_as_in_an_ordinary_program(box: Sandbox) -> None:
    here: dict[str, Any] = {}
    exec(LIBRARY, here)
    names = [name for name in here if name not in vars(builtins) and name != "name_of_error"]
    names = [name for name in names if callable(here[name])]
    assert len(names) > 20
    expected = {name: _plain(here[name]()) for name in names}
    results = box.evaluate_calls(LIBRARY, "m", [f"{name}()" for name in names])
    found = {
        name: _plain(decode(event["value"])) if event and "value" in event else event
        for name, event in zip(names, results.events, strict=True)
    }
    assert found == expected


def test_modules_are_hidden_until_they_are_imported(box: Sandbox) -> None:
    code = (
        "import sys\n"
        "def loaded(name): return name in sys.modules\n"
        "def load(name): return bool(__import__(name))\n"
    )
    calls = ["loaded('json')", "load('json')", "loaded('json')", "loaded('json.decoder')"]
    results = box.evaluate_calls(code, "m", calls)
    values = [decode(event["value"]) for event in results.events if event is not None]
    assert values == [False, True, True, True]


def test_a_module_that_a_run_imports_is_loaded_before(box: Sandbox) -> None:
    if box.info.backend not in ("native", "bubblewrap", "landlock"):
        pytest.skip(f"{box.info.backend} loads the same modules for all runs")
    code = "import sys\nWAS_LOADED = 'sqlite3' in sys.modules\nX = 1\n"
    tests = "import solution\n\n\ndef test_x():\n    assert solution.WAS_LOADED is {}\n"
    with make_sandbox(box.info.backend) as fresh:
        assert fresh.run_tests(code, tests.format(False)).passed
        assert fresh.run_tests(f"{code}import sqlite3\n", tests.format(True)).passed
