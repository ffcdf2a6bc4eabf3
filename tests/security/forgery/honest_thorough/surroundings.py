"""Modules that look at files, folders, programs and variables which their tests set or name."""

from __future__ import annotations

from tests.security.forgery.case import Odd

THOROUGH = {
    "a terminal that tests set": Odd(
        """
import sys

def paint(text, stream=None):
    stream = stream or sys.stdout
    return f"\\x1b[1m{text}\\x1b[0m" if stream.isatty() else text
""",
        """
import pytest
from m import paint

class Fake:
    def __init__(self, tty): self.tty = tty
    def isatty(self): return self.tty

@pytest.mark.parametrize("tty, want", [(True, "\\x1b[1ma\\x1b[0m"), (False, "a")])
def test_paint(tty, want):
    assert paint("a", Fake(tty)) == want

def test_default(monkeypatch):
    monkeypatch.setattr("sys.stdout", Fake(True))
    assert paint("b") == "\\x1b[1mb\\x1b[0m"
""",
    ),
    "folders that are made": Odd(
        """
from pathlib import Path

def store(root, name, text):
    folder = Path(root) / name[:2]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    if path.exists():
        raise FileExistsError(name)
    path.write_text(text)
    return path.relative_to(root).as_posix()

def sizes(root):
    return {p.name: p.stat().st_size for p in sorted(Path(root).rglob("*")) if p.is_file()}
""",
        """
import pytest
from m import sizes, store

def test_store(tmp_path):
    assert store(tmp_path, "abc", "x") == "ab/abc"
    assert (tmp_path / "ab" / "abc").read_text() == "x"

def test_twice(tmp_path):
    store(tmp_path, "abc", "x")
    with pytest.raises(FileExistsError, match="abc"):
        store(tmp_path, "abc", "y")

def test_sizes(tmp_path):
    store(tmp_path, "abc", "xyz")
    store(tmp_path, "abd", "")
    assert sizes(tmp_path) == {"abc": 3, "abd": 0}

def test_no_files(tmp_path):
    assert sizes(tmp_path) == {}
""",
    ),
    "a configuration in the working folder": Odd(
        """
import json, os

def load(default=None):
    if os.path.exists("app.json"):
        with open("app.json") as file:
            return json.load(file)
    return {} if default is None else default
""",
        """
from m import load

def test_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.json").write_text('{"a": 1}')
    assert load() == {"a": 1}

def test_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load() == {}
    assert load({"b": 2}) == {"b": 2}
""",
    ),
    "a root that is the working folder by default": Odd(
        """
from pathlib import Path

def count(root="."):
    root = Path(root)
    if not root.is_dir():
        raise NotADirectoryError(str(root))
    found = {}
    for path in root.rglob("*"):
        if path.is_file():
            found[path.suffix] = found.get(path.suffix, 0) + 1
    return found
""",
        """
import pytest
from m import count

def test_count(tmp_path):
    (tmp_path / "a.py").write_text("")
    (tmp_path / "b.py").write_text("")
    (tmp_path / "c.txt").write_text("")
    assert count(tmp_path) == {".py": 2, ".txt": 1}

def test_default(tmp_path, monkeypatch):
    (tmp_path / "a.md").write_text("")
    monkeypatch.chdir(tmp_path)
    assert count() == {".md": 1}

def test_no_folder(tmp_path):
    with pytest.raises(NotADirectoryError):
        count(tmp_path / "x")
""",
    ),
    "programs that tests name": Odd(
        """
import subprocess

def run(command, text=""):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()
""",
        """
from m import run

def test_sort():
    assert run(["sort"], "b\\na\\n") == (0, ["a", "b"])

def test_false():
    assert run(["false"]) == (1, [])

def test_cat():
    assert run(["cat"], "x") == (0, ["x"])
""",
    ),
    "lists that are too deep": Odd(
        """
def depth(tree):
    try:
        return _depth(tree)
    except RecursionError:
        raise ValueError("too deep") from None

def _depth(tree):
    return 1 + max(map(_depth, tree), default=0) if isinstance(tree, list) else 0
""",
        """
import pytest
from m import depth

@pytest.mark.parametrize("tree, want", [(1, 0), ([], 1), ([1, [2, [3]]], 3), ([[], [[]]], 3)])
def test_depth(tree, want):
    assert depth(tree) == want

def test_too_deep():
    tree = []
    for _ in range(5000):
        tree = [tree]
    with pytest.raises(ValueError, match="too deep"):
        depth(tree)
""",
    ),
    "records of records": Odd(
        """
from dataclasses import dataclass, replace
from typing import NamedTuple

@dataclass(frozen=True)
class Item:
    name: str
    count: int = 1
    tags: tuple = ()

class Total(NamedTuple):
    items: int
    kinds: int

def merge(items):
    found = {}
    for item in items:
        old = found.get(item.name)
        found[item.name] = replace(old, count=old.count + item.count, tags=old.tags + item.tags) if old else item
    return list(found.values())

def total(items):
    return Total(sum(i.count for i in items), len(merge(items)))
""",
        """
from m import Item, Total, merge, total

def test_merge():
    assert merge([Item("a"), Item("b", 2, ("x",)), Item("a", 3, ("y",))]) == [Item("a", 4, ("y",)), Item("b", 2, ("x",))]

def test_no_items():
    assert merge([]) == []
    assert total([]) == Total(0, 0)

def test_total():
    assert total([Item("a"), Item("b", 2), Item("a", 3)]) == Total(6, 2)

def test_by_name():
    assert {i.name: i for i in merge([Item("a", 5)])} == {"a": Item("a", 5)}
""",
    ),
    "a folder of the session": Odd(
        """
import os
from pathlib import Path

def config_folder():
    base = os.environ.get("XDG_CONFIG_HOME")
    return Path(base) / "app" if base else Path.home() / ".config" / "app"

def has_config():
    return (config_folder() / "app.toml").exists()
""",
        """
from m import config_folder, has_config

def test_set(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert config_folder() == tmp_path / "app"
    assert not has_config()
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "app.toml").write_text("")
    assert has_config()

def test_home(tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert config_folder() == tmp_path / ".config" / "app"
""",
    ),
}
