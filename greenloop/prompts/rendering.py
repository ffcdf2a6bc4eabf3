"""Prompts of model calls, rendered from the shipped templates or a user's replacements."""

import hashlib
import json
import platform
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from jinja2 import (
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    PackageLoader,
    StrictUndefined,
    TemplateError,
    TemplateNotFound,
    meta,
)

from greenloop.dependencies.names import format_with_import
from greenloop.errors import SettingsError

Role = Literal["system", "user", "assistant"]
_MAX_REJECTED_CHARS = 4000


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """The messages for one call of one tool."""

    tool: str
    messages: tuple[Message, ...]
    temperature: float | None = None  # None: the server's default
    enough: int | None = None  # characters after which an answer is cut off and complete

    @property
    def sha256(self) -> str:
        """Digest of tool and messages, the key of the logged answer in a resumed run."""
        content = [self.tool, *([item.role, item.text] for item in self.messages)]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    @property
    def characters(self) -> int:
        """Length of all messages."""
        return sum(len(item.text) for item in self.messages)

    def with_feedback(self, response: str, error: str) -> "Prompt":
        """Return the prompt that repeats the call and says what was wrong with the answer."""
        shown = response[:_MAX_REJECTED_CHARS] or "(empty)"
        again = (Message("assistant", shown), Message("user", error))
        return replace(self, messages=self.messages + again)


_USER_SEPARATOR = "=== user ===\n"


@dataclass(frozen=True)
class PromptTemplates:
    """The prompt templates; a template in `folder` replaces the shipped one of the same name."""

    folder: Path | None = None

    @classmethod
    def open(cls, folder: str | None) -> "PromptTemplates":
        """Return the templates, replaced by the checked ones of a user's folder.

        Raises SettingsError: the folder holds no templates, one with an unknown name, a syntax
        error or a variable that the shipped template does not have.
        """
        if folder is None:
            return cls()
        path = Path(folder)
        try:
            problem = next(_find_problems(path), None)
        except (TemplateError, OSError, ValueError) as error:
            problem = _describe_error(error)
        if problem is not None:
            raise SettingsError(f"--prompts {folder}: {problem}")
        return cls(path)

    def render(self, tool: str, template: str | None = None, /, **values: Any) -> Prompt:
        """Return the prompt of one tool, from the template `<template or tool>.md`.

        `python_version` defaults to that of the running Python, such as `3.12`.

        Raises:
            LookupError: `values` are not exactly the variables of the shipped template.
            SettingsError: a template of the user's folder cannot be rendered.
        """
        name = f"{template or tool}.md"
        variables = _find_variables(name)
        if "python_version" in variables:
            values.setdefault("python_version", ".".join(platform.python_version_tuple()[:2]))
        if wrong := variables ^ set(values):
            raise LookupError(f"prompt {name}: variables used and given differ: {sorted(wrong)}")
        try:
            text = _build_environment(self.folder).get_template(name).render(values)
        except TemplateError as error:
            if self.folder is None:
                raise
            raise SettingsError(
                f"--prompts {self.folder}: {name}: {_describe_error(error)}"
            ) from None
        system, _, user = text.partition(_USER_SEPARATOR)
        user_message = Message("user", user.strip())
        if not system.strip():  # small models do best with their built-in system message
            return Prompt(tool, (user_message,))
        return Prompt(tool, (Message("system", system.strip()), user_message))


def _find_problems(folder: Path) -> Iterator[str]:
    """Yield each problem of a folder of templates."""
    shipped, own = _build_environment(None), _build_environment(folder)
    names = [path.name for path in sorted(folder.glob("*.md"))]
    known = set(shipped.list_templates())
    if not names:
        yield "the folder is missing or holds no template (*.md)"
    included = {item for name in names for item in _collect_templates(own, name) if item != name}
    for name in names:
        if name not in known | included:
            yield f"{name} is not a template; the templates are {', '.join(sorted(known))}"
    for name in sorted(item for item in known if not item.startswith("_")):
        variables = _find_variables(name)
        if unknown := _collect_variables(own, name) - variables:
            yield (
                f"{name}: unknown variable {', '.join(sorted(unknown))}; "
                f"the variables are {', '.join(sorted(variables))}"
            )
        if name in names and _USER_SEPARATOR not in _read_source(own, name):
            yield f"{name} needs a line {_USER_SEPARATOR.strip()!r} before the user message"


def _describe_error(error: Exception) -> str:
    if isinstance(error, TemplateNotFound):
        return f"includes {error.name}, which is not a template"
    where = getattr(error, "name", None), getattr(error, "lineno", None)
    place = f"{where[0]}:{where[1]}: " if where[0] and where[1] else ""
    return f"{place}{error}".partition("\n")[0]


@lru_cache(maxsize=4)  # a batch renders thousands of prompts from a few templates
def _build_environment(folder: Path | None) -> Environment:
    shipped = PackageLoader("greenloop.prompts", "templates")
    environment = Environment(
        loader=shipped if folder is None else ChoiceLoader([FileSystemLoader(folder), shipped]),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["with_import"] = format_with_import
    environment.filters["shown_argument"] = shlex.quote
    return environment


@lru_cache(maxsize=64)
def _find_variables(name: str) -> frozenset[str]:
    """Return the variables of a shipped template and of those that it includes."""
    return frozenset(_collect_variables(_build_environment(None), name))


def _collect_variables(environment: Environment, name: str) -> set[str]:
    sources = (_read_source(environment, item) for item in _collect_templates(environment, name))
    return {
        variable
        for source in sources
        for variable in meta.find_undeclared_variables(environment.parse(source))
    }


def _collect_templates(environment: Environment, name: str) -> set[str]:
    """Return a template's name and those of all templates that it includes."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            tree = environment.parse(_read_source(environment, current), current)
            waiting += [item for item in meta.find_referenced_templates(tree) if item]
    return found


def _read_source(environment: Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]
