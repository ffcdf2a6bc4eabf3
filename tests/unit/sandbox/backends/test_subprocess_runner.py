"""The process itself: ended in time, with its group, and never read without bounds."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import tracemalloc
from pathlib import Path

import pytest

from greenloop.sandbox.backends.subprocess_runner import run_process
from greenloop.sandbox.limits import ResourceLimits
from greenloop.sandbox.process_result import ProcessResult

SOON = 0.6


def run(
    source: str,
    folder: Path,
    *,
    timeout_s: float = 10,
    output: int = 100_000,
    result: int = 100_000,
    stop: threading.Event | None = None,
) -> ProcessResult:
    """Runs a bare Python program; `sys.argv[1]` is its side channel."""
    return run_process(
        [sys.executable, "-I", "-S", "-c", source, "{fd}"],
        folder=folder,
        environment={},
        limits=ResourceLimits(
            timeout_s=timeout_s, output_bytes=output, kept_bytes=1000, result_bytes=result
        ),
        stop=stop or threading.Event(),
    )


def is_alive(number: int) -> bool:
    """Running, not merely waiting to be cleared away."""
    try:
        stat = Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def test_output_result_and_status_come_back(tmp_path: Path) -> None:
    ended = run(
        "import os, sys; print('out', flush=True); print('err', file=sys.stderr);"
        "os.write(int(sys.argv[1]), b'line\\n'); sys.exit(3)",
        tmp_path,
    )
    assert (ended.ending, ended.status, ended.channel_data) == ("finished", 3, b"line\n")
    assert ended.output == b"out\nerr\n"


def test_the_environment_and_folder_are_those_given(tmp_path: Path) -> None:
    ended = run("import os; print(dict(os.environ) or os.getcwd())", tmp_path)
    assert str(tmp_path) in ended.output.decode() or b"LC_CTYPE" in ended.output
    assert b"PATH" not in ended.output


def assert_gone(number: int) -> None:
    for _ in range(100):
        if not is_alive(number):
            return
        time.sleep(0.02)
    pytest.fail(f"process {number} is still alive")


def test_children_that_ignore_sigterm_die_with_the_process(tmp_path: Path) -> None:
    ended = run(
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "for _ in range(3):\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        time.sleep(60)\n"
        "        os._exit(0)\n"
        "    print(child, flush=True)\n"
        "time.sleep(60)\n",
        tmp_path,
        timeout_s=SOON,
    )
    assert ended.ending == "timeout"
    assert ended.duration_s < 5
    children = [int(item) for item in ended.output.split()]
    assert len(children) == 3
    for child in children:
        assert_gone(child)


def test_a_grandchild_that_holds_the_pipes_neither_delays_nor_survives(tmp_path: Path) -> None:
    ended = run(
        "import os, time\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    time.sleep(60)\n"
        "print(child, flush=True)\n"
        "os._exit(0)\n",
        tmp_path,
    )
    assert ended.ending == "finished"
    assert ended.duration_s < 5
    assert_gone(int(ended.output))


def test_what_a_leftover_child_floods_counts_as_a_flood(tmp_path: Path) -> None:
    ended = run(
        "import os\nif not os.fork():\n    while True: os.write(1, b'x' * 4096)\nos._exit(0)",
        tmp_path,
    )
    assert ended.ending in ("output", "finished")
    assert len(ended.output) < 1100
    assert ended.duration_s < 5


@pytest.mark.parametrize("channel", ["1", "int(sys.argv[1])"])
def test_a_flood_ends_the_process_and_costs_the_caller_little(tmp_path: Path, channel: str) -> None:
    tracemalloc.start()
    ended = run(f"import os, sys\nwhile True: os.write({channel}, b'x' * 65536)", tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert ended.ending == "output"
    assert ended.duration_s < 5
    assert peak < 2_000_000


def test_of_long_output_head_and_tail_are_kept(tmp_path: Path) -> None:
    ended = run("print('first' + 'x' * 50_000 + 'last')", tmp_path)
    assert ended.ending == "finished"
    assert ended.output.startswith(b"first")
    assert ended.output.endswith(b"last\n")
    assert "bytes cut" in ended.output.decode()
    assert len(ended.output) < 1100


def test_short_output_is_whole(tmp_path: Path) -> None:
    assert run("print('a' * 999)", tmp_path).output == b"a" * 999 + b"\n"


def test_closed_pipes_do_not_end_the_wait(tmp_path: Path) -> None:
    ended = run("import os, time\nos.closerange(1, 64)\ntime.sleep(60)", tmp_path, timeout_s=SOON)
    assert ended.ending == "timeout"


def test_standard_input_is_empty(tmp_path: Path) -> None:
    assert run("import sys; print(repr(sys.stdin.read()))", tmp_path).output == b"''\n"


def test_stop_ends_at_once(tmp_path: Path) -> None:
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    ended = run("import time; time.sleep(60)", tmp_path, stop=stop)
    assert ended.ending == "interrupted"
    assert ended.duration_s < 5


def test_no_descriptor_is_lost(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        run("pass", tmp_path)
    with pytest.raises(OSError, match="no-such-program"):
        run_process(
            ["/no-such-program"],
            folder=tmp_path,
            environment={},
            limits=ResourceLimits(timeout_s=1, output_bytes=1),
            stop=threading.Event(),
        )
    assert len(os.listdir("/proc/self/fd")) == before


def test_no_other_descriptor_of_the_host_is_inside(tmp_path: Path) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE):
        ended = run("import os; print(sorted(os.listdir('/proc/self/fd'), key=int))", tmp_path)
    # 0, 1, 2, the side channel, the one for answers, and the one that lists the folder
    assert len(ended.output.split()) == 6
