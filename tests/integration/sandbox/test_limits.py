"""Limits: each can be set, is validated, and is described when it is exceeded."""

from typing import get_args

import pytest

from greenloop.errors import SettingsError
from greenloop.records import Ending, Failure, LimitName
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.sandbox.limits import ResourceLimits, limits_from_settings
from greenloop.sandbox.process_result import ProcessResult
from greenloop.sandbox.work.limit_detection import detect_limits_hit
from greenloop.settings import Settings

MB = 1 << 20
# Variable, value, the field that it sets, and the value of the field.
VARIABLES = {
    "EXECUTION_TIMEOUT_SECONDS": ("1.5", "timeout_s", 1.5),
    "GREENLOOP_CPU_SECONDS": ("7", "cpu_s", 7),
    "GREENLOOP_MEMORY_MB": ("100", "memory_bytes", 100 * MB),
    "GREENLOOP_TOTAL_MEMORY_MB": ("200", "total_bytes", 200 * MB),
    "GREENLOOP_PROCESSES": ("9", "processes", 9),
    "GREENLOOP_DISK_MB": ("5", "disk_bytes", 5 * MB),
    "GREENLOOP_INODES": ("99", "inodes", 99),
    "GREENLOOP_SHARED_MEMORY_MB": ("3", "shared_bytes", 3 * MB),
    "GREENLOOP_OPEN_FILES": ("50", "open_files", 50),
    "GREENLOOP_FILE_MB": ("4", "file_bytes", 4 * MB),
    "GREENLOOP_OUTPUT_KB": ("20", "output_bytes", 20 << 10),
}


def test_defaults() -> None:
    assert limits_from_settings(Settings.load()) == ResourceLimits()
    assert ResourceLimits().cpu_seconds == 32


@pytest.mark.parametrize("variable", VARIABLES)
def test_variable_sets_its_limit(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, field, value = VARIABLES[variable]
    monkeypatch.setenv(variable, text)
    assert getattr(limits_from_settings(Settings.load()), field) == value


@pytest.mark.parametrize("variable", VARIABLES)
@pytest.mark.parametrize("text", ["0", "-1", "1e99", "many"])
def test_value_out_of_bounds_is_refused_by_name(
    variable: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, text)
    with pytest.raises(SettingsError, match=variable):
        Settings.load()


def test_total_memory_defaults_to_that_of_one_process() -> None:
    limits = limits_from_settings(Settings.load(memory_mb=300))
    assert limits.total_bytes == limits.memory_bytes == 300 * MB


def test_ordinary_run_passes_with_the_minimum_of_all() -> None:
    """Except for memory, which depends on Python itself."""
    least = Settings.load(
        processes=4,
        disk_mb=1,
        inodes=64,
        shared_memory_mb=1,
        open_files=32,
        file_mb=1,
        output_kb=16,
    )
    with open_sandbox(least) as box:
        for hash_seed in (0, 1):
            run = box.run_tests(
                "def f(): return 1",
                "from solution import f\ndef test_a(tmp_path): assert f() == 1",
                hash_seed=hash_seed,
            )
            assert run.passed, run
            assert run.limits_hit == ()


@pytest.mark.parametrize("name", get_args(LimitName))
def test_each_is_described_with_its_value(name: LimitName) -> None:
    small = ResourceLimits(
        1.5, 7, 8 * MB, 9 * MB, 10 << 10, 0, 0, 11 * MB, 12 * MB, 13 * MB, 14, 15, 16
    )
    words = small.describe_exceeded(name)
    assert any(character.isdecimal() for character in words)
    assert words != ResourceLimits().describe_exceeded(name)


def limits_hit(
    ending: Ending, *messages: str, status: int = 1, hit: tuple[str, ...] = ()
) -> list[str]:
    failures = [
        Failure(test="t", phase="call", exception="OSError", message=item) for item in messages
    ]
    result = ProcessResult(ending, status, b"", b"", 1.0, hit)
    return list(detect_limits_hit(ending, result, True, failures))


def test_measured_limits_precede_messages() -> None:
    full = "[Errno 28] No space left on device"
    assert limits_hit("finished", full) == ["disk"]
    assert limits_hit("finished", full, hit=("inodes",)) == ["inodes"]
    assert limits_hit("finished", f"{full}: '/dev/shm/x'") == ["shared memory"]
    assert limits_hit("finished", "[Errno 27] File too large", full) == ["disk", "file size"]
    assert limits_hit("finished", "nothing of the kind", hit=("no such limit",)) == []
    assert limits_hit("memory", hit=("total memory",), status=-9) == ["total memory"]
    assert limits_hit("memory", status=-9) == ["memory"]
    assert limits_hit("finished", status=-25) == ["file size"]


def test_exceeded_limit_is_reported_in_every_sandbox(box: Sandbox) -> None:
    code = "import os\ndef f():\n    kept = [open(os.devnull) for _ in range(300)]"
    run = box.run_tests(code, "from solution import f\ndef test_a(): f()")
    assert run.limits_hit == ("open files",)
    assert run.detail == "reached a limit: more than 256 open files in one process"
    assert "(reached a limit" in str(run)
