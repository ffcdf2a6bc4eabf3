"""Files that pytest collects by a project's configuration, unless they are named to it."""

from collections.abc import Sequence
from fnmatch import fnmatch

from greenloop.project.tree import ProjectTree
from greenloop.project.weakening.configuration.settings import PYTEST_FILES, read_file_patterns
from greenloop.testsuite.parser import is_test_path


def list_patterns(tree: ProjectTree) -> tuple[list[str], list[str]]:
    """Return the patterns of names and folders by which pytest finds a project's test files."""
    files = tree.project.all_files
    named = [name for name in PYTEST_FILES if name in files]
    texts = {name: files[name].decode("utf-8", "replace") for name in named}
    names, folders = read_file_patterns(texts)
    is_used = any(fnmatch(path, item) for path in tree.texts for item in folders)
    return names, folders if is_used and not tree.scope else []


def is_collected(path: str, patterns: tuple[Sequence[str], Sequence[str]]) -> bool:
    """Return whether pytest finds a file by its place and name; its tests may be inherited.

    If a file is named to pytest, these do not matter.
    """
    names, folders = patterns
    is_named = any(fnmatch(path if "/" in i else path.rpartition("/")[2], i) for i in names)
    is_below = not folders or any(fnmatch(f"{path}/", item) for item in folders)
    return is_test_path(path) and is_named and is_below
