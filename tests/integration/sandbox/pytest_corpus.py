"""Small test files of every kind that pytest supports, compared with runs of pytest itself."""

from __future__ import annotations

from tests.support.programs import read_program, read_programs

SOLUTION = read_program(__file__, "SOLUTION")
_PYTEST = "import pytest\nfrom solution import *\n"
_UNITTEST = "import unittest\nfrom solution import *\n"
FILES = read_programs(__file__, "FILES")
UNITTESTS = read_programs(__file__, "UNITTESTS")
# Each of these ends the whole run.
ALONE = {
    "exit_at_import": "import sys\nsys.exit(0)",
    "pytest_exit": "def test_a(): pass\ndef test_b(): pytest.exit('enough', returncode=0)\ndef test_c(): pass",
    "interrupt": "def test_a(): raise KeyboardInterrupt\ndef test_b(): pass",
}
CONFTEST = "import pytest\n\n\n@pytest.fixture\ndef five():\n    return 5\n"


def files() -> dict[str, str]:
    """Return the files that can share one run, by name."""
    plain = {f"test_{name}.py": _PYTEST + text for name, text in FILES.items()}
    unit = {f"test_{name}.py": _UNITTEST + text for name, text in UNITTESTS.items()}
    return {**plain, **unit, "conftest.py": CONFTEST}


def alone() -> dict[str, str]:
    """Return the files that need a run of their own, by name."""
    return {f"test_{name}.py": _PYTEST + text for name, text in ALONE.items()}
