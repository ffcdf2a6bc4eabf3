"""Prompt files to prompts. A name that a file uses and nobody gives is an error, and vice versa."""

from __future__ import annotations

import shlex
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, meta

from greenloop.dependencies.names import format_with_import
from greenloop.prompts.prompt import Message, Prompt

_USER_SEPARATOR = "=== user ===\n"


def render(tool: str, template: str | None = None, /, **values: Any) -> Prompt:
    """The prompt of one tool, from `templates/<template or tool>.md`.

    Raises:
        LookupError: `values` are not exactly the names that the file uses.
    """
    environment = _build_environment()
    name = f"{template or tool}.md"
    _check_names(name, values)
    text = environment.get_template(name).render(values)
    system, _, user = text.partition(_USER_SEPARATOR)
    return Prompt(tool, (Message("system", system.strip()), Message("user", user.strip())))


@lru_cache(maxsize=1)  # a batch renders thousands of prompts from a handful of files
def _build_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("greenloop.prompts", "templates"),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["with_import"] = format_with_import
    environment.filters["shown_argument"] = shlex.quote
    return environment


def _check_names(name: str, values: dict[str, Any]) -> None:
    if wrong := _find_used_names(name) ^ set(values):
        raise LookupError(f"prompt {name}: names used and given differ: {sorted(wrong)}")


@lru_cache(maxsize=64)
def _find_used_names(name: str) -> frozenset[str]:
    """Names that a file uses, those of the files it includes too."""
    environment = _build_environment()
    source = environment.loader.get_source(environment, name)[0] if environment.loader else ""
    tree = environment.parse(source)
    used = frozenset(meta.find_undeclared_variables(tree))
    others = (_find_used_names(other) for other in meta.find_referenced_templates(tree) if other)
    return used.union(*others)
