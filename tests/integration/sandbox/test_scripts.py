"""Scripts: they run as with `python script.py`, and their files and errors are returned."""

import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from greenloop.errors import InputError
from greenloop.records import InputFile, ScriptJob, ScriptRun
from greenloop.sandbox.backends.unsandboxed import ProcessSandbox
from greenloop.sandbox.base import Sandbox
from tests.integration.sandbox.conftest import LIMITS
from tests.support.programs import read_program, read_programs, read_table


@dataclass(frozen=True)
class Seen:
    """What a script shows to the process that started it."""

    status: int | None
    stdout: str
    last_error: str


ALIKE: dict[str, str | bytes] = read_table(__file__, "ALIKE")
FAMILY = read_programs(__file__, "FAMILY")
UNREADABLE = ("null byte", "unknown coding", "wrong utf-8")
ARGUMENTS, STDIN = ("--name", "a b"), "first\nsecond\nthird\u00e9".encode()
INPUTS = {
    "helper.py": b"value = 1\n",
    "package/part.py": b"value = 2\n",
    "statistics.py": b"value = 3\n",
    "data/in.csv": b"a,b\r\n",
}


def job(script: str | bytes) -> ScriptJob:
    files = tuple(InputFile(path=path, content=content) for path, content in INPUTS.items())
    return ScriptJob(script=script, arguments=ARGUMENTS, stdin=STDIN, inputs=files)


@pytest.fixture(scope="session")
def by_python(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Seen]:
    """Run each script with Python itself."""
    root = tmp_path_factory.mktemp("scripts")
    for path, content in INPUTS.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_bytes(content)

    def run(script: str | bytes, folder: Path) -> Seen:
        data = script if isinstance(script, bytes) else script.encode()
        if "coding: latin-1" in str(script) and isinstance(script, str):
            data = script.encode("latin-1")
        (folder / "script.py").write_bytes(data)
        command = [sys.executable, "-s", "-B", "script.py", *ARGUMENTS]
        environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        ended = subprocess.run(
            command, cwd=folder, input=STDIN, capture_output=True, env=environment, timeout=60
        )
        output, errors = ended.stdout.decode(), ended.stderr.decode()
        return Seen(ended.returncode, output, last(errors))

    return {name: run(script, root) for name, script in (ALIKE | FAMILY).items()}


@pytest.fixture(scope="session")
def runs(box: Sandbox) -> Mapping[str, ScriptRun]:
    scripts = ALIKE | FAMILY
    with ThreadPoolExecutor(2) as pool:
        ended = pool.map(lambda script: box.run_script(job(script)), scripts.values())
        return dict(zip(scripts, ended, strict=True))


def last(text: str) -> str:
    return text.strip().rpartition("\n")[2]


@pytest.mark.parametrize("name", [*ALIKE, *FAMILY])
def test_script_behaves_as_without_a_sandbox(
    box: Sandbox, runs: Mapping[str, ScriptRun], by_python: Mapping[str, Seen], name: str
) -> None:
    run = runs[name]
    if name in FAMILY and box.info.backend == "landlock":
        assert run.exit_status == 1  # a run has only one process there
        assert last(run.stderr).startswith(("BlockingIOError", "PermissionError"))
        return
    if name in UNREADABLE:  # with another message
        assert (run.exit_status, run.stdout) == (1, "")
        assert "SyntaxError" in run.stderr or "null bytes" in run.stderr
        assert run.error is not None
        return
    assert Seen(run.exit_status, run.stdout, last(run.stderr)) == by_python[name], run
    assert run.ending == ("crashed" if by_python[name].status < 0 else "finished")  # type: ignore[operator]
    assert run.succeeded == (run.exit_status == 0)


def test_signals_are_named(runs: Mapping[str, ScriptRun]) -> None:
    assert "SIGTERM" in runs["signal"].detail
    assert "SIGABRT" in runs["abort"].detail
    assert runs["status"].detail == ""


def test_traceback_has_only_frames_of_the_script(runs: Mapping[str, ScriptRun]) -> None:
    frames = runs["error"].stderr.split("\n")
    assert frames[0] == "Traceback (most recent call last):"
    assert frames[1].endswith('/work/script.py", line 3, in <module>')
    assert not any("run_script" in line or "zygote" in line for line in frames)


def test_only_exceptions_are_errors(runs: Mapping[str, ScriptRun]) -> None:
    with_error = {name for name, run in runs.items() if run.error}
    assert not with_error & {"status", "text status", "no status", "os._exit", "signal"}
    assert with_error >= {"error", "syntax", "interrupt", "at exit"}
    syntax = runs["syntax"].error
    assert syntax is not None
    assert (syntax.exception, syntax.frames[-1].line) == ("SyntaxError", 2)


MAKER = read_program(__file__, "MAKER")


