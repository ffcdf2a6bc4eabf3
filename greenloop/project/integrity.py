"""Integrity of a patch: guarded files, paths outside the fence, changed public signatures."""

import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from greenloop.project.code_map.modules import parse_module
from greenloop.testsuite.parser import is_test_path

# Globs in lower case: one with a slash matches the end of a path, any other a file's name.
_GUARDED = {
    "it configures the tests": (
        "conftest.py pytest.ini .pytest.ini pytest.toml .pytest.toml tox.ini noxfile.py .coveragerc"
    ),
    "it configures the tests, and names dependencies": "pyproject.toml setup.cfg",
    "it names dependencies": (
        "setup.py requirements*.txt requirements/* constraints*.txt pipfile pipfile.lock poetry.lock "
        "pdm.lock uv.lock pylock*.toml environment.y*ml"
    ),
    "Python runs it at each start": "sitecustomize.py usercustomize.py *.pth *.egg-link",
    "CI or a hook runs it": (
        ".github/* .gitlab/* .gitlab-ci.yml .circleci/* .buildkite/* .travis.yml appveyor.yml "
        "azure-pipelines*.yml bitbucket-pipelines.yml jenkinsfile .woodpecker/* .drone.yml makefile "
        ".pre-commit-config.yaml .husky/* .githooks/*"
    ),
    "version control reads it": ".git/* .gitattributes .gitmodules .gitignore",
}
_LOADED_FIRST = frozenset("_pytest pluggy iniconfig py sitecustomize usercustomize".split())


def explain_guard(path: str, existing: Collection[str] = ()) -> str:
    """Return why a change of a file needs the user's consent, or '' if it needs none.

    `existing` are the paths of the project's files.
    """
    lower = path.lower()
    name = lower.rpartition("/")[2]
    for reason, patterns in _GUARDED.items():
        for pattern in patterns.split():
            if fnmatchcase(*((f"/{lower}", f"*/{pattern}") if "/" in pattern else (name, pattern))):
                return reason
    return "it takes the place of another module" if _is_shadowing(path, existing) else ""


def _is_shadowing(path: str, existing: Collection[str]) -> bool:
    """Return whether a new top-level module has the name of one that Python or pytest loads."""
    folder, _, name = path.removesuffix("/__init__.py").removesuffix(".py").rpartition("/")
    if path in existing or f"{folder}/__init__.py".lstrip("/") in existing:
        return False
    return name in sys.stdlib_module_names | _LOADED_FIRST or name.startswith("pytest")


def is_in_fence(path: str, fence: Sequence[str]) -> bool:
    """Return whether a path matches a glob, as git does: `**` is any number of folders.

    A glob of a folder matches all files in it; one without a slash, such as `*.py`, in any folder.
    """
    globs = [glob if "/" in glob or "*" not in glob else f"**/{glob}" for glob in fence]
    return any(_is_match(path.split("/"), glob.rstrip("/").split("/")) for glob in globs)


def _is_match(names: Sequence[str], glob: Sequence[str]) -> bool:
    if not glob:
        return True
    if glob[0] == "**" and _is_match(names, glob[1:]):
        return True
    return (
        bool(names)
        and fnmatchcase(names[0], glob[0])
        and _is_match(names[1:], glob if glob[0] == "**" else glob[1:])
    )


def list_public_changes(
    before: Mapping[str, str], after: Mapping[str, str | None]
) -> tuple[str, ...]:
    """Return a line for each public function or class that is new, removed or changed in signature.

    `after` has the texts of changed files, None for a deleted one. Test files and modules with a
    private name are left out.
    """
    return tuple(
        line
        for path in sorted(after)
        if path.endswith(".py") and not is_test_path(path) and not _is_private(path)
        for line in _compare(path, before.get(path, ""), after[path] or "")
    )


def _is_private(path: str) -> bool:
    parts = path.removesuffix(".py").split("/")
    return any(part[:1] == "_" and part[:2] != "__" for part in parts)


def _compare(path: str, before: str, after: str) -> Iterator[str]:
    old, new = _read_signatures(path, before), _read_signatures(path, after)
    for name in dict.fromkeys((*old, *new)):
        if name not in new:
            yield f"{path}: removed: {old[name]}"
        elif name not in old:
            yield f"{path}: added: {new[name]}"
        elif old[name] != new[name]:
            yield f"{path}: {old[name]} → {new[name]}"


def _read_signatures(path: str, text: str) -> dict[str, str]:
    """Return the signatures of public functions, classes and methods by qualified name."""
    found = (item for item in parse_module(path, text).definitions if item.is_public)
    heads = {
        item.name: item.head for item in found if re.match(r"@|(async )?def |class ", item.head)
    }
    return {
        name: re.sub(r"\b(def|class) \w+", rf"\g<1> {name}", head, count=1)
        for name, head in heads.items()
    }
