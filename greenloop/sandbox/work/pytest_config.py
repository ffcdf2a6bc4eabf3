"""pytest options of a project that are used where it has no environment: those that select tests."""

from __future__ import annotations

import configparser
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found,unused-ignore]

# In pytest's order of precedence; a file with sections counts only if it has one of them.
_CONFIG_FILES = (
    ("pytest.toml", ()),
    (".pytest.toml", ()),
    ("pytest.ini", ()),
    (".pytest.ini", ()),
    ("pyproject.toml", (("tool", "pytest", "ini_options"), ("tool", "pytest"))),
    ("tox.ini", (("pytest",),)),
    ("setup.cfg", (("tool:pytest",),)),
)
_SELECTION_OPTIONS = {  # which tests there are and what they mean -> takes a value
    **dict.fromkeys("-k -m -W --pythonwarnings -o --override-ini --import-mode".split(), True),
    **dict.fromkeys("--ignore --ignore-glob --deselect --doctest-glob --assert".split(), True),
    **dict.fromkeys("--strict --strict-markers --doctest-modules --runxfail".split(), False),
    **dict.fromkeys("--doctest-ignore-import-errors --keep-duplicates".split(), False),
}
_DISPLAY_OPTIONS = {  # how results are displayed -> takes a value
    **dict.fromkeys("--tb --color --durations --durations-min --show-capture -r".split(), True),
    **dict.fromkeys("--verbosity --code-highlight --capture".split(), True),
    **dict.fromkeys("--verbose --quiet --showlocals --no-header --no-summary".split(), False),
    **dict.fromkeys("--full-trace --disable-plugin-autoload".split(), False),
}
_SHORT_DISPLAY_OPTIONS = re.compile(r"-[vqsl]+|-r\w+")
_ALLOWED_PLUGINS = ("no:warnings", "no:doctest", "no:unittest", "pytester")


@dataclass
class PytestOptions:
    """Configuration file ('' for none), and the `addopts` that are used."""

    config: str = ""
    arguments: list[str] = field(default_factory=list)


def read_pytest_options(files: Mapping[str, bytes]) -> PytestOptions:
    """Return the options that pytest reads from the root of a project; `files` are by path."""
    for name, sections in _CONFIG_FILES:
        if name not in files:
            continue
        text = files[name].decode("utf-8", "replace")
        found = _find_section(name, text, sections)
        if found is None:
            continue
        options = PytestOptions(config=name)
        for option, value, written in _iter_options(_split_words(found.get("addopts", ""))):
            if _is_used(option, value, files):
                options.arguments += written
        return options
    return PytestOptions()


def has_pytest_options(root: Path) -> bool:
    """Whether a file in the root of a project sets an option of pytest."""
    files = ((root / name, sections) for name, sections in _CONFIG_FILES)
    return any(
        _find_section(file.name, file.read_text("utf-8", "replace"), sections)
        for file, sections in files
        if file.is_file()
    )


def _find_section(
    name: str, text: str, sections: tuple[tuple[str, ...], ...]
) -> Mapping[str, Any] | None:
    """Return the pytest options of a file; {} if it cannot be parsed, None if it has none."""
    try:
        tree: Any = tomllib.loads(text) if name.endswith(".toml") else _parse_ini(text)
    except (ValueError, configparser.Error):
        return {}  # pytest reports what is wrong with it
    if not sections:
        return dict(tree.get("pytest", {}))
    for path in sections:
        found = tree
        for key in path:
            found = found.get(key, {}) if isinstance(found, Mapping) else {}
        if found:
            return dict(found)
    return None


def _parse_ini(text: str) -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.read_string(text)
    return {name: dict(parser.items(name)) for name in parser.sections()}


def _split_words(value: Any) -> list[str]:
    if isinstance(value, list):
        return [str(item) for item in value]
    try:
        return shlex.split(str(value or ""))
    except ValueError:
        return []


def _is_used(name: str, value: str, files: Mapping[str, bytes]) -> bool:
    """Return whether an option selects tests, or is one of the project's own."""
    if name == "-p":
        return _is_usable_plugin(value, files)
    return name in _SELECTION_OPTIONS or _is_project_option(name, files)


def _iter_options(words: list[str]) -> Iterator[tuple[str, str, list[str]]]:
    """Yield each option, its value ('' for none), and both as they are written."""
    left = list(words)
    while left:
        word = left.pop(0)
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if re.fullmatch(r"-[kmWop].+", word):
            name, value, equals = word[:2], word[2:], "="
        takes_value = _SELECTION_OPTIONS.get(
            name, _DISPLAY_OPTIONS.get(name, name.startswith("-") and not _is_flag(name))
        )
        written = [word]
        if takes_value and not equals and left and not left[0].startswith("-"):
            value = left.pop(0)
            written.append(value)
        yield name, value, written


def _is_flag(name: str) -> bool:
    """Return whether an option never takes a value."""
    return bool(_SHORT_DISPLAY_OPTIONS.fullmatch(name) or re.fullmatch(r"-[vqslx]+", name))


def _is_usable_plugin(plugin: str, files: Mapping[str, bytes]) -> bool:
    """Return whether a plugin is an allowed one of pytest, or a module of the project."""
    path = plugin.replace(".", "/") + ".py"
    return plugin in _ALLOWED_PLUGINS or path in files or f"src/{path}" in files


def _is_project_option(name: str, files: Mapping[str, bytes]) -> bool:
    """Return whether a `conftest.py` of the project adds this option."""
    if not name.startswith("--"):
        return False
    quoted = (f'"{name}"'.encode(), f"'{name}'".encode())
    conftests = (text for path, text in files.items() if path.split("/")[-1] == "conftest.py")
    return any(word in text for text in conftests for word in quoted)
