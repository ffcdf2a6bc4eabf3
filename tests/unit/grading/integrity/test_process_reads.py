"""Reads of the process, the machine and the callers are found, unless the tests name them."""

import pytest

from greenloop.grading.integrity.process_reads import find_process_reads
from tests.support.programs import read_table


@pytest.mark.parametrize(
    ("code", "said"),
    read_table(__file__, "reads"),
)
def test_a_read_is_found(code: str, said: str) -> None:
    found = find_process_reads(code)
    assert any(said in item.what for item in found), found


@pytest.mark.parametrize(
    "code",
    [
        "import os\nx = os.environ.get('HOME'), os.getcwd(), os.getpid(), getattr(os, 'O_BINARY', 0)",
        "import sys\nsys.path.insert(0, 'lib')\nx = sys.argv, sys.platform, hasattr(sys, 'ps1')",
        "from platform import platform\nfrom socket import socket\nx = platform(), socket()",
        "import warnings\nwarnings.warn('x', stacklevel=2)\nlog.info('x', stacklevel=5)",
        "import argparse\ndef f(x: argparse._SubParsersAction): return x._registry",
        "import faulthandler, resource\nfaulthandler.enable()\nresource.setrlimit(7, (1, 1))",
        "x = open('/dev/null'), route('/home/users'), '/proc'",
        "import json\ndef f(codec=json): return getattr(codec, 'loads')",
        "def f(os): return print(os)",
        "import time\nx = time.perf_counter(), time.monotonic()",
        "def f(:",
        "a" + ".b" * 20_000,
    ],
)
def test_ordinary_code_reads_nothing(code: str) -> None:
    assert find_process_reads(code) == ()


@pytest.mark.parametrize(
    ("code", "tests"),
    [
        ("import os\nx = os.getuid()", "monkeypatch.setattr('os.getuid', lambda: 0)"),
        ("import os\nx = os.nice(0)", "monkeypatch.setattr(os, 'nice', int)"),
        ("import sys\nx = list(sys.path)", "monkeypatch.setattr(sys, 'path', [])"),
    ],
)
def test_a_fact_that_the_tests_name_is_theirs(code: str, tests: str) -> None:
    assert find_process_reads(code, [tests]) == ()
    assert find_process_reads(code, ["def test(path, nice): assert getuidx"]) != ()
