"""Declared encodings of Python source."""

from greenloop.encodings import decode_source, encode_source


def test_an_encoding_that_is_not_for_texts_is_none() -> None:
    source = "# coding: hex\nx = 'é'\n"
    assert decode_source(encode_source(source)) == source
