"""Input files of a script, and their paths in its working folder."""

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from greenloop.errors import InputError
from greenloop.project.exclusions import is_excluded_file, is_excluded_folder
from greenloop.workflow.script.request import InputRef

_MAX_FILES = 1000
_MAX_BYTES = 32 << 20


def read_inputs(texts: Sequence[str], own: str = "") -> tuple[InputRef, ...]:
    """Return the files of `--input PATH[=AS]`; a folder means all files below it but the script.

    Files of a folder that are generated or may hold secrets are left out, unless they are named.
    `own` is the script's path in its working folder.
    The script sees a relative path unchanged, and of an absolute or outer path only the name.
    Raises InputError: a file cannot be read, two get the same path, or there is too much data.
    """
    found = [ref for text in texts for ref in _read_refs(text, own)]
    places: dict[str, str] = {}
    for ref in found:
        if other := places.get(ref.path):
            raise InputError(
                f"--input: {other} and {ref.source} get the same path `{ref.path}`; name another one with PATH=AS"
            )
        places[ref.path] = ref.source
    size = sum(Path(ref.source).stat().st_size for ref in found)
    if len(found) > _MAX_FILES or size > _MAX_BYTES:
        raise InputError(
            f"--input: {len(found)} files of {size >> 20} MB are too many; at most {_MAX_FILES} "
            f"files of {_MAX_BYTES >> 20} MB in all"
        )
    return tuple(found)


def read_stdin(path: Path | None) -> InputRef | None:
    """Return the file of `--stdin`. Raises InputError if it cannot be read."""
    return None if path is None else _read_ref(path, "stdin", "--stdin")


def _read_refs(text: str, own: str) -> Iterator[InputRef]:
    path, place = _split_input(text)
    if not path.is_dir():
        yield _read_ref(path, str(place), "--input")
        return
    count = 0
    for count, item in enumerate(_walk(path), 1):
        if count > _MAX_FILES:
            raise InputError(f"--input {path}: more than {_MAX_FILES} files; name fewer")
        if (inner := str(place / item.relative_to(path))) != own:
            yield _read_ref(item, inner, "--input")
    if not count:
        raise InputError(f"--input {path}: the folder has no files to copy")


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, without generated ones and those that may hold secrets."""
    for place, folders, names in os.walk(folder):
        paths = {name: Path(place, name) for name in sorted(folders)}
        folders[:] = [
            name
            for name, path in paths.items()
            if not is_excluded_folder(path.relative_to(folder).as_posix(), str(path))
        ]
        files = (Path(place, name) for name in sorted(names) if not is_excluded_file(name))
        yield from (item for item in files if item.is_file() and not item.is_symlink())


def _split_input(text: str) -> tuple[Path, PurePosixPath]:
    path, _, wanted = text.rpartition("=")
    if not path or Path(text).exists():
        path, wanted = text, ""
    place = PurePosixPath(os.path.normpath(wanted or path))
    if not wanted and (place.is_absolute() or ".." in place.parts):
        place = PurePosixPath(os.path.basename(os.path.abspath(path)))
    is_unnamed = not place.parts and not Path(path).is_dir()  # files of `.` keep their own names
    if place.is_absolute() or ".." in place.parts or is_unnamed:
        raise InputError(f"--input {text}: `{place}` is not inside the script's working folder")
    return Path(path), place


def _read_ref(path: Path, script_path: str, flag: str) -> InputRef:
    source = str(path.absolute())
    if (shown := source.encode("utf-8", "backslashreplace").decode()) != source:
        raise InputError(f"{flag} {shown}: its name is not valid text")
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputError(f"{flag} {path}: not a file")
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{flag} {path}: larger than {_MAX_BYTES >> 20} MB")
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{flag} {path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a NUL in the name
        raise InputError(f"{flag} {path!s}: {error}") from None
    sha256 = hashlib.sha256(content).hexdigest()
    return InputRef(path=script_path, source=source, sha256=sha256)
