"""Text of the macOS profile, which has not been tested on macOS."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from greenloop.errors import SandboxError
from greenloop.sandbox import open_sandbox
from greenloop.sandbox.backends.mounts import HOME, SITE, GuestMounts
from greenloop.sandbox.backends.seatbelt import build_command, build_profile, quote_path
from greenloop.settings import Settings

SEEN = GuestMounts(
    read_only=(("/usr", "/usr"), ("/x/guest", f"{HOME}/guest"), ("/v/pytest", f"{SITE}/pytest")),
    links=(),
    python="/opt/py/bin/python3",
)


def lines() -> list[str]:
    return build_profile(SEEN, Path("/tmp/site"), Path("/tmp/run")).split("\n")


def test_everything_is_denied_by_default() -> None:
    first, second, *rest = lines()
    assert (first, second) == ("(version 1)", "(deny default)")
    assert all(line.startswith("(allow ") for line in rest)
    assert not any(word in line for line in rest for word in ("network", "mach", "fork", "ipc"))


def test_only_the_run_folder_is_writable() -> None:
    writes = [line for line in lines() if "file-write" in line]
    assert writes == [
        '(allow file-write* (subpath "/tmp/run"))',
        '(allow file-write-data (literal "/dev/null"))',
    ]


def test_only_the_interpreter_can_be_started() -> None:
    (starts,) = [line for line in lines() if "process" in line]
    assert starts.startswith('(allow process-exec (literal "/opt/py/bin/python3") (literal "')


def test_packages_guest_and_system_are_readable_and_no_home() -> None:
    (reads,) = [line for line in lines() if "file-read*" in line and "subpath" in line]
    for path in ("/tmp/site", "/tmp/run", "/x/guest", "/v/pytest", "/usr/lib"):
        assert f'(subpath "{path}")' in reads
    for path in {"/", "/usr", "/Users", str(Path.home())} - {sys.base_prefix}:
        assert f'(subpath "{path}")' not in reads


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/plain", '"/plain"'),
        ('/a") (allow default) ("', '"/a\\") (allow default) (\\""'),
        ("/back\\slash", '"/back\\\\slash"'),
        ('/both\\"', '"/both\\\\\\""'),
    ],
)
def test_path_is_quoted(path: str, text: str) -> None:
    assert quote_path(path) == text


@pytest.mark.parametrize("path", ["relative", "", "/a\nb", "/a\0", "/a\x1b"])
def test_unprintable_or_relative_path_is_refused(path: str) -> None:
    with pytest.raises(SandboxError, match="no profile"):
        quote_path(path)


def test_python_is_started_with_the_profile() -> None:
    program, flag, text, python, *options = build_command(SEEN, Path("/tmp/site"), Path("/tmp/run"))
    assert (program, flag, python) == ("/usr/bin/sandbox-exec", "-p", SEEN.python)
    assert text.startswith("(version 1)")
    assert options == ["-s", "-S", "-B"]


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS supports it")
def test_other_platforms_are_refused() -> None:
    with pytest.raises(SandboxError, match=r"^--sandbox seatbelt: only on macOS"):
        open_sandbox(Settings.load(sandbox="seatbelt"))
