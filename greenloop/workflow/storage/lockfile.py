"""Lock file beside the code: digests of specification, code and tests, and the grade."""

import os
from collections.abc import Sequence
from pathlib import Path

from greenloop.errors import InputError, OutputError
from greenloop.files import read_bounded
from greenloop.records import Choice, Evidence, HeldOut, Peer, Record, Report, Verdict
from greenloop.records.evidence import piece_types
from greenloop.workflow.storage.request import GivenTests, digest
from greenloop.workflow.storage.run_dir import write_atomically

LOCK_SUFFIX = ".greenloop.json"
_MAX_LOCK_BYTES = 100_000_000


class LockedFile(Record):
    """A file, by its path from the lock's folder, and the SHA-256 of its text."""

    path: str
    sha256: str


class Grade(Record):
    """The verdict and the scores of the run that made the code."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    mutation_score: float | None = None
    line_coverage: float | None = None
    branch_coverage: float | None = None


class LockedChange(Record):
    """The project's folder (relative to the lock's) and commit that a patch was graded for."""

    root: str
    base: str = ""


class Lock(Record):
    """Digests of a specification's code and tests when they were graded."""

    version: int = 1
    text_sha256: str  # of the text and of the digests of the user's tests
    specification: LockedFile | None = None  # None if the text came from no file
    code: LockedFile
    tests: tuple[LockedFile, ...] = ()
    grade: Grade
    choices: tuple[Choice, ...] = ()  # open choices, with answers
    held_out: HeldOut | None = None  # like `peer`, valid for this text, code and tests
    peer: Peer | None = None
    rules: tuple[str, ...]  # the pieces of evidence that the grade had
    change: LockedChange | None = None  # if set, the code is a patch
    greenloop: str = ""
    model: str = ""

    def is_of_older_rules(self, evidence: Evidence) -> bool:
        """Return whether new evidence falls short only in pieces that this grade lacks."""
        later = piece_types().keys() - set(self.rules)
        return bool(later) and not any(evidence.unmet(contracted=False, without=later))


def digest_text(specification: str, given: Sequence[GivenTests]) -> str:
    """Return the digest of a text and the user's tests, for which a result is valid."""
    return digest("\0".join([specification, *(item.sha256 for item in given)]))


def lock_path(code: Path) -> Path:
    """Return the path of a code file's lock: `top_k.py` has `top_k.greenloop.json`."""
    return code.with_name(code.stem + LOCK_SUFFIX)


def build_lock(report: Report, text_sha256: str, source: Path | None, code: Path) -> Lock:
    """Return the lock of the files that a report names as delivered. Raises OutputError."""
    folder = code.absolute().parent
    places = report.artifacts
    tests = (Path(places.tests_output),) if places.tests_output else ()
    mutation, coverage = report.evidence.mutation, report.evidence.coverage
    return Lock(
        text_sha256=text_sha256,
        specification=_describe_file(source, folder) if source else None,
        code=_describe_file(code, folder),
        tests=tuple(_describe_file(path, folder) for path in tests),
        grade=Grade(
            verdict=report.verdict,
            reasons=report.reasons,
            mutation_score=mutation.score if mutation else None,
            line_coverage=coverage.line if coverage else None,
            branch_coverage=coverage.branch if coverage else None,
        ),
        choices=report.contract.choices if report.contract else (),
        held_out=report.evidence.held_out,
        peer=report.evidence.peer,
        rules=tuple(piece_types()),
        greenloop=report.environment.greenloop,
        model=report.environment.model,
    )


def _describe_file(path: Path, folder: Path) -> LockedFile:
    relative = os.path.relpath(path.absolute(), folder)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(f"no lock can be written: {path} cannot be read: {error}") from None
    return LockedFile(path=Path(relative).as_posix(), sha256=digest(text))


def save_lock(path: Path, lock: Lock) -> None:
    """Write a lock. Raises OutputError."""
    write_atomically(path, lock.model_dump_json(indent=1) + "\n")


def load_lock(path: Path) -> Lock:
    """Read a lock. Raises InputError: it is missing or has another form."""
    try:
        return Lock.model_validate_json(read_bounded(path, _MAX_LOCK_BYTES))
    except ValueError:
        raise InputError(
            f"{path} is not a lock file of greenloop; name a *.greenloop.json or a folder with some"
        ) from None


def find_drift(path: Path, lock: Lock) -> list[str]:
    """Return a line for each file that differs from its digest in the lock."""
    named = {"code": (lock.code,), "tests": lock.tests}
    if lock.specification:
        named["specification"] = (lock.specification,)
    return [
        f"the {what} {item.path} {why}"
        for what, items in named.items()
        for item in items
        if (why := _find_drift_reason(path.parent / item.path, item.sha256))
    ]


def _find_drift_reason(path: Path, sha256: str) -> str:
    try:
        same = digest(path.read_text("utf-8")) == sha256
    except (OSError, UnicodeDecodeError) as error:
        return f"cannot be read: {error}"
    return "" if same else "is not the one that was graded"
