"""Jinja environment of the pages, which escapes every value, so that no template has to."""

import re
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from greenloop.reporting.escaping import escape_invisible

_BREAK = re.compile(r"([_./\[(,])")  # preferred places for line breaks in a name are after these
_CODE = re.compile(r"`([^`]+)`")


def render(template: str, **values: Any) -> str:
    """Render a file of `templates/`.

    Raises:
        jinja2.UndefinedError: the template uses a name that is not given.
    """
    return _create_environment().get_template(template).render(values)


@lru_cache(maxsize=1)  # compiling takes longer than rendering
def _create_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("greenloop.reporting.html", "templates"),
        undefined=StrictUndefined,
        autoescape=True,
        finalize=lambda value: value if isinstance(value, Markup) else escape_invisible(str(value)),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = {"seconds": format_seconds, "number": format_number, "percent": format_percent}
    environment.filters.update(filters, marked=mark_code, breakable=allow_breaks)
    return environment


def mark_code(text: str) -> Markup:
    """Return a text as HTML, with the parts between backticks as `<code>`."""
    shown = str(escape(escape_invisible(text)))
    return Markup(_CODE.sub(r"<code>\1</code>", shown))


def allow_breaks(name: str) -> Markup:
    """Return a name as HTML, with possible line breaks between its parts."""
    return Markup(_BREAK.sub(r"\1<wbr>", str(escape(escape_invisible(name)))))


def format_seconds(value: float) -> str:
    """Return `12 ms`, `3.4 s`, `2 min 5 s`."""
    if value < 1:
        return f"{value * 1000:.0f} ms"
    if value < 59.95:
        return f"{value:.1f} s"
    minutes, seconds = divmod(round(value), 60)
    return f"{minutes} min {seconds} s"


def format_number(value: int) -> str:
    """Return a number with narrow spaces between thousands, as in `12 345`."""
    return f"{value:,}".replace(",", "\u202f")


def format_percent(value: float) -> str:
    """Return a share as a CSS percentage."""
    return f"{min(max(value, 0), 1) * 100:.1f}%"
