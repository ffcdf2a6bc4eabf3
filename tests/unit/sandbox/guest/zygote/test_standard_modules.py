"""Modules that a zygote loads because a run imports them."""

from __future__ import annotations

import importlib

import pytest

from greenloop.sandbox.guest.zygote.standard_modules import STANDARD_MODULES, find_preloadable


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import os, asyncio", ["asyncio", "os"]),
        ("from unittest import mock", ["unittest", "unittest.mock"]),
        ("def f():\n    import sqlite3 as db", ["sqlite3"]),
        ("import xml.etree.ElementTree as tree", ["xml.etree.ElementTree"]),
        ("from xml.etree import ElementTree", ["xml.etree.ElementTree"]),
        ("from decimal import Decimal, getcontext", ["decimal"]),
        ("import tkinter, requests\nfrom . import csv\nfrom .random import x", []),
        ("# import csv\ntext = 'import csv'\nimports = 1", []),
    ],
)
def test_imported_modules_are_found(code: str, expected: list[str]) -> None:
    assert find_preloadable([b"x = 1\n", code.encode()]) == expected


def test_bytes_that_are_not_utf8_are_no_error() -> None:
    assert find_preloadable([b"import \xff, csv\nimport json\n"]) == ["json"]


@pytest.mark.parametrize("name", STANDARD_MODULES)
def test_each_module_exists(name: str) -> None:
    importlib.import_module(name)
