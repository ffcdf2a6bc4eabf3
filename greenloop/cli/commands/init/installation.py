"""The command that installs a project with its tests, for a job that is proposed."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

_TEST_SETS = ("test", "tests", "testing", "dev")
_BUILD_FILES = ("setup.py", "setup.cfg")


def find_test_installation(root: Path) -> str:
    """Return the arguments of `pip install` for a project and its tests; '' where none is known.

    The tests' packages are those of a group, an extra or a file with one of the usual names.
    """
    data = _read_project_file(root)
    extras = _pick(data.get("project", {}).get("optional-dependencies", {}))
    groups = _pick(data.get("dependency-groups", {}))
    is_package = not data.keys().isdisjoint(("project", "build-system")) or any(
        (root / name).exists() for name in _BUILD_FILES
    )
    words = ["-e", f".[{extras[0]}]" if extras else "."] if is_package else []
    words += [word for group in groups[:1] for word in ("--group", group)]
    words += [word for path in _find_requirements(root) for word in ("-r", path)]
    return shlex.join([*words, "pytest"]) if words else ""


def _read_project_file(root: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        values: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
        return values
    return {}


def _pick(names: object) -> list[str]:
    return [name for name in _TEST_SETS if isinstance(names, dict) and name in names]


def _find_requirements(root: Path) -> Iterator[str]:
    """Yield the first file that lists the tests' packages, such as `requirements-dev.txt`."""
    forms = (
        "requirements/{}.txt",
        "requirements-{}.txt",
        "{}-requirements.txt",
        "requirements_{}.txt",
    )
    names = [form.format(name) for form in forms for name in _TEST_SETS]
    names += ["tests/requirements.txt", "requirements.txt"]
    yield from [name for name in names if (root / name).is_file()][:1]
