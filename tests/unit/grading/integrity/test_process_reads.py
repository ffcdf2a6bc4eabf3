"""Reads of the process, the machine and the callers are found, unless the tests name them."""

import pytest

from greenloop.grading.integrity.process_reads import find_process_reads


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import os\nx = os.getuid()", "`os.getuid` reads which process or user"),
        ("from os import getppid", "`os.getppid` reads which process or user"),
        ("import os as o\nx = o.getppid", "`os.getppid`"),
        ("import os\nx = getattr(os, 'get' + 'uid')", "uses `os` in a way that cannot be analysed"),
        ("import sys\nx = vars(sys)", "uses `sys` in a way that cannot be analysed"),
        ("import logging\nx = logging.sys.path", "`sys.path` reads how its process was started"),
        ("import logging\ns = logging.sys\nx = s.path", "`sys.path` reads"),
        ("from logging import os as o\nx = o.nice(0)", "`os.nice` reads limits"),
        ("import importlib as i\nx = i.import_module('os').nice(0)", "`os.nice` reads limits"),
        ("import os\nx = os.__dict__['stat']", "`os.__dict__` is a private member"),
        ("import resource\nx = resource.getrlimit(7)", "`resource.getrlimit` reads facts"),
        ("from posix import stat", "`posix.stat` reads facts of its process"),
        ("import typing\nx = typing._caller(3)", "`typing._caller` is a private member"),
        ("from re import _cache", "`re._cache` is a private member"),
        ("x = open('/proc/meminfo')", "`/proc/meminfo` is a path of the machine"),
        ("x = Path('/opt/tools').exists()", "`/opt/tools` is a path of the machine"),
        ("import os\nx = 'PYTHONPATH' in os.environ", "`PYTHONPATH` names a variable"),
        ("import socket\nx = socket.socket(socket.AF_UNIX)", "`socket.AF_UNIX` asks for a socket"),
        ("import logging\nlogging.info('', stack_info=True)", "a record of the log reads"),
        ("with warnings.catch_warnings(record=True): pass", "recorded warnings name its callers"),
        ("import time\nx = time.process_time()", "`time.process_time` reads limits or resources"),
        ("from time import thread_time", "`time.thread_time` reads limits or resources"),
        ("log.addHandler(h)\nlog.info('', stacklevel=4)", "`stacklevel` reads its callers"),
        ("log.addHandler(h)\nlog.info('', stacklevel=n)", "`stacklevel` reads its callers"),
    ],
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
