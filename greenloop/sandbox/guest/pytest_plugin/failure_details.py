"""Description of failures of untrusted code by truncated text, frames and compared values.

Methods of the error may do anything.
"""

import errno
import linecache
import os
import sys
import traceback
import types
import unittest
from typing import Any, TypeVar

T = TypeVar("T")
MAX_TEXT = 300
_MAX_MESSAGE, _MAX_OUTPUT = 4000, 2000
_FIRST_FRAMES, _LAST_FRAMES = 3, 12
_MAX_GROUP_ITEMS, _MAX_DEPTH = 5, 3
_TEST_TOOLS = ("_pytest", "pluggy", "unittest")
_ASYNC_UNSUPPORTED = "async def functions are not natively supported"
NO_SOCKETS = "the sandbox refuses Unix sockets, which it cannot tell from those of the machine"
ASYNC_ADVICE = (
    "async def test without a plugin that runs it: it was not run. "
    "Write a plain test that calls asyncio.run(...), or install such a plugin (pytest-asyncio)"
)


def describe_failure(error: BaseException, output: str, work: str) -> dict[str, Any]:
    """Return exception, message, frames (of the run's own files), output and assertion."""
    details = _describe_doctest_failure(error, work) or {
        "exception": _escape(type(error).__name__)[:MAX_TEXT],
        "message": _format_message(error)[:_MAX_MESSAGE],
        "frames": _collect_frames(error, work),
        "assertion": None,
    }
    return {**details, "output": _escape(output)[-_MAX_OUTPUT:]}


def format_failure(error: BaseException, work: str) -> str:
    """Return a failure as text in the form of `--tb=short`, with frames of the run's own files.

    The exception that led to it comes first.
    """
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    chain = [error] if cause is None else [cause, error]
    return "\n\nwhich led to\n\n".join(_format_one(item, work) for item in chain)


def _format_one(error: BaseException, work: str) -> str:
    details = describe_failure(error, "", work)
    lines = [
        f"{at['file']}:{at['line']}: in {at['function']}\n    {at['text']}"
        for at in details["frames"]
    ]
    name, text = details["exception"], details["message"]
    text = text if text.startswith("assert ") else f"{name}: {text}".removesuffix(": ")
    return "\n".join([*lines, *(f"E   {line}" for line in text.split("\n"))])


def _format_message(error: BaseException, depth: int = 0) -> str:
    try:
        if type(error).__name__ == "FixtureLookupError":  # its own text is for a terminal
            return f"fixture {error.argname!r} not found"  # type: ignore[attr-defined]
        text = _escape(str(error))
        if text.startswith(_ASYNC_UNSUPPORTED):
            return ASYNC_ADVICE
        if is_refused_socket(error):
            text += f": {NO_SOCKETS}"
        return "\n".join([text, *_format_notes(error), *_format_group_members(error, depth)])
    except BaseException as second:  # `__str__` of the code under test may raise
        return f"<its text raises: {type(second).__name__}>"


def is_refused_socket(error: BaseException) -> bool:
    """Return whether an error is that of a socket refused by the sandbox."""
    return isinstance(error, OSError) and error.errno == errno.EAFNOSUPPORT


def find_skipping_file(error: BaseException, work: str) -> str:
    """Return the file whose line calls skip or xfail; '' for a mark or a check turned into a skip.

    The path of a file of the run is relative to its folder, other paths are absolute.
    """
    if isinstance(error.__context__, unittest.SkipTest):  # which the test case has replaced
        error = error.__context__
    calls = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__")).partition(".")[0] not in _TEST_TOOLS
        and os.path.isabs(frame.f_code.co_filename)  # not code run by `exec`
    ]
    path, line = calls[-1] if calls else ("", 0)
    text = linecache.getline(path, line or 0).lower()
    return path.removeprefix(work) if "skip" in text or "xfail" in text else ""


def _format_notes(error: BaseException) -> list[str]:
    """Return an error's notes, such as the falsifying example of hypothesis."""
    notes = getattr(error, "__notes__", None)
    return (
        [_escape(str(item)) for item in notes[:_MAX_GROUP_ITEMS]] if isinstance(notes, list) else []
    )


