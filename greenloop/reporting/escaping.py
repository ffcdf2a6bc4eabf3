"""Text that a model or a test wrote, made safe to be shown: what cannot be seen is spelt out.

Control characters steer terminals and are no XML; bidirectional overrides make code look like other
code; lone surrogates are no text at all.
"""

from __future__ import annotations

import re
import unicodedata

_DOUBTFUL = re.compile(r"[^\n\t\x20-\x7e]")
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def visible(text: str) -> str:
    """The same text, but for line ends and tabs without any character that is not seen.

    `\\x1b` becomes `␛`, U+202E becomes `⟨U+202E⟩`. What comes back is valid in XML and JSON.
    """
    return _DOUBTFUL.sub(_spelt, text.replace("\r\n", "\n"))


def line_of(text: str, most: int = 200) -> str:
    """The first line that says something, cut."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    return clipped(visible(first).strip(), most)


def clipped(line: str, most: int) -> str:
    """At most so many characters of a line, and how many there are besides."""
    return line if len(line) <= most else f"{line[:most]} … ({len(line) - most} more characters)"


def _spelt(found: re.Match[str]) -> str:
    char = found.group()
    if unicodedata.category(char) not in _HIDDEN:
        return char
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


def one_line(text: str) -> str:
    """Without control characters: what a model or a test wrote must not steer the terminal."""
    return "".join(char if char.isprintable() else " " for char in text)
