"""Findings of a project's own mypy: only new ones count, and nothing of the project runs."""

from pathlib import Path

import pytest

from greenloop.autofix.project_types import find_new_type_errors

BEFORE = "def f(x: int) -> str:\n    return x\n"
AFTER = "import nowhere\n\n\ndef f(x: int, y: int = '1') -> str:\n    return x\n"
TOML = b"""[tool.mypy]
mypy_path = "src"
plugins = ["trap"]
junit_xml = "{folder}/report.xml"
[[tool.mypy.overrides]]
module = ["shop.old.*"]
ignore_errors = true
"""


@pytest.mark.parametrize(
    ("name", "config"),
    [("pyproject.toml", TOML), ("mypy.ini", b"[mypy]\npython_executable = ./trap.py\n")],
)
def test_new_findings_are_named_and_old_ones_are_not(
    tmp_path: Path, name: str, config: bytes
) -> None:
    trap = f"from pathlib import Path\nPath({str(tmp_path / 'ran')!r}).touch()\n".encode()
    files = {
        name: config.replace(b"{folder}", str(tmp_path).encode()),
        "src/shop/__init__.py": b"",
        "src/shop/prices.py": BEFORE.encode(),
        **dict.fromkeys(("trap.py", "mypy.py", "ast.py"), trap),
    }
    (found,) = find_new_type_errors(files, {"src/shop/prices.py": AFTER})
    assert found.startswith('src/shop/prices.py: mypy: Incompatible default for parameter "y"')
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("config", [b"", b"[tool.mypy", b"tool = 1\n", b"[tool.ruff]\n"])
def test_without_a_configuration_nothing_is_found(config: bytes) -> None:
    files = {"pyproject.toml": config, "a.py": BEFORE.encode()}
    assert find_new_type_errors(files, {"a.py": AFTER}) == ()