def test_created_files_are_returned_and_changed_inputs_are_named(
    box: Sandbox,
) -> None:
    run = box.run_script(job(MAKER).model_copy(update={"keep": ("*.bin",)}))
    assert run.exit_status == 0, run
    assert [(item.path, item.content) for item in run.made] == [
        ("b.bin", b"\0"),
        ("moved.py", INPUTS["package/part.py"]),
        ("out/deep/a.csv", b"a,b"),
        ("out/empty", b""),
    ]
    assert sorted(run.left_out) == [
        "folder: a symbolic link",
        "out/link: a symbolic link",
        "pipe: a named pipe",
    ]
    assert sorted(run.changed_inputs) == ["helper.py", "package/part.py", "statistics.py"]
    assert not run.succeeded
    assert ScriptRun.model_validate_json(run.model_dump_json()) == run


def test_inputs_are_read_only(box: Sandbox) -> None:
    """Root without a sandbox may write anywhere: there the change is reported."""
    run = box.run_script(job("open('data/in.csv', 'w').write('x')"))
    if run.exit_status == 0:
        assert box.info.backend == "none"
        assert run.changed_inputs == ("data/in.csv",)
    else:
        assert run.error is not None
        assert run.error.exception == "PermissionError"
        assert run.changed_inputs == ()


FAILING = read_program(__file__, "FAILING")


def test_error_has_values_of_variables_and_no_secrets(box: Sandbox) -> None:
    error = box.run_script(job(FAILING)).error
    assert error is not None
    assert (error.exception, error.message) == ("LookupError", "no column with ***")
    assert [(item.file, item.function) for item in error.frames] == [("script.py", "<module>")]
    values = dict(error.frames[0].local_values)
    assert values["API_TOKEN"] == "***"
    assert values["day"] == "datetime.date(2020, 2, 3)"
    assert "Account" not in values
    inner = FAILING.replace("raise LookupError", "raise  # ")
    error = box.run_script(job(inner)).error
    assert error is not None
    frame = error.frames[-1]
    assert (frame.line, frame.function, frame.text) == (20, "find", "return row[column]")
    values = dict(frame.local_values)
    assert [name for name, _ in frame.local_values][:2] == ["row", "column"]
    assert values["row"] == "{'amount': Decimal('1.50')}"
    assert values["account"] == "<Account owner='me' api_key=*** nested=[1, [2, [...]]]>"
    assert values["settings"] == "{'n': 1, 'password': ***, 'token': ***, 'url': 'https***host/'}"
    assert values["counts"] == "Counter({'a': 2, 'b': 1})"
    assert values["many"] == "[0, 1, 2, 3, 4, 5, ...]"
    assert max(map(len, values.values())) <= 200
    assert "tok-1234567890" not in str(error)


def test_hanging_run_has_its_place_and_output(box: Sandbox) -> None:
    script = "import sys\nprint('so far')\ndef wait():\n    while True: pass\nwait()\n"
    for seconds in (1.0, 8.0, 30.0):  # a busy machine may be slow to start
        run = box.run_script(job(script).model_copy(update={"timeout_s": seconds}))
        assert (run.ending, run.detail) == ("timeout", f"still running after {seconds:g} s")
        if run.where:
            break
    assert run.stdout == "so far\n"
    assert [(item.file, item.line) for item in run.where] == [("script.py", 5), ("script.py", 4)]


def test_long_output_is_cut_in_the_middle_and_marked(box: Sandbox) -> None:
    script = "import sys\nprint('first' + 'x' * 1_500_000 + 'last')\nsys.stderr.write('short')"
    run = box.run_script(job(script))
    assert run.stdout.startswith("firstxxx")
    assert run.stdout.endswith("xxxlast\n")
    assert "bytes cut" in run.stdout
    assert (run.stdout_cut, run.stderr, run.stderr_cut) == (True, "short", False)


@pytest.mark.parametrize(
    "path", ["../a", "/a", "a/../b", "a//b", "", ".", "a\0b", "\ud800", "a/./b"]
)
def test_input_outside_of_the_folder_is_refused(path: str) -> None:
    with ProcessSandbox() as none, pytest.raises(InputError, match="path"):
        none.run_script(ScriptJob(script="", inputs=(InputFile(path=path, content=b""),)))


@pytest.mark.parametrize(
    ("files", "error_text"),
    [
        ({"script.py": b""}, "two files of the path 'script.py'"),
        ({"a": b"", "a/b/c": b""}, "'a' is both a file and the folder of 'a/b/c'"),
        ({f"f{n}": b"" for n in range(2100)}, "2101 files; at most 2000"),
        ({"big": bytes(20 << 20), "s": b""}, "20.0 MB of files; at most 16.0 MB.*big \\(20.0 MB"),
        ({"big": bytes(7 << 20)}, "big has 7.0 MB; a file may have 6.0 MB"),
    ],
)
def test_conflicting_or_too_large_inputs_are_refused(
    files: dict[str, bytes], error_text: str
) -> None:
    inputs = tuple(InputFile(path=path, content=content) for path, content in files.items())
    with ProcessSandbox(LIMITS) as none, pytest.raises(InputError, match=error_text):
        none.run_script(ScriptJob(script="", inputs=inputs))


def test_standard_input_counts_towards_the_size(box: Sandbox) -> None:
    with pytest.raises(InputError, match="of files; at most"):
        box.run_script(ScriptJob(script="", stdin=bytes(17 << 20)))
