"""What a project's own mypy finds in changed files and did not find before.

mypy parses and imports nothing of the project. Of its configuration only the options are used that
decide what is found: no plugin, no other Python, no path to write to.
"""

import configparser
import importlib.util
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from greenloop.autofix.project_style import write_file
from greenloop.autofix.ruff import run_tool
from greenloop.toml import read_table

_TIMEOUT_SECONDS = 60
_INI_FILES = ("mypy.ini", ".mypy.ini", "setup.cfg")
_OPTION = re.compile(
    r"(allow|check|disable|disallow|enable|follow|ignore|implicit|local_partial|no_implicit|strict|warn)"
    r"(_\w+)?|(extra_checks|namespace_packages|explicit_package_bases|mypy_path|python_version)"
)
_FINDING = re.compile(r"^(?P<path>[^:\n]+):\d+: error: (?P<message>.*)$", re.MULTILINE)
_OF_PACKAGES = ("[import-not-found]", "[import-untyped]")  # which mypy may lack here
_Options = Mapping[str, Any]


def find_new_type_errors(
    files: Mapping[str, bytes], changed: Mapping[str, str | None]
) -> tuple[str, ...]:
    """Return new findings; () where the project has no mypy configuration, or there is no mypy.

    `files` are all files of the project before the change.
    """
    sections = _read_configuration(files)
    if not sections or importlib.util.find_spec("mypy") is None:
        return ()
    after = {path: text for path, text in changed.items() if path.endswith(".py") and text}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with (folder / "greenloop-mypy.ini").open("w") as file:
            _write_configuration(sections).write(file)
        for path, content in files.items():
            if path.endswith((".py", ".pyi", "py.typed")):
                write_file(folder / path, content)
        before = _run_mypy(folder, after.keys() & files.keys())
        for path, text in after.items():
            write_file(folder / path, text)
        new = _run_mypy(folder, after.keys()) - before
    return tuple(f"{path}: mypy: {message}" for path, message in sorted(new))


def _read_configuration(files: Mapping[str, bytes]) -> dict[str, _Options]:
    """Return the options by section, as an ini file names them; {} without any."""
    for name in _INI_FILES:
        parser = configparser.RawConfigParser()
        try:
            parser.read_string(files.get(name, b"").decode("utf-8", "replace"))
        except configparser.Error:
            continue
        if parser.has_section("mypy"):
            return {i: dict(parser[i]) for i in parser.sections() if re.match("mypy(-|$)", i)}
    try:
        text = files.get("pyproject.toml", b"").decode("utf-8", "replace")
        options = read_table(text, "tool", "mypy")
        return dict(_read_toml(options)) if options else {}
    except (ValueError, AttributeError, TypeError):
        return {}


def _read_toml(options: _Options) -> Iterator[tuple[str, _Options]]:
    yield "mypy", options
    for item in options.get("overrides", ()):
        modules = item.get("module", ())
        for module in [modules] if isinstance(modules, str) else modules:
            yield f"mypy-{module}", item


def _write_configuration(sections: Mapping[str, _Options]) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser()
    for name, options in sections.items():
        kept = {key: value for key, value in options.items() if _OPTION.fullmatch(key)}
        parser[name] = {
            key: ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            for key, value in kept.items()
        }
    return parser


def _run_mypy(folder: Path, paths: Collection[str]) -> Counter[tuple[str, str]]:
    """Return how often each message is given for a file; nothing where mypy gives up."""
    options = ("--no-error-summary", "--hide-error-context", "--no-pretty", "--show-error-codes")
    places = ("--config-file", "greenloop-mypy.ini", "--cache-dir", ".mypy_cache")
    command = [sys.executable, "-I", "-m", "mypy", *options, *places, "--", *sorted(paths)]
    safe = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    ended = run_tool(command, _TIMEOUT_SECONDS, folder=folder, env={**safe, "NO_COLOR": "1"})
    found = _FINDING.findall(ended.stdout) if ended and paths else []
    return Counter(item for item in found if not item[1].endswith(_OF_PACKAGES))
