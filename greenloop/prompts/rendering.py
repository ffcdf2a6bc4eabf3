"""Prompt files to prompts. A name that a file uses and nobody gives is an error, and vice versa."""

from __future__ import annotations

import shlex
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, meta

from greenloop.packages.names import with_import
from greenloop.prompts.prompt import Message, Prompt

_USER = "=== user ===\n"


def render(tool: str, template: str | None = None, /, **values: Any) -> Prompt:
    """The prompt of one tool, from `templates/<template or tool>.md`.

    Raises:
        LookupError: `values` are not exactly the names that the file uses.
    """
    environment = _environment()
    name = f"{template or tool}.md"
    _check_names(environment, name, values)
    text = environment.get_template(name).render(values)
    system, _, user = text.partition(_USER)
    return Prompt(tool, (Message("system", system.strip()), Message("user", user.strip())))


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("greenloop.prompts", "templates"),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["with_import"] = with_import
    environment.filters["shown_argument"] = shlex.quote
    return environment


def _check_names(environment: Environment, name: str, values: dict[str, Any]) -> None:
    used = _used_names(environment, name)
    if wrong := used ^ set(values):
        raise LookupError(f"prompt {name}: names used and given differ: {sorted(wrong)}")


def _used_names(environment: Environment, name: str) -> set[str]:
    """Names that a file uses, those of the files it includes too."""
    source = environment.loader.get_source(environment, name)[0] if environment.loader else ""
    tree = environment.parse(source)
    used = meta.find_undeclared_variables(tree)
    for other in meta.find_referenced_templates(tree):
        if other is not None:
            used |= _used_names(environment, other)
    return used
