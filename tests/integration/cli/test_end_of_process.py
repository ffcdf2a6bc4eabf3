"""The end of the process: what cannot be printed is one line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("words", [["--help"], ["runs", "--json"]])
def test_full_disk_is_one_line(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "greenloop", *words], stdout=full, stderr=subprocess.PIPE
        )
    line = b"greenloop: standard output cannot be written: No space left on device\n"
    assert (ended.returncode, ended.stderr) == (1, line)


def test_closed_standard_output_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def double(x):\n    return 2 * x\n")
    test = "from m import double\n\ndef test_double():\n    assert double(2) == 4\n"
    (tmp_path / "test_m.py").write_text(test)
    command = f"exec {sys.executable} -m greenloop check m.py test_m.py -q >&-"
    ended = subprocess.run(["sh", "-c", command], cwd=tmp_path, stderr=subprocess.PIPE)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_closed_standard_input_is_empty(tmp_path: Path) -> None:
    command = f"exec {sys.executable} -m greenloop make - <&-"
    ended = subprocess.run(["sh", "-c", command], cwd=tmp_path, stderr=subprocess.PIPE)
    assert (ended.returncode, ended.stderr) == (
        2,
        b"greenloop: the text is empty: say what you want\n",
    )


def test_reader_that_has_exited_is_no_error_message() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        [sys.executable, "-m", "greenloop", "--help"], stdout=writing, stderr=subprocess.PIPE
    )
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (1, b"")
