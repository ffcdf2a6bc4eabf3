"""Source files, read and written with their format."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from greenloop.errors import InputError, OutputError
from greenloop.scripts.source_file import SourceFile


def source(tmp_path: Path, content: bytes, mode: int = 0o755) -> SourceFile:
    path = tmp_path / "s.py"
    path.write_bytes(content)
    path.chmod(mode)
    return SourceFile.from_path(path)


@pytest.mark.parametrize(
    "content",
    [
        b"x = 1\n",
        b"x = 1",
        b"",
        b"\n\n",
        b"x = 1\r\ny = 2\r\n",
        b"x = 1\r\ny = 2\nz = 3\r\n",
        b"x = 1\ry = 2\r",
        b"\xef\xbb\xbfx = '\xc3\xa4'\n",
        b"# -*- coding: latin-1 -*-\nx = '\xe4'\n",
        b"#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\nx = '\x80'\r\n",
        b"# note\n# coding: latin-1\nx = '\xe4'\n\n\n",
        "x = 'ü☃'\n".encode(),
        b"x = '\x0c\x1c\xc2\x85'\n",
    ],
)
def test_unchanged_text_gives_the_same_bytes(tmp_path: Path, content: bytes) -> None:
    read = source(tmp_path, content)
    assert "\r" not in read.text
    assert not read.text.startswith("\ufeff")
    assert read.encode(read.text) == content
    read.write(read.path, read.text)
    assert read.path.read_bytes() == content


@given(st.text("ab#\r\n \t'", max_size=30), st.text("ab\n", max_size=20))
def test_any_text_round_trips(text: str, new: str) -> None:
    content = text.encode()
    path = Path("x.py")
    import greenloop.scripts.source_file as sources

    whole = content.decode()
    read = SourceFile(
        path,
        sources._LINE_ENDING.sub("\n", whole),
        line_endings=tuple(sources._LINE_ENDING.findall(whole)),
    )
    assert read.encode(read.text) == content
    assert read.encode(new).decode().split()[-1:] == new.split()[-1:]


def test_new_text_keeps_encoding_line_ends_and_bom(tmp_path: Path) -> None:
    read = source(tmp_path, b"#!/usr/bin/python\r\n# coding: latin-1\r\nx = '\xe4'")
    assert read.encode("y = 'ö'\nz = 2\n") == (
        b"#!/usr/bin/python\r\n# coding: latin-1\r\ny = '\xf6'\r\nz = 2"
    )
    assert read.encode("#!/bin/sh\n# coding: utf-8\ny = 1\n").startswith(b"#!/usr/bin/python\r\n#")
    marked = source(tmp_path, b"\xef\xbb\xbfx = 1\n")
    assert marked.encode("\ufeffx = 2") == b"\xef\xbb\xbfx = 2\n"


def test_unchanged_lines_keep_mixed_line_ends(tmp_path: Path) -> None:
    read = source(tmp_path, b"a = 1\r\nb = 2\nc = 3\r\nd = 4\n")
    assert read.encode("a = 1\nb = 2\nnew = 0\nc = 3\nd = 4\n") == (
        b"a = 1\r\nb = 2\nnew = 0\r\nc = 3\r\nd = 4\n"
    )


def test_unencodable_text_is_an_error_and_not_written(tmp_path: Path) -> None:
    read = source(tmp_path, b"# coding: latin-1\nx = 1\n")
    with pytest.raises(OutputError, match="iso-8859-1, has no '→' \\(line 2\\)"):
        read.write(read.path, "# coding: latin-1\nx = '→'\n")
    assert read.path.read_bytes() == b"# coding: latin-1\nx = 1\n"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\x7fELF\0\0", "binary"),
        (b"\xff\xfex\0", "UTF-16"),
        (b"x = '\xe4'\n", "byte 0xe4 in line 1 is not utf-8"),
        (b"# coding: klingon\nx = 1\n", "unknown encoding: klingon"),
        (b"# coding: rot13\nx = 1\n", "not a text encoding"),
        (b"\xef\xbb\xbf# coding: latin-1\nx = 1\n", "encoding problem"),
        (b"x" * 4_000_001, "too large"),
    ],
)
def test_invalid_content_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        source(tmp_path, content)
    assert "s.py" in str(caught.value)


def test_folders_missing_files_and_devices_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        SourceFile.from_path(tmp_path)
    with pytest.raises(InputError, match="No such file"):
        SourceFile.from_path(tmp_path / "none.py")
    with pytest.raises(InputError, match="no regular file"):
        SourceFile.from_path(Path("/dev/null"))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="no regular file"):
        SourceFile.from_path(tmp_path / "pipe")
    with pytest.raises(InputError, match="cannot be read"):
        SourceFile.from_path(Path("a\0b"))


def test_mode_and_link_are_kept(tmp_path: Path) -> None:
    read = source(tmp_path, b"x = 1\n", 0o751)
    link = tmp_path / "link.py"
    link.symlink_to("s.py")
    SourceFile.from_path(link).write(link, "x = 2\n")
    assert link.is_symlink()
    assert read.path.read_bytes() == b"x = 2\n"
    assert stat.S_IMODE(read.path.stat().st_mode) == 0o751
    other = tmp_path / "other.py"
    read.write(other, "x = 3\n")
    assert stat.S_IMODE(other.stat().st_mode) == 0o751


def test_failed_write_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = source(tmp_path, b"x = 1\n")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="No space left on device"):
        read.write(read.path, "x = 2\n")
    assert os.listdir(tmp_path) == ["s.py"]
    assert read.path.read_bytes() == b"x = 1\n"


def test_unwritable_path_is_an_error(tmp_path: Path) -> None:
    read = source(tmp_path, b"x = 1\n")
    with pytest.raises(OutputError, match="cannot be written: No such file"):
        read.write(tmp_path / "none" / "s.py", "x = 2\n")
    with pytest.raises(OutputError, match="cannot be written"):
        read.write(tmp_path, "x = 2\n")
    if os.geteuid() != 0:
        read.path.chmod(0o444)
        with pytest.raises(OutputError, match="write-protected"):
            read.write(read.path, "x = 2\n")