def _format_group_members(error: BaseException, depth: int) -> list[str]:
    """Return the errors of an exception group, one or more lines each."""
    if "BaseExceptionGroup" not in {kind.__name__ for kind in type(error).__mro__}:
        return []
    if depth == _MAX_DEPTH:
        return ["…"]
    members = tuple(error.exceptions)[:_MAX_GROUP_ITEMS]  # type: ignore[attr-defined]
    shown = (f"- {type(item).__name__}: {_format_message(item, depth + 1)}" for item in members)
    return [item.replace("\n", "\n  ") for item in shown]


def _escape(value: str) -> str:
    """Return a plain `str` with lone surrogates escaped."""
    return str.encode(value, "utf-8", "backslashreplace").decode()


def _collect_frames(error: BaseException, work: str) -> list[dict[str, Any]]:
    """Return the frames of an error in the run's own files, outermost first."""
    steps = traceback.walk_tb(error.__traceback__)  # lines are read for the run's files only
    own = keep_ends([item for item in steps if item[0].f_code.co_filename.startswith(work)])
    found = [_describe_frame(frame, line, work) for frame, line in own]
    if isinstance(error, SyntaxError) and (error.filename or "").startswith(work):
        text = (error.text or "").strip()
        found.append(_build_frame(str(error.filename), error.lineno, "<module>", text, work))
    return found


def _describe_frame(frame: types.FrameType, line: int | None, work: str) -> dict[str, Any]:
    code = frame.f_code
    linecache.checkcache(code.co_filename)
    text = linecache.getline(code.co_filename, line or 0, frame.f_globals).strip()
    return _build_frame(code.co_filename, line, code.co_name, text, work)


def keep_ends(items: list[T]) -> list[T]:
    """Return the first and last items of a long list."""
    if len(items) <= _FIRST_FRAMES + _LAST_FRAMES:
        return items
    return items[:_FIRST_FRAMES] + items[-_LAST_FRAMES:]


def _build_frame(
    file: str, line: int | None, function: str, text: str | None, work: str
) -> dict[str, Any]:
    return {
        "file": os.path.relpath(file, work),
        "line": line or 0,
        "function": _escape(function)[:MAX_TEXT],
        "text": _escape(text or "")[:MAX_TEXT],
    }


def _describe_doctest_failure(error: BaseException, work: str) -> dict[str, Any] | None:
    """Describe the failure of a doctest; return None for other errors."""
    doctest = sys.modules.get("doctest")
    try:
        if doctest and type(error) is doctest.DocTestFailure:
            return _describe_doctest_mismatch(error, work)
        if doctest and type(error) is doctest.UnexpectedException:
            return _describe_doctest_exception(error, work)
    except Exception:
        return None
    return None


def _describe_doctest_mismatch(error: Any, work: str) -> dict[str, Any]:
    source, want, got = error.example.source.strip(), error.example.want, error.got
    both = f"Expected:\n{_indent(want)}\nGot:\n{_indent(got)}"
    return {
        "exception": "DocTestFailure",
        "message": _escape(f">>> {source}\n{both}")[:_MAX_MESSAGE],
        "frames": [_describe_example_frame(error, work)],
        "assertion": {
            "operator": "==",
            "left": _escape(got.strip())[:MAX_TEXT],
            "right": _escape(want.strip())[:MAX_TEXT],
        },
    }


def _describe_doctest_exception(error: Any, work: str) -> dict[str, Any]:
    inner = error.exc_info[1]
    source = _escape(error.example.source.strip())
    return {
        "exception": _escape(type(inner).__name__)[:MAX_TEXT],
        "message": f"{_format_message(inner)[:_MAX_MESSAGE]}\nin the doctest >>> {source}",
        "frames": [_describe_example_frame(error, work), *_collect_frames(inner, work)],
        "assertion": None,
    }


def _describe_example_frame(error: Any, work: str) -> dict[str, Any]:
    first = error.test.lineno
    line = 0 if first is None else first + error.example.lineno + 1
    return _build_frame(
        error.test.filename, line, error.test.name, error.example.source.strip(), work
    )


def _indent(text: str) -> str:
    return (
        "\n".join(f"    {line}" for line in text.strip("\n").split("\n")) if text else "    nothing"
    )
