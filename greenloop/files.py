"""Reading of user files up to a size, checks of their texts, and errors of failed writes."""

import platform
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from greenloop.encodings import decode_source
from greenloop.errors import InputError, OutputError, SpecificationError

MAX_TEXT_BYTES = 1_000_000
_TEXT_SUFFIXES = (".md", ".txt", ".py", ".rst", ".markdown", ".pyi")


def path_exists(path: Path) -> bool:
    """Return whether a file or folder exists; False for a text that cannot be a path."""
    try:
        return path.exists()
    except (OSError, ValueError):  # too long, or contains a NUL
        return False


def is_path_like(text: str) -> bool:
    """Return whether a text is meant as the path of a text file, whether or not it exists."""
    is_word = not any(char.isspace() for char in text)
    has_slash = bool(re.fullmatch(r"[\w.~-]*(/[\w.~-]*)+", text))
    return is_word and (text.lower().endswith(_TEXT_SUFFIXES) or has_slash)


def is_bare_word(text: str) -> bool:
    """Return whether a text is one word, which says nothing that can be tested.

    Scripts from Thai (U+0E00) on are exempt: they write sentences without spaces.
    """
    is_word = bool(re.fullmatch(r"[\w.,:;!?'\"~@-]+", text))
    return is_word and text != "-" and max(text) < "\u0e00"


def read_bounded(path: Path, max_bytes: int = MAX_TEXT_BYTES, name: str = "") -> bytes:
    """Return a file's content; `name` is its name in messages.

    Raises InputError: it cannot be read, or is too large.
    """
    try:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{name or path} cannot be read: {why}") from None
    if len(data) > max_bytes:
        raise InputError(f"{name or path} is larger than {max_bytes // 1_000_000} MB")
    return data


def decode_text(data: bytes, name: str) -> str:
    """Return bytes as text, in UTF-8 or the declared encoding (PEP 263). Raises InputError."""
    try:
        text = decode_source(data)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not UTF-8 text (byte {error.start}); save it as UTF-8"
        ) from None
    if "\0" in text:
        raise InputError(f"{name} is binary, not text")
    return text


def read_text(path: Path, name: str = "") -> str:
    """Return a file's text. Raises InputError as `read_bounded` and `decode_text` do."""
    return decode_text(read_bounded(path, name=name), name or str(path))


def validate_text(text: str) -> str:
    """Return a specification that is neither a path nor one word. Raises SpecificationError."""
    if len(text) > MAX_TEXT_BYTES:
        raise SpecificationError("the specification is longer than 1 MB")
    word = text.strip()
    if is_bare_word(word) or is_path_like(word):
        raise SpecificationError(f"'{word}' is a word or a path: say what the code should do")
    return require_text(text)


def require_text(text: str, where: object = "the text") -> str:
    """Return a specification. Raises SpecificationError: it is empty, or cannot be encoded."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise SpecificationError(f"the specification is not UTF-8 text: {error.reason}") from None
    if not text.strip():
        raise SpecificationError(f"{where} is empty: say what you want")
    return text


def read_or_empty(path: Path) -> str:
    """Return a file's text, with invalid UTF-8 replaced; '' if it cannot be read."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def check_python(code: str, subject: str, flags: int = 0) -> None:
    """Raise InputError if a text does not compile; `subject` (`FILE is`) begins the message."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(code, "tests", "exec", flags, dont_inherit=True)
    except SyntaxError as error:
        line = f"line {error.lineno}: " if error.lineno else ""
        version = ".".join(platform.python_version_tuple()[:2])
        own = f"greenloop runs with Python {version}: newer syntax needs it installed with a newer one"
        raise InputError(f"{subject} not Python: {line}{error.msg} ({own})") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{subject} not Python: {error or 'nested too deeply'}") from None


@contextmanager
def writing(place: object) -> Iterator[None]:
    """Raise OutputError for an OSError of the block."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{place} cannot be written: {error.strerror or error}") from None
