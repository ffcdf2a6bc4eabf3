"""Reading of specifications (text, file or standard input), user tests and answers to choices."""

import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from greenloop.errors import InputError, SpecificationError
from greenloop.files import (
    MAX_TEXT_BYTES,
    decode_text,
    is_bare_word,
    is_path_like,
    path_exists,
    read_text,
    require_text,
)
from greenloop.records import Choice, ChoiceAnswer
from greenloop.syntax.names import explain_invalid_module_name
from greenloop.testsuite.module_under_test import find_imported_module
from greenloop.workflow.storage.choices_file import read_answers
from greenloop.workflow.storage.lockfile import digest_text, load_lock, lock_path
from greenloop.workflow.storage.request import (
    ContractRequest,
    ContractRequestT,
    GivenTests,
    with_choice_answer,
)


@dataclass(frozen=True)
class SpecificationFile:
    """A specification's text and, if it came from a file, the path."""

    text: str
    path: Path | None = None


def read_specification(spec: str) -> SpecificationFile:
    """Read the specification that `SPEC` names.

    Raises SpecificationError: a file is missing or unreadable, or the text is empty.
    """
    if spec == "-":
        data = sys.stdin.buffer.read(MAX_TEXT_BYTES + 1)
        if len(data) > MAX_TEXT_BYTES:
            raise SpecificationError("standard input is larger than 1 MB")
        return SpecificationFile(require_text(decode_text(data, "standard input")))
    path = Path(spec)
    if spec.strip() and path_exists(path):
        if path.is_dir():
            raise SpecificationError(f"{path} is a folder; name a file with the specification")
        if path.suffix == ".py":
            raise SpecificationError(
                f"{path} is code, not a specification; greenloop check {path} TESTS grades it"
            )
        return SpecificationFile(require_text(read_text(path), path), path)
    if is_path_like(spec):
        raise SpecificationError(
            f"{spec} does not exist; check the path, or give the text in quotes"
        )
    if is_bare_word(spec):
        raise SpecificationError(
            f"'{spec}' is one word and no file: say in a sentence what the code should do, in quotes"
        )
    return SpecificationFile(require_text(spec))


def read_tests(paths: tuple[Path, ...]) -> tuple[GivenTests, ...]:
    """Read the user's test files.

    Raises InputError: a file cannot be read, is not Python, or two have the same name.
    """
    found = []
    for path in paths:  # the prefix keeps a test file from getting the module's name
        is_test = path.stem == "conftest" or path.stem.startswith("test_")
        name = f"{path.stem}.py" if is_test else f"test_{path.stem}.py"
        found.append(GivenTests.read(path, f"--tests {path}", name))
    if len({item.name for item in found}) < len(found):
        raise InputError("--tests: two files have the same name: rename one")
    return tuple(found)


def resolve_module_name(
    output: Path | None,
    user_tests: tuple[GivenTests, ...],
    packages: Collection[str] = (),
) -> str | None:
    """Return the module's name from the output or the tests, or None.

    `packages` are imports of tests that are not the user's modules.
    Raises InputError: the output's stem is no module name, or the tests import another module.
    """
    tested = next(
        (name for item in user_tests if (name := find_imported_module(item.code, packages))), None
    )
    if output is not None:
        if output.suffix != ".py":
            raise InputError(f"--output {output}: name a .py file")
        if why := explain_invalid_module_name(output.stem):
            raise InputError(
                f"--output {output}: '{output.stem}' cannot be the module's name: {why}"
            )
        if tested is not None and tested != output.stem:
            raise InputError(f"--output {output}: the tests import `{tested}`; name it {tested}.py")
        return output.stem
    return tested


def add_answers(
    request: ContractRequestT,
    choices: Sequence[Choice],
    path: Path | None,
    *,
    accept: bool,
    has_code: bool,
) -> tuple[ContractRequestT, str]:
    """Return the request with the answers to open choices, and a message if there are none.

    With `accept`, choices that the file does not answer are accepted as they were made. If the run
    has code already, the answers form a new round.
    Raises InputError: the file cannot be read, or an answer in it is unclear.
    """
    asked = [item for item in choices if item.answered is None]
    given = (
        read_answers(path, read_text(path, f"--answers {path}"), asked) if path and asked else ()
    )
    answered = {item.question_sha256 for item in given}
    taken = [
        ChoiceAnswer(question_sha256=item.sha256, how="accepted", unread=True)
        for item in asked
        if accept and item.sha256 not in answered
    ]
    last = max((item.round for item in request.choice_answers), default=0)
    for item in (*given, *taken):
        numbered = item.model_copy(update={"round": last + 1 if has_code else 0})
        request = with_choice_answer(request, numbered)
    option = f"--answers {path}" if path else "--accept-choices"
    why = "" if given or taken else f"{option} is ignored: the text leaves no question open"
    return request, why if path or accept else ""


def read_locked_choices(request: ContractRequest) -> tuple[Choice, ...] | None:
    """Return the choices in the lock beside the output, None without a lock for the same text.

    Raises InputError: the lock cannot be read.
    """
    path = lock_path(Path(request.output)) if request.output else None
    if path is None or not path.exists():
        return None
    lock = load_lock(path)
    is_same = lock.text_sha256 == digest_text(request.specification, request.given)
    return lock.choices if is_same else None
