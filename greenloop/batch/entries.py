"""Entries of a batch: specifications from files, folders, JSON Lines and standard input."""

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from pydantic import Field, ValidationError

from greenloop.errors import InputError
from greenloop.files import decode_text, read_bounded, read_text
from greenloop.project.exclusions import is_excluded_folder
from greenloop.records import Record
from greenloop.syntax.names import explain_invalid_module_name
from greenloop.workflow.storage.lockfile import digest_text
from greenloop.workflow.storage.request import GivenTests, digest

_SUFFIXES = (".md", ".txt", ".rst")
_MAX_JSONL_BYTES = 200_000_000


class JsonlEntry(Record):
    """One line of a JSON Lines file; paths are relative to the working folder."""

    id: str = Field(min_length=1, max_length=200)
    spec: str = Field(min_length=1)
    tests: str | tuple[str, ...] = ()
    output: str | None = None


class Entry(Record):
    """One specification of a batch."""

    id: str
    text: str
    source: str = ""
    tests: tuple[GivenTests, ...] = ()
    output: Path | None = None  # the code's file, None if it is not written
    module: str | None = None  # its name, if not that of the file

    @property
    def sha256(self) -> str:
        """Digest of the text and the user's tests, for which a result is valid."""
        return digest_text(self.text, self.tests)

    @property
    def slug(self) -> str:
        """Readable, unique name of its run directory."""
        readable = re.sub(r"[^A-Za-z0-9._-]+", "-", self.id).strip("-.")[:40]
        return f"{readable}-{digest(self.id)[:8]}-{self.sha256[:8]}"


def read_entries(specs: Sequence[str], output_dir: Path | None) -> tuple[Entry, ...]:
    """Return all entries, in order.

    Raises:
        InputError: a source cannot be read or is not valid, or two entries share an id or output.
    """
    # The shell expands docs/*.md to a README too, which a search of the folder leaves out.
    named = [spec for spec in specs if not _is_readme(Path(spec))] or specs
    entries = tuple(entry for spec in named for entry in _read_entries_from(spec, output_dir))
    if not entries:
        places = ", ".join("standard input" if spec == "-" else spec for spec in specs)
        raise InputError(
            f"no specifications in {places}: folders are searched for *.md, *.txt and *.rst without "
            "READMEs, requirements*.txt and hidden folders; JSON Lines have one per line"
        )
    for what in ("id", "output"):
        seen: dict[str, Entry] = {}
        for entry in entries:
            value = getattr(entry, what)
            if value is None:
                continue
            if first := seen.get(str(value)):
                where = f"({first.source}; {entry.source})"
                raise InputError(f"two specifications have the same {what}: {value} {where}")
            seen[str(value)] = entry
    return entries


def _is_readme(path: Path) -> bool:
    return path.stem.lower() == "readme"


def _read_entries_from(spec: str, output_dir: Path | None) -> Iterator[Entry]:
    path = Path(spec)
    if spec == "-":
        data = sys.stdin.buffer.read(_MAX_JSONL_BYTES + 1)
        if len(data) > _MAX_JSONL_BYTES:
            raise InputError(f"standard input is larger than {_MAX_JSONL_BYTES // 1_000_000} MB")
        yield from _entries_from_jsonl(data, "standard input", output_dir)
    elif path.is_dir():
        for item in sorted(_list_specifications(path)):
            yield _entry_from_file(item, item.relative_to(path).with_suffix(""), output_dir)
    elif path.suffix in (".jsonl", ".ndjson"):
        yield from _entries_from_jsonl(read_bounded(path, _MAX_JSONL_BYTES), spec, output_dir)
    elif not path.exists():
        raise InputError(f"{spec} does not exist; check the path")
    else:
        yield _entry_from_file(path, Path(path.stem), output_dir)


def _list_specifications(folder: Path) -> Iterator[Path]:
    """Yield the specifications below a folder, not texts in hidden or generated folders."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not _is_of_tools(os.path.join(place, name))]
        for path in (Path(place, name) for name in names):
            is_list = fnmatch(path.name, "requirements*.txt")  # for pip
            is_text = path.suffix in _SUFFIXES and not (is_list or _is_readme(path))
            if is_text and not path.name.startswith(".") and path.is_file():
                yield path


def _is_of_tools(folder: str) -> bool:
    """Return whether a folder is hidden, generated or an environment."""
    return os.path.basename(folder).startswith(".") or bool(is_excluded_folder(folder, folder))


def _entry_from_file(path: Path, name: Path, output_dir: Path | None) -> Entry:
    if path.suffix == ".py":
        raise InputError(f"{path} is code, not a specification")
    text = read_text(path)
    if not text.strip():
        raise InputError(f"{path} is empty: say what you want")
    output = output_dir / _module_file_name(name) if output_dir else None
    return Entry(id=name.as_posix(), text=text, source=str(path), output=output)


def _module_file_name(name: Path) -> Path:
    """Return the code's file, named after the specification."""
    stem = re.sub(r"\W+", "_", name.name).strip("_").lower() or "solution"
    stem = f"module_{stem}" if stem[0].isdigit() else stem  # 01-roman.md
    if why := explain_invalid_module_name(stem):
        raise InputError(f"{name}: '{stem}' cannot be the module's name: {why}; rename the file")
    return name.with_name(f"{stem}.py")


def _entries_from_jsonl(data: bytes, name: str, output_dir: Path | None) -> Iterator[Entry]:
    for number, raw in enumerate(decode_text(data, name).split("\n"), 1):
        if raw.strip():
            yield _entry_from_line(raw, f"{name}, line {number}", output_dir)


def _entry_from_line(raw: str, where: str, output_dir: Path | None) -> Entry:
    try:
        line = JsonlEntry.model_validate(json.loads(raw))
    except ValidationError as error:
        raise InputError(f"{where}: {_describe_validation_error(error)}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON: {error}") from None
    tests = (line.tests,) if isinstance(line.tests, str) else line.tests
    output = Path(line.output) if line.output else None
    if output is None and output_dir is not None:
        if ".." in Path(line.id).parts or Path(line.id).is_absolute():
            raise InputError(f"{where}: id {line.id} leads out of the output folder")
        output = output_dir / _module_file_name(Path(line.id))
    elif output is not None:
        is_python, why = output.suffix == ".py", explain_invalid_module_name(output.stem)
        if not is_python or why:
            raise InputError(f"{where}: output {output}: {why or 'name a .py file'}")
    given = tuple(GivenTests.read(Path(item), f"{where}: tests {item}") for item in tests)
    return Entry(id=line.id, text=line.spec, source=where, tests=given, output=output)


def _describe_validation_error(error: ValidationError) -> str:
    first = error.errors()[0]
    key = ".".join(str(item) for item in first["loc"])
    if not key:
        return "not an object {id, spec, tests?, output?}"
    if first["type"] == "extra_forbidden":
        return f"unknown key: {key}; there are {', '.join(JsonlEntry.model_fields)}"
    return f"{key}: {first['msg']}"
