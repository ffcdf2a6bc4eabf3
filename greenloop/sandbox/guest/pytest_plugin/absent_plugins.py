"""What a project's own environment would have, where greenloop's Python runs its tests."""

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

# Settings by which pytest would exit when something is not installed, which is reported otherwise.
_OVERRIDES = ("required_plugins=", "minversion=", "strict_config=false", "strict_markers=false")
# What pytest need not say in an environment of the project, where its settings make warnings errors.
_WARNINGS = (
    "PytestAssertRewriteWarning PytestConfigWarning PytestDeprecationWarning "
    "PytestUnknownMarkWarning"
).split()
_STRICT_OPTIONS = ("--strict-config", "--strict-markers", "--strict")


def build_arguments(root: str, packages: str, ini: str) -> list[str]:
    """Return pytest's arguments: the plug-ins of installed packages, and no settings from elsewhere.

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
    """Return an option that sets `addopts` without plug-ins that they load by `-p` and that are not there."""
    given = getattr(added, "value", added)  # since pytest 9
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
    """Whether a plug-in is a module: of pytest, of a package, or of the project; `no:x` is none to load."""
    top = plugin.partition(".")[0]
    return ":" in plugin or bool(find_spec(f"_pytest.{top}") or find_spec(top))


class AbsentPlugins:
    """Leaves out the options of plug-ins that are not there, and those that refuse their marks."""

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
    """Remove an option, and what can only be its value."""
    place = arguments.index(word)
    del arguments[place]
    following = arguments[place] if place < len(arguments) else "-"
    may_have_value = (
        word not in _STRICT_OPTIONS and "=" not in word and not following.startswith("-")
    )
    if may_have_value and not os.path.exists(following.partition("::")[0]):
        del arguments[place]
