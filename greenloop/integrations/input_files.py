"""Texts that a host hands in, put down in the run's own directory: read from there like files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

from greenloop.app.inputs.specification import Specification, read_tests, resolve_module_name
from greenloop.errors import InputError
from greenloop.testsuite.module_names import explain_invalid_module_name
from greenloop.workflow.storage.request import GivenTests
from greenloop.workflow.storage.run_dir import RunDirectory

_MAX_BYTES = 1_000_000
_OPTION_PREFIX = re.compile(
    r"^--(tests |input (input_\d+=)?)"
)  # what a command would have been given


class InputFolder:
    """The folder of a run's inputs. What is put there is the run's own: nobody else writes it."""

    def __init__(self, directory: RunDirectory) -> None:
        self.folder = directory.path / "given"

    def write(self, name: str, text: str, label: str) -> Path:
        """A file of the text. Raises InputError where it is too long, or no text."""
        try:
            content = text.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"{label}: no UTF-8 text: {error.reason}") from None
        if len(content) > _MAX_BYTES:
            raise InputError(f"{label}: longer than 1 MB")
        self.folder.mkdir(exist_ok=True)
        path = self.folder / name
        path.write_bytes(content)
        return path

    def write_tests(self, module: str, text: str) -> tuple[GivenTests, ...]:
        """The host's tests, locked. Raises InputError where they are no Python."""
        return read_tests((self.write(f"test_{module}.py", text, "tests"),))

    def write_inputs(self, texts: Mapping[str, str]) -> Sequence[str]:
        """As `--input PATH=AS` has them: AS is where the script finds the text."""
        places = enumerate(texts.items())
        paths = {
            name: self.write(f"input_{n}", text, f"inputs: {name}") for n, (name, text) in places
        }
        return [f"{path}={name}" for name, path in paths.items()]


@contextmanager
def open_input_folder(directory: RunDirectory) -> Iterator[InputFolder]:
    """Where texts are put and read. A run whose input is refused leaves no directory.

    Raises:
        InputError: what was handed in cannot be used; it speaks of texts, not of files.
    """
    given = InputFolder(directory)
    try:
        yield given
    except InputError as error:
        rmtree(directory.path, ignore_errors=True)
        text = str(error).replace(f"{given.folder}/", "")
        raise type(error)(_OPTION_PREFIX.sub("", text)) from None


def choose_module_name(name: str | None, tests: str | None, packages: frozenset[str]) -> str | None:
    """The module's name, where it is said or the tests import it.

    Raises:
        InputError: it cannot be one, or is not the one that the tests import.
    """
    if name is not None and (why := explain_invalid_module_name(name)):
        raise InputError(f"module: {name!r} cannot be its name: {why}")
    given = (GivenTests.from_code("tests", tests),) if tests is not None else ()
    tested = resolve_module_name(Specification(""), None, given, packages)
    if name and tested and name != tested:
        raise InputError(f"module: it is to be `{name}`, but the tests import `{tested}`")
    return name or tested
