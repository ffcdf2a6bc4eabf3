"""Declared encodings of Python source."""

from pathlib import Path

from greenloop.app.api import _place_files
from greenloop.encodings import decode_source, encode_source
from greenloop.settings import Settings


def test_an_encoding_that_is_not_for_texts_is_none() -> None:
    source = "# coding: hex\nx = 'é'\n"
    assert decode_source(encode_source(source)) == source


def test_a_check_reads_tests_with_an_encoding_of_their_own(tmp_path: Path) -> None:
    code, tests = tmp_path / "m.py", tmp_path / "test_m.py"
    tests.write_bytes("# coding: latin-1\nimport m  # é\n".encode("latin-1"))
    assert _place_files(tmp_path, code, tests, Settings()) == (code, [tests])
