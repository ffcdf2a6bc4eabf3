"""Answers of the user's to open choices, from a filled-in `choices.md` or accepted as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from greenloop.errors import InputError
from greenloop.files import read_text
from greenloop.records import Choice, ChoiceAnswer
from greenloop.workflow.storage.amendments import with_choice_answer
from greenloop.workflow.storage.choices_file import read_answers
from greenloop.workflow.storage.lockfile import digest_text, load_lock, lock_path
from greenloop.workflow.storage.request import ContractRequest, ContractRequestT


def add_answers(
    request: ContractRequestT,
    choices: Sequence[Choice],
    path: Path | None,
    *,
    accept: bool,
    has_code: bool,
) -> tuple[ContractRequestT, str]:
    """Return the request with the answers to open choices, and a line where there are none.

    With `accept` those that the file leaves out are accepted as they were made. Answers are a round
    of their own where the run has code already.

    Raises:
        InputError: the file cannot be read, or an answer in it is unclear.
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
    why = "" if given or taken else f"{option} answers no open question and is ignored"
    return request, why if path or accept else ""


def read_locked_choices(request: ContractRequest) -> tuple[Choice, ...]:
    """Return the choices that the lock beside the output names for the same text.

    Raises:
        InputError: there is no such lock, or it is of another text.
    """
    if request.output is None:
        raise InputError(
            "--answers and --accept-choices go with `resume RUN_DIR`, or with -o FILE where a lock "
            "names the choices"
        )
    path = lock_path(Path(request.output))
    lock = load_lock(path)
    if lock.text_sha256 != digest_text(request.specification, request.given):
        raise InputError(f"{path} was made from another text and its choices do not apply")
    return lock.choices
