"""Handling of plug-ins that are missing when greenloop's Python runs a project's tests."""

import copy
import itertools
import os
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from _pytest.config import UsageError
from _pytest.config.findpaths import locate_config

from .plugins import list_plugins

# Overrides settings by which pytest exits if something is not installed; greenloop reports that.
_OVERRIDES = ("required_plugins=", "minversion=", "strict_config=false", "strict_markers=false")
# Warnings that do not occur in a project's own environment, but that its settings may make errors.
_WARNINGS = (
    "PytestAssertRewriteWarning PytestConfigWarning PytestDeprecationWarning "
    "PytestUnknownMarkWarning"
).split()
_STRICT_OPTIONS = ("--strict-config", "--strict-markers", "--strict")


def build_arguments(root: str, packages: str, ini: str) -> list[str]:
    """Return pytest's arguments: plug-ins of installed packages, no settings from outside `root`.

    `packages` is the folder of these packages, '' for none; `ini` is an empty configuration.
    """
    arguments = [part for item in list_plugins(packages) for part in ("-p", item.name)]
    arguments += [part for item in _OVERRIDES for part in ("-o", item)]
    arguments += [part for name in _WARNINGS for part in ("-W", f"ignore::pytest.{name}")]
    try:
        _, config, settings, *_ = locate_config(Path(root), [Path(root)])
    except UsageError:  # which pytest reports
        return arguments
    if config is not None and Path(root) not in config.parents:
        return [*arguments, "-c", ini]
    return [*arguments, *_leave_out_plugins(settings.get("addopts", ""), packages)]


def _leave_out_plugins(added: Any, packages: str) -> list[str]:
    """Return an option that removes plug-ins that are not installed (`-p NAME`) from `addopts`."""
    given = getattr(added, "value", added)  # an object with `value` since pytest 9
    words = list(given) if isinstance(given, list) else shlex.split(given)
    known = {item.name for item in list_plugins(packages)}
    absent = [
        place
        for place, (flag, name) in enumerate(itertools.pairwise(words))
        if flag == "-p" and name not in known and not _is_module(name)
    ]
    for place in reversed(absent):
        del words[place : place + 2]
    return ["-o", f"addopts={shlex.join(words)}"] if absent else []


def _is_module(plugin: str) -> bool:
    """Whether a plug-in can be imported (from anywhere) or need not be loaded (`no:x`)."""
    top = plugin.partition(".")[0]
    return ":" in plugin or bool(find_spec(f"_pytest.{top}") or find_spec(top))


class AbsentPlugins:
    """Plug-in that removes options of missing plug-ins, and options that reject their marks."""

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(
        self, early_config: Any, parser: Any, args: list[str]
    ) -> Iterator[None]:
        yield  # until the options of the project's own conftest files are known
        options = copy.copy(early_config.option)
        _, unknown = parser.parse_known_and_unknown_args(args, namespace=options)
        for word in [*unknown, *_STRICT_OPTIONS]:
            if word in args:
                _remove_option(args, word)


def _remove_option(arguments: list[str], word: str) -> None:
    """Remove an option, and the next argument if it can only be its value."""
    place = arguments.index(word)
    del arguments[place]
    following = arguments[place] if place < len(arguments) else "-"
    may_have_value = (
        word not in _STRICT_OPTIONS and "=" not in word and not following.startswith("-")
    )
    if may_have_value and not os.path.exists(following.partition("::")[0]):
        del arguments[place]
