"""Text that a model or a test wrote, made safe to be shown: what cannot be seen is spelt out.

Control characters steer terminals and are no XML; bidirectional overrides make code look like other
code; lone surrogates are no text at all.
"""

from __future__ import annotations

import re
import unicodedata

_NOT_PRINTABLE_ASCII = re.compile(r"[^\n\t\x20-\x7e]")
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def escape_invisible(text: str) -> str:
    """The same text, but for line ends and tabs without any character that is not seen.

    `\\x1b` becomes `␛`, U+202E becomes `⟨U+202E⟩`. What comes back is valid in XML and JSON.
    """
    return _NOT_PRINTABLE_ASCII.sub(_escape_character, text.replace("\r\n", "\n"))


def first_line(text: str, max_length: int = 200) -> str:
    """The first line that says something, cut."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    return truncate(escape_invisible(first).strip(), max_length)


def truncate(line: str, max_length: int) -> str:
    """At most so many characters of a line, and how many there are besides."""
    return (
        line
        if len(line) <= max_length
        else f"{line[:max_length]} … ({len(line) - max_length} more characters)"
    )


def _escape_character(match: re.Match[str]) -> str:
    char = match.group()
    if unicodedata.category(char) not in _INVISIBLE_CATEGORIES:
        return char
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


def sanitize_line(text: str) -> str:
    """Without control characters: what a model or a test wrote must not steer the terminal."""
    return "".join(char if char.isprintable() else " " for char in text)
