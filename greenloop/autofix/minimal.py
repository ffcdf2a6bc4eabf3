"""Free fixes for a script that is a person's own: what it needs in order to run, and nothing else."""

from __future__ import annotations

from greenloop.autofix.indentation import fix_mixed_indentation
from greenloop.autofix.missing_imports import add_missing_imports
from greenloop.autofix.python2 import divided_lines, with_python3_syntax, without_python2_names
from greenloop.autofix.syntax_errors import fix_syntax_errors
from greenloop.syntax.parse import parse_or_none


def apply_minimal_fixes(code: str) -> tuple[str, list[str]]:
    """The source with only its syntax mended and undefined names seen to, and words for what was.

    Nothing is formatted, sorted or removed. Line ends and a byte order mark stay. A source whose
    syntax cannot be mended as a whole comes back as it was.
    """
    mark = "\ufeff" if code.startswith("\ufeff") else ""
    body = code.removeprefix(mark)
    windows = "\r\n" in body and body.count("\r\n") == body.count("\n")
    new, words = _fix_code(body.replace("\r\n", "\n") if windows else body)
    if not words:
        return code, []
    return mark + (new.replace("\n", "\r\n") if windows else new), words


def _fix_code(code: str) -> tuple[str, list[str]]:
    words: list[str] = []
    is_python2 = False
    if parse_or_none(code) is None:
        code, words, is_python2 = _fix_syntax(code)
        if parse_or_none(code) is None:
            return code, []
    code, names = without_python2_names(code, is_python2=is_python2)
    words += [f"Python 2: {item}" for item in names]
    code, added = add_missing_imports(code)
    words += [f"added: {line}" for line in added]
    divisions = divided_lines(code) if is_python2 else ""
    if divisions:
        words.append(
            f"Python 2: look at `/` in {divisions}: it cut whole numbers, and does not now"
        )
    return code, words


def _fix_syntax(code: str) -> tuple[str, list[str], bool]:
    """Mended step by step until it parses; each step may uncover the next one's matter."""
    code, slips = fix_syntax_errors(code)
    words = [f"syntax: {item}" for item in slips]
    is_python2 = False
    for _ in range(2):
        untabbed = fix_mixed_indentation(code, is_python2=is_python2)
        if untabbed != code:
            code, words = untabbed, [*words, "indentation: tabs and spaces mixed"]
        if parse_or_none(code) is not None:
            break
        code, old = with_python3_syntax(code)
        is_python2 = is_python2 or bool(old)
        words += [f"Python 2: {item}" for item in old]
        code, slips = fix_syntax_errors(code)
        words += [f"syntax: {item}" for item in slips]
    return code, list(dict.fromkeys(words)), is_python2
