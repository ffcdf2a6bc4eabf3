"""Strict rendering: exactly the names that a file uses, and nothing undefined in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from jinja2 import DictLoader, Environment, StrictUndefined, UndefinedError

from greenloop.prompts import Message, render, rendering

Template = Callable[..., None]


@pytest.fixture
def templates(monkeypatch: pytest.MonkeyPatch) -> Iterator[Template]:
    """Puts templates in the place of the real ones, in the real environment otherwise."""
    make: Callable[[], Environment] = rendering._build_environment.__wrapped__
    rendering._find_used_names.cache_clear()

    def use(**sources: str) -> None:
        def environment() -> Environment:
            made = make()
            made.loader = DictLoader({f"{name}.md": text for name, text in sources.items()})
            return made

        monkeypatch.setattr(rendering, "_build_environment", environment)

    yield use
    rendering._find_used_names.cache_clear()


def test_the_two_parts_become_two_messages(templates: Template) -> None:
    templates(make="You make {{ what }}.\n\n=== user ===\n\nMake {{ what }}.\n")
    prompt = render("make", what="code")
    assert prompt.tool == "make"
    assert prompt.messages == (Message("system", "You make code."), Message("user", "Make code."))


def test_a_tool_may_use_another_tools_file(templates: Template) -> None:
    templates(other="A\n=== user ===\nB\n")
    assert render("make", "other").tool == "make"


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({}, r"\['a', 'b'\]"),
        ({"a": 1}, r"\['b'\]"),
        ({"a": 1, "b": 2, "c": 3}, r"\['c'\]"),
        ({"a": 1, "c": 3}, r"\['b', 'c'\]"),
    ],
)
def test_names_missing_or_unknown_are_an_error(
    values: dict[str, Any], named: str, templates: Template
) -> None:
    templates(
        make="{{ a }}{% include 'part.md' %}\n=== user ===\n{% for x in [1] %}{{ x }}{% endfor %}",
        part="{% if false %}{{ b }}{% endif %}",
    )
    with pytest.raises(LookupError, match=rf"make\.md: .*{named}"):
        render("make", **values)


def test_an_attribute_that_is_not_there_is_an_error(templates: Template) -> None:
    templates(make="{{ a.missing }}\n=== user ===\n")
    with pytest.raises(UndefinedError, match="missing"):
        render("make", a={})
    assert rendering._build_environment().undefined is StrictUndefined


def test_values_are_neither_escaped_nor_rendered_nor_split(templates: Template) -> None:
    templates(make="Rules.\n=== user ===\n{{ a }}")
    text = "<b> & {{ a }} {% if %}\n=== user ===\nend"
    assert render("make", a=text).messages == (Message("system", "Rules."), Message("user", text))


@pytest.mark.parametrize("tool", ["generate_code", "repair_code", "parse_specification"])
def test_the_real_files_take_no_more_and_no_less_than_their_names(tool: str) -> None:
    with pytest.raises(LookupError, match=f"{tool}.md"):
        render(tool)
