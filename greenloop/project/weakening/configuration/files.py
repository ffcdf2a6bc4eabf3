"""Detection of loosened configuration: pytest, coverage, greenloop, hooks and startup files."""

from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatch

from greenloop.project.weakening.configuration.hooks import (
    compare_hooks,
    compare_lines,
    find_silenced,
)
from greenloop.project.weakening.configuration.settings import (
    PYTEST_FILES,
    compare_settings,
    read_beside,
)

# Of these files only lines that run a check count; other tools are the project's own choice.
_HOOK_FILES = (
    ".pre-commit-config.yaml",
    ".claude/settings*.json",
    ".codex/*",
    ".cursor/hooks.json",
    ".aider.conf.yml",
    ".greenloop*",
    ".github/workflows/*",
    ".gitlab-ci.yml",
    ".gitlab/*.yml",
    ".circleci/*",
    "azure-pipelines*.yml",
    ".azure-pipelines/*",
    "Makefile",
    "noxfile.py",
)
# Modules that Python or pytest imports by themselves, before any test.
_STARTUP_FILES = ("sitecustomize.py", "usercustomize.py")


def is_deciding_file(path: str) -> bool:
    """Return whether a file of a project decides which tests count, or what they demand."""
    name = path.rpartition("/")[2]
    named = (*PYTEST_FILES, "conftest.py")
    return name in named or _is_run_first(path) or any(fnmatch(path, p) for p in _HOOK_FILES)


def _is_run_first(path: str) -> bool:
    """Return whether Python runs a file at startup, because it is on a likely `sys.path` folder."""
    folder, _, name = path.rpartition("/")
    is_module = name in _STARTUP_FILES and folder in ("", "src", "lib", "tests", "test")
    return is_module or ("site-packages/" in path and name.endswith((".pth", *_STARTUP_FILES)))


def find_loosened_configuration(
    before: Mapping[str, str], after: Mapping[str, str], tests: Collection[str] = ()
) -> Iterator[str]:
    """Yield a sentence for each change of a deciding file that leaves out tests or demands less.

    `before` and `after` map paths to texts; a missing file is empty. `tests` are the test files.
    """
    for path in sorted({*before, *after}):
        old, new = before.get(path, ""), after.get(path, "")
        if old == new or not is_deciding_file(path):
            continue
        if path.endswith("conftest.py"):
            yield from compare_hooks(path, old, new)
        elif path.rpartition("/")[2] in PYTEST_FILES:
            was, now = read_beside(path, before), read_beside(path, after)
            yield from compare_settings(path, was, now, tests)
            compare = compare_lines if path.endswith("tox.ini") else find_silenced
            yield from compare(path, old, new)
        elif _is_run_first(path):
            yield f"{path}: was changed; Python runs it before every test"
        else:
            yield from compare_lines(path, old, new)
