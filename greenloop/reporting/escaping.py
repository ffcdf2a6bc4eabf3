"""Escaping of untrusted text from models and tests before it is displayed.

Control characters control terminals and are invalid in XML; bidirectional overrides make code look
like different code; lone surrogates cannot be encoded; CI services execute commands in a log, such
as `::error::` at the beginning of a line. JSON is escaped by the records themselves.
"""

import re

from greenloop.characters import COMMAND_MARK, NOT_PRINTABLE_ASCII, is_invisible

_LINE_COMMAND = re.compile(r"^([^\S\n]*)::", re.M)


def escape_invisible(text: str) -> str:
    """Return the text with each invisible character, except tab and line feed, made visible.

    `\\x1b` becomes `␛`, U+202E becomes `⟨U+202E⟩`, a CI command `⟨::⟩error::`. The result is valid
    in XML and JSON.
    """
    return escape_commands(NOT_PRINTABLE_ASCII.sub(_escape_character, text.replace("\r\n", "\n")))


def escape_commands(text: str) -> str:
    """Return the text, changed so that a CI service finds no command in it."""
    if "::" not in text and "##" not in text:
        return text
    return COMMAND_MARK.sub("⟨##⟩", _LINE_COMMAND.sub(r"\1⟨::⟩", text))


def first_line(text: str, max_length: int = 200) -> str:
    """Return the first line that is not blank, escaped and truncated."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    return truncate(escape_invisible(first).strip(), max_length)


def flatten(text: str, max_length: int, *, keeps_blanks: bool = False) -> str:
    """Return the text in one line, escaped and truncated; `keeps_blanks` keeps runs of blanks."""
    escaped = escape_invisible(text)
    parts = escaped.splitlines() if keeps_blanks else escaped.split()
    return truncate(" ".join(parts), max_length)


def truncate(line: str, max_length: int) -> str:
    """Return at most `max_length` characters, followed by the number of those that were cut."""
    more = len(line) - max_length
    return line if more <= 0 else f"{line[:max_length]} … ({more} more characters)"


def truncate_words(line: str, max_length: int) -> str:
    """Return at most `max_length` characters, cut between words if possible."""
    if len(line) <= max_length:
        return line
    cut = line[: max(max_length - 2, 1)]
    at = max(cut.rfind(" "), cut.rfind(","), cut.rfind("("))
    return f"{cut[: at + 1].rstrip() if at > max_length // 3 else cut} …"


def _escape_character(match: re.Match[str]) -> str:
    char = match.group()
    if not is_invisible(char):
        return char
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


def sanitize_line(text: str) -> str:
    """Return the text in one line, with a space for each character that is not printable."""
    return escape_commands("".join(char if char.isprintable() else " " for char in text))
