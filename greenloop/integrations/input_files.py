"""Texts that a client sends, written to the run's directory and read from there like files."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

from greenloop.app.inputs.specification import read_tests, resolve_module_name
from greenloop.errors import InputError
from greenloop.files import MAX_TEXT_BYTES
from greenloop.syntax.names import explain_invalid_module_name
from greenloop.workflow.storage.request import GivenTests
from greenloop.workflow.storage.run_dir import RunDirectory

# Options at the beginning of the commands' error messages.
_OPTION_PREFIX = re.compile(r"^--(tests |input (input_\d+=)?)")


class InputFolder:
    """The folder of a run's input files, in the run's directory."""

    def __init__(self, directory: RunDirectory) -> None:
        self.folder = directory.path / "given"

    def write(self, name: str, text: str, label: str) -> Path:
        """Write a text to a file. Raises InputError if it is too long, or not text."""
        try:
            content = text.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"{label}: not UTF-8 text: {error.reason}") from None
        if len(content) > MAX_TEXT_BYTES:
            raise InputError(f"{label}: longer than 1 MB")
        self.folder.mkdir(exist_ok=True)
        path = self.folder / name
        path.write_bytes(content)
        return path

    def write_tests(self, module: str, text: str) -> tuple[GivenTests, ...]:
        """Write the client's tests, which are locked. Raises InputError if they are not Python."""
        return read_tests((self.write(f"test_{module}.py", text, "tests"),))

    def write_inputs(self, texts: Mapping[str, str]) -> Sequence[str]:
        """Write input files; return them as in `--input PATH=AS`, where AS is the script's path."""
        numbered = enumerate(texts.items())
        paths = {
            name: self.write(f"input_{n}", text, f"inputs: {name}") for n, (name, text) in numbered
        }
        return [f"{path}={name}" for name, path in paths.items()]


@contextmanager
def open_input_folder(directory: RunDirectory) -> Iterator[InputFolder]:
    """Yield the folder for input files. If an input is refused, the run's directory is removed.

    Raises InputError: an input cannot be used; the message names no file or option.
    """
    given = InputFolder(directory)
    try:
        yield given
    except InputError as error:
        rmtree(directory.path, ignore_errors=True)
        text = str(error).replace(f"{given.folder}/", "")
        raise type(error)(_OPTION_PREFIX.sub("", text)) from None


def choose_module_name(name: str | None, tests: str | None, packages: frozenset[str]) -> str | None:
    """Return the module's name if it is given or the tests import it.

    Raises InputError: it is invalid, or the tests import another module.
    """
    if name is not None and (why := explain_invalid_module_name(name)):
        raise InputError(f"module: {name!r} cannot be its name: {why}")
    given = (GivenTests.from_code("tests", tests),) if tests is not None else ()
    tested = resolve_module_name(None, given, packages)
    if name and tested and name != tested:
        raise InputError(f"module: `{name}` was given, but the tests import `{tested}`")
    return name or tested
