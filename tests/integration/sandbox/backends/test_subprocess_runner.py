"""A process and its group: ended in time, and read with bounds."""

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
    """Run a Python program; `sys.argv[1]` is the descriptor of its result channel."""
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
    """Return whether a process is running and not a zombie."""
    try:
        stat = Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def test_output_result_and_status_are_returned(tmp_path: Path) -> None:
    process_result = run(
        "import os, sys; print('out', flush=True); print('err', file=sys.stderr);"
        "os.write(int(sys.argv[1]), b'line\\n'); sys.exit(3)",
        tmp_path,
    )
    assert (process_result.ending, process_result.status, process_result.channel_data) == (
        "finished",
        3,
        b"line\n",
    )
    assert process_result.output == b"out\nerr\n"


def test_environment_and_folder_are_as_given(tmp_path: Path) -> None:
    process_result = run("import os; print(dict(os.environ) or os.getcwd())", tmp_path)
    assert str(tmp_path) in process_result.output.decode() or b"LC_CTYPE" in process_result.output
    assert b"PATH" not in process_result.output


def assert_gone(number: int) -> None:
    for _ in range(100):
        if not is_alive(number):
            return
        time.sleep(0.02)
    pytest.fail(f"process {number} is still alive")


def test_children_that_ignore_sigterm_are_killed(tmp_path: Path) -> None:
    process_result = run(
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
    assert process_result.ending == "timeout"
    assert process_result.duration_s < 5
    children = [int(item) for item in process_result.output.split()]
    assert len(children) == 3
    for child in children:
        assert_gone(child)


def test_grandchild_with_open_pipes_is_killed_without_delay(tmp_path: Path) -> None:
    process_result = run(
        "import os, time\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    time.sleep(60)\n"
        "print(child, flush=True)\n"
        "os._exit(0)\n",
        tmp_path,
    )
    assert process_result.ending == "finished"
    assert process_result.duration_s < 5
    assert_gone(int(process_result.output))


def test_output_of_a_remaining_child_counts(tmp_path: Path) -> None:
    process_result = run(
        "import os\nif not os.fork():\n    while True: os.write(1, b'x' * 4096)\nos._exit(0)",
        tmp_path,
    )
    assert process_result.ending in ("output", "finished")
    assert len(process_result.output) < 1100
    assert process_result.duration_s < 5


@pytest.mark.parametrize("channel", ["1", "int(sys.argv[1])"])
def test_excessive_output_ends_the_process_and_uses_little_memory(
    tmp_path: Path, channel: str
) -> None:
    tracemalloc.start()
    process_result = run(f"import os, sys\nwhile True: os.write({channel}, b'x' * 65536)", tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert process_result.ending == "output"
    assert process_result.duration_s < 5
    assert peak < 2_000_000


def test_head_and_tail_of_long_output_are_kept(tmp_path: Path) -> None:
    process_result = run("print('first' + 'x' * 50_000 + 'last')", tmp_path)
    assert process_result.ending == "finished"
    assert process_result.output.startswith(b"first")
    assert process_result.output.endswith(b"last\n")
    assert "bytes cut" in process_result.output.decode()
    assert len(process_result.output) < 1100


def test_short_output_is_complete(tmp_path: Path) -> None:
    assert run("print('a' * 999)", tmp_path).output == b"a" * 999 + b"\n"


def test_process_that_closes_its_pipes_is_waited_for(tmp_path: Path) -> None:
    process_result = run(
        "import os, time\nos.closerange(1, 64)\ntime.sleep(60)", tmp_path, timeout_s=SOON
    )
    assert process_result.ending == "timeout"


def test_standard_input_is_empty(tmp_path: Path) -> None:
    assert run("import sys; print(repr(sys.stdin.read()))", tmp_path).output == b"''\n"


def test_stop_ends_the_process_at_once(tmp_path: Path) -> None:
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    process_result = run("import time; time.sleep(60)", tmp_path, stop=stop)
    assert process_result.ending == "interrupted"
    assert process_result.duration_s < 5


def test_no_file_descriptor_leaks(tmp_path: Path) -> None:
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


def test_process_inherits_no_other_file_descriptor(tmp_path: Path) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE):
        process_result = run(
            "import os; print(sorted(os.listdir('/proc/self/fd'), key=int))", tmp_path
        )
    # 0, 1, 2, the result channel, the stack dump, and the one that lists the folder
    assert len(process_result.output.split()) == 6
