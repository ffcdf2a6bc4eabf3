"""Programs and tables of tests, in files beside them: `test_escape.md` and `test_escape.yaml` have those of `test_escape.py`."""

import re
from pathlib import Path
from typing import Any

import yaml

_SECTION = re.compile(r"^## (\w+)\n\n(.*?)(?=^## \w+\n\n|\Z)", re.MULTILINE | re.DOTALL)
_PROGRAM = re.compile(r"(?:^### ([^\n]*)\n\n)?^(`{3,})\w+\n(.*?)^\2$", re.MULTILINE | re.DOTALL)


def read_program(test_file: str, section: str) -> str:
    """Return the only program of a section."""
    ((_, program),) = _read_section(test_file, section)
    return program


def read_programs(test_file: str, section: str) -> dict[str, str]:
    """Return the programs of a section by their headings."""
    return dict(_read_section(test_file, section))


def _read_section(test_file: str, section: str) -> list[tuple[str, str]]:
    text = Path(test_file).with_suffix(".md").read_text("utf-8")
    bodies = dict(_SECTION.findall(text))
    return [(name, program) for name, _, program in _PROGRAM.findall(bodies[section])]


def read_table(test_file: str, name: str) -> Any:
    """Return a table of the YAML file beside a test file."""
    return yaml.safe_load(Path(test_file).with_suffix(".yaml").read_text("utf-8"))[name]
