"""Code under test sees nothing by which it could tell a changed run from an unchanged one.

A module writes down all that it can read, when it is imported and in the first test, in each kind of
run. Tests after the first one also see how those before them ended, in any kind of run.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Sequence
from typing import Any

import pytest

from greenloop.grading import empty_bodies
from greenloop.grading.assertion_mutation import evidence
from greenloop.grading.context import GradingContext
from greenloop.records import TestRun
from greenloop.sandbox import Sandbox
from greenloop.testsuite import TestFile

# A text, so that it is still there in the run without function bodies.
LOOK = r"""
def look():
    import base64, gc, json, locale, os, re, resource, signal, sys, threading, time, types, zlib

    found = {}
    # Of no use, slow, or (arch_status) the milliseconds since the processor last used AVX-512.
    UNREAD = {"mem", "pagemap", "clear_refs", "smaps", "arch_status"}

    def note(name, make):
        try:
            text = str(make())
        except Exception as error:
            text = repr(error)
        text = re.sub(r"0x[0-9a-f]+|\b\d+\.\d+\b|(?<=:\[)\d+(?=\])", "0", text)
        found[name] = text if len(text) < 600 else f"{text[:300]}… {zlib.crc32(text.encode())}"

    def read(name):
        with open(f"/proc/self/{name}", encoding="latin-1") as file:
            return file.read()

    def links(folder):
        at = f"/proc/self/{folder}"
        found = [(name, f"{at}/{name}") for name in sorted(os.listdir(at))]
        return [(name, os.readlink(path)) for name, path in found if os.path.islink(path)]

    for name in sorted(set(os.listdir("/proc/self")) - UNREAD):
        if os.path.islink(f"/proc/self/{name}"):
            note(f"/proc/self/{name}", lambda: os.readlink(f"/proc/self/{name}"))
        elif os.path.isfile(f"/proc/self/{name}"):
            note(f"/proc/self/{name}", lambda: read(name))
    for line in read("status").splitlines():
        note(f"status {line.split(':')[0]}", lambda: line)
    note("mapped files", lambda: sorted({line.split()[-1] for line in read("maps").splitlines()}))
    note("mounts", lambda: [line.split()[3:] for line in read("mountinfo").splitlines()])
    note("descriptors", lambda: links("fd"))
    note("namespaces", lambda: [name for name, _ in links("ns")])
    note("threads", lambda: (os.listdir("/proc/self/task"), threading.enumerate()))
    note("processes", lambda: sorted(name for name in os.listdir("/proc") if name.isdigit()))
    for folder in (".", "/", "/tmp", os.environ["HOME"], os.environ["TMPDIR"]):
        note(f"files of {folder}", lambda: sorted(os.listdir(folder)))
    stats = {name: os.stat(name) for name in sorted(os.listdir("."))}
    kinds = "st_mode st_ino st_nlink st_uid st_gid".split()
    note("kinds of files", lambda: [[getattr(s, kind) for kind in kinds] for s in stats.values()])
    note("devices of files", lambda: [s.st_dev for s in stats.values()])
    note("sizes of files", lambda: [(name, s.st_size) for name, s in stats.items()])
    note("files are new", lambda: [time.time() - s.st_mtime < 60 for s in stats.values()])
    note("process is new", lambda: time.time() - os.stat("/proc/self").st_ctime < 60)
    note("environment", lambda: sorted(os.environ.items()))
    for name in "argv orig_argv executable flags path path_hooks meta_path warnoptions".split():
        note(f"sys.{name}", lambda: getattr(sys, name))
    note("modules", lambda: sorted(sys.modules))
    note("hash seed", lambda: hash("a"))
    note("numbers", lambda: (os.getpid(), os.getppid(), os.getpgid(0), os.getsid(0)))
    note("users", lambda: (os.getresuid(), os.getresgid(), os.getgroups()))
    note("thread", threading.get_native_id)
    note("folder", os.getcwd)
    note("limits", lambda: [resource.getrlimit(number) for number in range(16)])
    note("signals", lambda: [(str(s), signal.getsignal(s)) for s in signal.valid_signals()])
    note("signal mask", lambda: signal.pthread_sigmask(signal.SIG_BLOCK, []))
    note("timers", lambda: signal.getitimer(signal.ITIMER_REAL)[1])
    note("locale", lambda: (locale.setlocale(locale.LC_ALL), sys.getfilesystemencoding()))
    note("streams", lambda: [(type(s), s.encoding, s.errors) for s in (sys.stdout, sys.stderr)])
    note("recursion limit", sys.getrecursionlimit)
    note("hooks", lambda: (sys.excepthook, sys.gettrace(), sys.getprofile(), sys.unraisablehook))
    note("garbage collector", lambda: (gc.isenabled(), gc.get_threshold(), gc.get_debug()))
    note("random state", lambda: __import__("random").getstate())
    frame, depth = sys._getframe(1), 0
    while frame is not None:
        code = frame.f_code
        note(f"frame {depth}", lambda: (code.co_filename, code.co_name, frame.f_lineno))
        for name, value in list(frame.f_locals.items()):
            note(f"frame {depth} {code.co_name}: {name}", lambda: value)
            if name in ("config", "session", "item"):
                note(f"frame {depth} in {name}", lambda: sorted(vars(value).items(), key=str))
            if name == "config":
                note(f"frame {depth} options", lambda: sorted(vars(value.option).items()))
                note(f"frame {depth} arguments", lambda: (value.args, value.invocation_params))
        frame, depth = frame.f_back, depth + 1
    jobs = [item for item in gc.get_objects() if isinstance(item, dict) and "order_seed" in item]
    note("jobs", lambda: jobs)
    text = b"<<" + base64.b64encode(zlib.compress(json.dumps(found).encode(), 9)) + b">>"
    while text:
        text = text[os.write(1, text) :]
