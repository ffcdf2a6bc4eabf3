"""Arguments of `pip install` for a project with its tests, for the proposed CI job."""

import shlex
from pathlib import Path

from greenloop.files import read_or_empty
from greenloop.project.declared import choose_groups, list_test_files
from greenloop.toml import find_table, read_table


def find_test_installation(root: Path) -> str:
    """Return the arguments of `pip install` for a project and its tests; '' if none are known.

    The tests' packages are those of a group, an extra or a file with one of the usual names.
    """
    data = read_table(read_or_empty(root / "pyproject.toml"))
    extras = choose_groups(find_table(data, "project", "optional-dependencies"))
    groups = choose_groups(find_table(data, "dependency-groups"))
    is_package = not data.keys().isdisjoint(("project", "build-system")) or any(
        (root / name).exists() for name in ("setup.py", "setup.cfg")
    )
    files = [*list_test_files(root), root / "requirements.txt"]
    found = [str(path.relative_to(root)) for path in files if path.is_file()]
    words = ["-e", f".[{extras[0]}]" if extras else "."] if is_package else []
    words += [word for group in groups[:1] for word in ("--group", group)]
    words += [word for path in found[:1] for word in ("-r", path)]
    return shlex.join([*words, "pytest"]) if words else ""
