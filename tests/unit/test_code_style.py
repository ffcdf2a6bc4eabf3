"""The house rules that no linter knows."""

from __future__ import annotations

import ast
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import greenloop
from greenloop import errors

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "greenloop").rglob("*.py"))


def functions() -> Iterator[tuple[str, int]]:
    """All functions of the package and their lengths in lines."""
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield f"{path.name}:{node.name}", (node.end_lineno or 0) - node.lineno + 1


def test_files_are_short() -> None:
    long = {path.name: len(path.read_text("utf-8").split("\n")) for path in SOURCES}
    assert {name: lines for name, lines in long.items() if lines > 251} == {}


def test_functions_are_short() -> None:
    lengths = dict(functions())
    assert {name: lines for name, lines in lengths.items() if lines > 50} == {}
    assert statistics.median(lengths.values()) < 10


def test_the_arrows_point_one_way() -> None:
    """As `lint-imports` has it; here where import-linter is not installed: the strictest of them."""
    inside = ROOT / "greenloop" / "sandbox" / "guest"
    for path in inside.glob("*.py"):
        assert "greenloop" not in "".join(imported(path)), path


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (item.name for item in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_grading_loads_no_model_and_no_langchain() -> None:
    code = (
        "import sys, greenloop.cli.commands.check; print([m for m in sys.modules "
        "if m.startswith(('langchain', 'langsmith', 'openai', 'greenloop.llm.chat'))])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_public_names_are_there_and_cost_nothing_until_used() -> None:
    for name in greenloop.__all__:
        assert getattr(greenloop, name).__name__ == name
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = greenloop.no_such_name
    code = "import sys, greenloop; print([m for m in sys.modules if m.startswith('greenloop.')])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


def test_the_tree_of_errors_is_the_one_in_its_docstring() -> None:
    assert errors.__doc__ is not None
    for name in errors.__all__:
        kind = getattr(errors, name)
        assert issubclass(kind, errors.GreenloopError)
        assert name in errors.__doc__
        assert f"status {kind.exit_status}" in errors.__doc__


def test_nothing_of_the_workshop_is_named() -> None:
    """The project stands for itself: no path of the machine it was made on."""
    for path in [*SOURCES, *ROOT.glob("*.md"), *(ROOT / "tests").rglob("*.py")]:
        if path != Path(__file__):
            assert "/work/shared" not in path.read_text("utf-8"), path
