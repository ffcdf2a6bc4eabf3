"""Delivery of a change: as a patch file, in the working tree, or as a commit on a new branch."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from greenloop.errors import InputError, OutputError
from greenloop.files import writing
from greenloop.project.git import list_safe_options, run_git
from greenloop.project.patch import apply_patch, count_lines
from greenloop.records import Report
from greenloop.scripts.source_file import replace_atomically
from greenloop.workflow.change.request import ChangeRequest
from greenloop.workflow.delivery import back_up_original, with_artifacts
from greenloop.workflow.kind import Consent, keep_replaced
from greenloop.workflow.storage.lockfile import (
    LockedChange,
    build_lock,
    digest_text,
    lock_path,
    save_lock,
)
from greenloop.workflow.storage.run_dir import RunDirectory, write_atomically

_MAX_SUBJECT_CHARS = 72


def deliver_change(
    report: Report, request: ChangeRequest, directory: RunDirectory, consent: Consent
) -> Report:
    """Write the patch where the request says; the user may decline to change the working tree.

    Raises OutputError: a file cannot be written, or has changed since the run began.
    """
    paths: dict[str, str] = {}
    confirm = None if consent.is_reviewed else consent.confirm_patch
    if not report.final_code:
        return report
    keep_replaced(request, directory, consent)
    if request.output:
        write_atomically(Path(request.output), report.final_code)
        paths["output"] = request.output
        _save_lock(report, request, Path(request.output))
    if request.branch:
        paths["worktree"] = str(_commit(report, request, directory))
    elif request.apply and (confirm is None or confirm(report.final_code)):
        root = Path(request.root)
        changes = _check_unchanged(root, report.final_code)
        for path in changes:
            if (root / path).exists():
                back_up_original(directory, root / path, path)
        _write_files(root, changes)
        paths["applied"] = request.root
    return with_artifacts(report, **paths)


def _save_lock(report: Report, request: ChangeRequest, patch: Path) -> None:
    """Write the lock beside the patch; `greenloop verify` grades the patch again by it."""
    base = report.change.base if report.change else ""
    text = digest_text(request.specification, request.given)
    lock = build_lock(report, text, None, patch)
    change = LockedChange(root=os.path.relpath(request.root, patch.absolute().parent), base=base)
    save_lock(lock_path(patch), lock.model_copy(update={"change": change}))


def _check_unchanged(root: Path, patch: str) -> Mapping[str, str | None]:
    """Return the new text of each file of a patch. Raises OutputError if it no longer applies."""
    texts = {}
    for path, _, _ in count_lines(patch):
        place = root / path
        if any(item.is_symlink() for item in (place, *place.parents) if root in item.parents):
            raise OutputError(f"{place} is, or lies behind, a link: nothing was written")
        if place.exists():
            with writing(place):
                texts[path] = place.read_bytes().decode("utf-8", "surrogateescape")
    try:
        return apply_patch(texts, patch)
    except InputError as error:
        raise OutputError(f"{error}: {root} was changed meanwhile; nothing was written") from None


def _write_files(root: Path, changes: Mapping[str, str | None]) -> None:
    """Write all files; if one cannot be written, restore those already written."""
    before: dict[str, bytes | None] = {}
    try:
        for path, text in changes.items():
            with writing(root / path):
                before[path] = (root / path).read_bytes() if (root / path).exists() else None
                _put(root / path, None if text is None else text.encode("utf-8", "surrogateescape"))
    except BaseException:  # Ctrl-C too
        for path, content in before.items():
            with suppress(OSError):
                _put(root / path, content)
        raise


def _put(place: Path, content: bytes | None) -> None:
    """Write a file, or delete it where the content is None. Raises OSError."""
    if content is None:
        place.unlink(missing_ok=True)
    else:
        place.parent.mkdir(parents=True, exist_ok=True)
        replace_atomically(place, content, 0o644)


def _commit(report: Report, request: ChangeRequest, directory: RunDirectory) -> Path:
    """Commit the patch on a new branch, in a worktree of the run directory; return its path."""
    root, tree = Path(request.root), directory.path / "worktree"
    options = () if request.run_hooks else list_safe_options(root)
    base = report.change.base if report.change else ""
    assert request.branch is not None
    try:
        add = ("worktree", "add", "-q", "-b", request.branch, str(tree), base)
        run_git(root, *add, options=options)
        _commit_in(tree / run_git(root, "rev-parse", "--show-prefix").strip(), report, options)
        # Detached: a branch of one worktree cannot be checked out in another.
        run_git(tree, "update-ref", "--no-deref", "HEAD", "HEAD", options=options)
    except BaseException:  # Ctrl-C too; undoing a step that was not done fails
        for undo in (
            ("worktree", "remove", "--force", str(tree)),
            ("branch", "-qD", request.branch),
        ):
            with suppress(OutputError):
                run_git(root, *undo)
        raise
    return tree


def _commit_in(place: Path, report: Report, options: Sequence[str]) -> None:
    changes = _check_unchanged(place, report.final_code)
    _write_files(place, changes)
    run_git(place, "add", "-f", "--", *changes, options=options)
    checks = ("--no-verify",) if options else ()
    message = ("-m", _describe(report), "-m", f"greenloop: {report.verdict}")
    run_git(place, "commit", "-q", *checks, *message, options=options)


def _describe(report: Report) -> str:
    summary = report.contract.summary if report.contract else report.specification
    return " ".join(summary.split())[:_MAX_SUBJECT_CHARS]
