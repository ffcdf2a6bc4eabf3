"""Errors of foreign code in plain values: text, places, the values of a comparison. All cut.

Whatever the error's own methods do, one of these comes out.
"""

from __future__ import annotations

import linecache
import os
import sys
import traceback
import types
from typing import Any, TypeVar

T = TypeVar("T")
TEXT = 300
_MESSAGE, _OUTPUT = 4000, 2000
_FIRST_FRAMES, _LAST_FRAMES = 3, 12
_IN_GROUP, _DEPTH = 5, 3
_NO_ASYNC = "async def functions are not natively supported"
ASYNC_ADVICE = (
    "async def test without a plugin that runs it: it was not run. "
    "Write a plain test that calls asyncio.run(...)"
)


def described(error: BaseException, output: str, work: str) -> dict[str, Any]:
    """Exception, message, frames (lines of the run's own files), output and assertion."""
    told = _doctest(error, work) or {
        "exception": _text(type(error).__name__)[:TEXT],
        "message": _message(error)[:_MESSAGE],
        "frames": _frames(error, work),
        "assertion": None,
    }
    return {**told, "output": _text(output)[-_OUTPUT:]}


def _message(error: BaseException, depth: int = 0) -> str:
    try:
        if type(error).__name__ == "FixtureLookupError":  # its text is for the terminal only
            return f"fixture {error.argname!r} not found"  # type: ignore[attr-defined]
        text = _text(str(error))
        if text.startswith(_NO_ASYNC):
            return ASYNC_ADVICE
        return "\n".join([text, *_notes(error), *_members(error, depth)])
    except BaseException as second:  # an error of the code under test may refuse to be shown
        return f"<its text cannot be made: {type(second).__name__}>"


def _notes(error: BaseException) -> list[str]:
    """Such as hypothesis' falsifying example."""
    notes = getattr(error, "__notes__", None)
    return [_text(str(item)) for item in notes[:_IN_GROUP]] if isinstance(notes, list) else []


def _members(error: BaseException, depth: int) -> list[str]:
    """The errors of a group, a line or more each."""
    if "BaseExceptionGroup" not in {kind.__name__ for kind in type(error).__mro__}:
        return []
    if depth == _DEPTH:
        return ["…"]
    members = tuple(error.exceptions)[:_IN_GROUP]  # type: ignore[attr-defined]
    shown = (f"- {type(item).__name__}: {_message(item, depth + 1)}" for item in members)
    return [item.replace("\n", "\n  ") for item in shown]


def _text(value: str) -> str:
    """A plain `str` that every reader takes: lone surrogates are written out."""
    return str.encode(value, "utf-8", "backslashreplace").decode()


def _frames(error: BaseException, work: str) -> list[dict[str, Any]]:
    """Lines of the run's own files that the error went through, outermost first."""
    steps = traceback.walk_tb(error.__traceback__)  # pytest's own lines need not be looked up
    own = ends([item for item in steps if item[0].f_code.co_filename.startswith(work)])
    found = [_reached(frame, line, work) for frame, line in own]
    if isinstance(error, SyntaxError) and (error.filename or "").startswith(work):
        text = (error.text or "").strip()
        found.append(_frame(str(error.filename), error.lineno, "<module>", text, work))
    return found


def _reached(frame: types.FrameType, line: int | None, work: str) -> dict[str, Any]:
    code = frame.f_code
    linecache.checkcache(code.co_filename)
    text = linecache.getline(code.co_filename, line or 0, frame.f_globals).strip()
    return _frame(code.co_filename, line, code.co_name, text, work)


def ends(items: list[T]) -> list[T]:
    """Of a long way its two ends."""
    if len(items) <= _FIRST_FRAMES + _LAST_FRAMES:
        return items
    return items[:_FIRST_FRAMES] + items[-_LAST_FRAMES:]


def _frame(
    file: str, line: int | None, function: str, text: str | None, work: str
) -> dict[str, Any]:
    return {
        "file": os.path.relpath(file, work),
        "line": line or 0,
        "function": _text(function)[:TEXT],
        "text": _text(text or "")[:TEXT],
    }


def _doctest(error: BaseException, work: str) -> dict[str, Any] | None:
    """A doctest's failure: its line, what was expected and what came. None where it is none."""
    doctest = sys.modules.get("doctest")
    try:
        if doctest and type(error) is doctest.DocTestFailure:
            return _differs(error, work)
        if doctest and type(error) is doctest.UnexpectedException:
            return _raises(error, work)
    except Exception:
        return None
    return None


def _differs(error: Any, work: str) -> dict[str, Any]:
    source, want, got = error.example.source.strip(), error.example.want, error.got
    both = f"Expected:\n{_indented(want)}\nGot:\n{_indented(got)}"
    return {
        "exception": "DocTestFailure",
        "message": _text(f">>> {source}\n{both}")[:_MESSAGE],
        "frames": [_example(error, work)],
        "assertion": {
            "operator": "==",
            "left": _text(got.strip())[:TEXT],
            "right": _text(want.strip())[:TEXT],
        },
    }


def _raises(error: Any, work: str) -> dict[str, Any]:
    inner = error.exc_info[1]
    source = _text(error.example.source.strip())
    return {
        "exception": _text(type(inner).__name__)[:TEXT],
        "message": f"{_message(inner)[:_MESSAGE]}\nin the doctest >>> {source}",
        "frames": [_example(error, work), *_frames(inner, work)],
        "assertion": None,
    }


def _example(error: Any, work: str) -> dict[str, Any]:
    first = error.test.lineno
    line = 0 if first is None else first + error.example.lineno + 1
    return _frame(error.test.filename, line, error.test.name, error.example.source.strip(), work)


def _indented(text: str) -> str:
    return (
        "\n".join(f"    {line}" for line in text.strip("\n").split("\n")) if text else "    nothing"
    )