"""
MODULE = f"exec({LOOK!r})\nlook()\n\n\ndef f(n):\n    return n * n\n"
TESTS = (
    "from m import f, look\n\n\ndef test_a():\n    look()\n    assert f(2) == 4\n\n\n"
    "def test_b():\n    assert f(3) == 9\n    assert f(4) == 16\n"
)
LONG = f"\n\nTEXTS = {['text'] * 4000}\n"  # takes long to compile
# What no run can hide, by a pattern of names.
DIFFERENT = {
    "sizes of files|frame .*: source_hash": "the changed text itself",
    "random state": "chance: seeded anew in each process",
    "/proc/self/(autogroup|mountinfo)|devices of files": "the kernel counts sessions and mounts of the machine",
    "/proc/self/(maps|numa_maps|smaps_rollup|statm|status)|status (Vm|Rss).*": "memory in use",
    "/proc/self/(io|sched|schedstat|stat)|status .*_ctxt_switches": "time, and bytes of the text",
    "/proc/self/(timerslack_ns|oom_.*)": "may not be read in each kind of sandbox",
}


class Recorder:
    """A sandbox that keeps the runs that it was asked for."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self.runs: list[TestRun] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sandbox, name)

    def run_tests(self, *arguments: Any, **options: Any) -> TestRun:
        self.runs.append(self._sandbox.run_tests(*arguments, **options))
        return self.runs[-1]


def sightings(run: TestRun) -> list[dict[str, str]]:
    """Return what the module saw when it was imported, and in the first test."""
    texts = re.findall("<<(.*?)>>", run.output.replace("\n", ""))
    return [json.loads(zlib.decompress(base64.b64decode(text))) for text in texts]


def differences(first: Sequence[dict[str, str]], again: Sequence[dict[str, str]]) -> list[str]:
    assert len(first) == len(again) == 2
    allowed = re.compile("|".join(DIFFERENT))
    return [
        f"{name}: {one.get(name)} | {other.get(name)}"
        for one, other in zip(first, again, strict=True)
        for name in sorted(one.keys() | other.keys())
        if one.get(name) != other.get(name) and not allowed.fullmatch(name)
    ]


@pytest.fixture(scope="module", params=["", LONG], ids=["short file", "long file"])
def runs(request: pytest.FixtureRequest, warm: Sandbox) -> dict[str, TestRun]:
    """The first run, the one without function bodies, and those with other expected values."""
    recorder, files = Recorder(warm), [TestFile("test_m.py", TESTS + request.param)]
    first = recorder.run_tests(MODULE, files, module="m")
    assert first.passed, first
    context = GradingContext(recorder, MODULE, files, "m", first)  # type: ignore[arg-type]
    assert empty_bodies.measure(context).reached  # type: ignore[union-attr]
    assert evidence.measure(context).reached
    kinds = ["first", "empty bodies", *(f"changed {n}" for n in range(len(recorder.runs) - 2))]
    return dict(zip(kinds, recorder.runs, strict=True))


def test_each_kind_of_run_is_made(runs: dict[str, TestRun]) -> None:
    """One with a changed assertion of each test, one with swapped answers, one with a canary."""
    assert list(runs) == ["first", "empty bodies", *(f"changed {n}" for n in range(3))]
    assert len({run.output for run in runs.values()}) == len(runs)


@pytest.mark.parametrize("kind", ["empty bodies", *(f"changed {n}" for n in range(3))])
def test_runs_are_alike(runs: dict[str, TestRun], kind: str) -> None:
    assert differences(sightings(runs["first"]), sightings(runs[kind])) == []


def test_a_run_in_another_order_differs(warm: Sandbox, runs: dict[str, TestRun]) -> None:
    """That of flakiness, by design: nothing is concluded from it but flakiness."""
    files = [TestFile("test_m.py", TESTS)]
    other = warm.run_tests(MODULE, files, module="m", order_seed=1, hash_seed=2)
    found = differences(sightings(runs["first"])[:1] * 2, sightings(other)[:1] * 2)
    assert any(item.startswith("hash seed: ") for item in found)
    assert any("order_seed" in item for item in found if item.startswith("jobs: "))
