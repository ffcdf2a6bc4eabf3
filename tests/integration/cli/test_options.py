"""Declared options of the commands, and what is read from them."""

import subprocess
import sys


def test_help_imports_nothing_heavy() -> None:
    code = "import sys, greenloop.cli.main; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"pydantic", "langchain_core", "jinja2", "greenloop.records", "greenloop.settings"}
    assert not heavy & set(ended.stdout.split())
