"""A script's source file: read as text, written back with its encoding, line ends and mode."""

import contextlib
import difflib
import io
import os
import re
import stat
import tempfile
import tokenize
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from greenloop.errors import InputError, OutputError

MAX_BYTES = 4_000_000
_LINE_ENDING = re.compile(r"\r\n|\r|\n")
_ENCODING_COOKIE = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*[-\w.]+")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A script as text (line ends `\\n`, no byte order mark), with the format of its file."""

    path: Path
    text: str
    encoding: str = "utf-8"
    has_bom: bool = False
    line_endings: tuple[str, ...] = ()  # in the order of the lines
    mode: int = 0o644  # the permission bits

    @classmethod
    def from_path(cls, path: Path) -> "SourceFile":
        """Read a script.

        Raises InputError: no such file, a folder, unreadable, binary, or in an unknown encoding.
        """
        content, mode = _read_content(path)
        encoding = _detect_encoding(path, content)
        try:
            whole = content.removeprefix(_BOM).decode(encoding)
        except (UnicodeDecodeError, LookupError) as error:
            raise InputError(
                f"{path}: {_describe_decode_error(content, encoding, error)}"
            ) from None
        return cls(
            path=path,
            text=_LINE_ENDING.sub("\n", whole),
            encoding=encoding,
            has_bom=content.startswith(_BOM),
            line_endings=tuple(_LINE_ENDING.findall(whole)),
            mode=mode,
        )

    @property
    def main_line_ending(self) -> str:
        """The line ending that is used most often."""
        most = Counter(self.line_endings).most_common(1)
        return most[0][0] if most else "\n"

    def restore_header(self, text: str) -> str:
        """Return a new text with the shebang, encoding line and final newline of this file."""
        new = _LINE_ENDING.sub("\n", text).removeprefix("\ufeff")
        own, its = _find_header_lines(self.text), _find_header_lines(new)
        if list(own.values()) != list(its.values()):
            rest = [line for n, line in enumerate(new.split("\n")) if n not in its]
            new = "\n".join([*own.values(), *rest])
        if not self.text:
            return new
        if not self.text.endswith("\n"):
            return new.rstrip("\n")
        return new if new.endswith("\n") else f"{new}\n"

    def encode(self, text: str) -> bytes:
        """Return a new text as bytes; unchanged lines keep their line endings.

        Raises OutputError: the file's encoding cannot hold the text.
        """
        new = self._restore_line_endings(self.restore_header(text))
        try:
            return (_BOM if self.has_bom else b"") + new.encode(self.encoding)
        except UnicodeEncodeError as error:
            sign = error.object[error.start : error.start + 1]
            line = new.count("\n", 0, error.start) + 1
            raise OutputError(
                f"{self.path}: its encoding, {self.encoding}, has no {sign!r} (line {line})"
            ) from None

    def write(self, path: Path, text: str) -> None:
        """Write atomically, through a symbolic link to the real file; the mode is kept.

        Raises OutputError: it cannot be written; the old file is unchanged then.
        """
        content = self.encode(text)
        try:
            replace_atomically(Path(os.path.realpath(path)), content, self.mode)
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from None

    def _restore_line_endings(self, text: str) -> str:
        if len(set(self.line_endings)) < 2:
            return text.replace("\n", self.main_line_ending)
        old, new = self.text.split("\n"), text.split("\n")
        ends = [self.main_line_ending] * (len(new) - 1) + [""]
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        for start, at, size in matcher.get_matching_blocks():
            for n in range(size):
                if start + n < len(self.line_endings) and at + n < len(new) - 1:
                    ends[at + n] = self.line_endings[start + n]
        return "".join(line + end for line, end in zip(new, ends, strict=True))


def _find_header_lines(text: str) -> dict[int, str]:
    """Return the shebang and the encoding line of a source, by line index (0 or 1)."""
    first = text.split("\n", 2)[:2]
    head = {0: first[0]} if first[0].startswith("#!") else {}
    for n, line in enumerate(first):
        if _ENCODING_COOKIE.match(line):
            head[n] = line
            break
        if line.strip() and not line.lstrip().startswith("#"):
            break
    return head


def replace_atomically(target: Path, content: bytes, mode: int) -> None:
    """Replace a file in one step, or create it with `mode`.

    The mode of an existing file is kept, and its owner if that is permitted. Raises OSError.
    """
    old = target.stat() if target.exists() else None
    if old is not None and not os.access(target, os.W_OK):
        raise PermissionError(0, "it is write-protected")
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:80]}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if old is not None and (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
            with contextlib.suppress(PermissionError):
                os.chown(temporary, old.st_uid, old.st_gid)
        os.chmod(temporary, stat.S_IMODE(old.st_mode) if old is not None else mode)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _read_content(path: Path) -> tuple[bytes, int]:
    """Return the bytes and the permission bits of a regular file."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            what = "a folder" if stat.S_ISDIR(status.st_mode) else "no regular file"
            raise InputError(f"{path} is {what}; name a Python file")
        if status.st_size > MAX_BYTES:
            raise InputError(f"{path}: {status.st_size} bytes is too large for a script")
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {reason}") from None
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(f"{path} is UTF-16, which Python does not run; save it as UTF-8")
    if b"\0" in content:
        raise InputError(f"{path} is binary (it holds a zero byte), not Python source")
    return content, stat.S_IMODE(status.st_mode)


def _detect_encoding(path: Path, content: bytes) -> str:
    """Return the encoding by the rules of PEP 263."""
    try:
        name, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    except SyntaxError as error:
        if "unknown encoding" in str(error) or "encoding problem" in str(error):
            raise InputError(f"{path}: {error.msg}; correct its coding line") from None
        return "utf-8"
    return "utf-8" if name == "utf-8-sig" else name


def _describe_decode_error(content: bytes, encoding: str, error: Exception) -> str:
    if not isinstance(error, UnicodeDecodeError):
        return f"{encoding} is not a text encoding; correct its coding line"
    line = content.count(b"\n", 0, error.start) + 1
    byte = content[error.start]
    return (
        f"byte 0x{byte:02x} in line {line} is not {encoding}; save it as UTF-8, or name its "
        "encoding in the first line, as in `# -*- coding: latin-1 -*-`"
    )
