"""The command `verify`: compare files with their locks, and grade them again."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from greenloop.app.check import check_inputs, start_check
from greenloop.app.check_diff import grade_diff
from greenloop.app.inputs.project_module import read_module
from greenloop.cli.finish import prints_text, write_outputs
from greenloop.cli.options.checks import VerifyOptions
from greenloop.cli.options.settings import load_settings
from greenloop.cli.process import run_with_signals
from greenloop.errors import InputError
from greenloop.events import ignore_event
from greenloop.grading import Plan
from greenloop.project.diff import build_patch_diff
from greenloop.project.tree import read_tree
from greenloop.records import Report
from greenloop.records.base import escape_json
from greenloop.records.batch import LockCheckResult
from greenloop.reporting.batch import render_verify_junit, render_verify_markdown
from greenloop.reporting.escaping import escape_invisible
from greenloop.reporting.summary import pluralize
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from greenloop.workflow.report_builder import build_report
from greenloop.workflow.storage.lockfile import LOCK_SUFFIX, Lock, find_drift, load_lock

_OLDER_RULES = "graded by an older version: grade it again"
_SKIPPED_FOLDERS = {".git", ".venv", "venv", "node_modules", "__pycache__", ".greenloop"}


def verify_command(options: VerifyOptions) -> int:
    """Run `greenloop verify` and return the exit status.

    It is 1 if anything has drifted, or a new grade does not reach the verdict of `--require`.
    """
    locks = options.locks or [Path()]
    settings = load_settings(options)
    found = list(dict.fromkeys(path for item in locks for path in _find_locks(item)))
    if not found:
        raise InputError(
            f"no lock files (*{LOCK_SUFFIX}) in {', '.join(map(str, locks))}; batch, and make with "
            "--output, write them"
        )
    results = _verify_locks(found, settings, options)
    write_outputs(
        results, (options.markdown, render_verify_markdown), (options.junit, render_verify_junit)
    )
    _print_results(results, options)
    short = ("passed",) if settings.require == "verified" else ()
    return 1 if any(item.drift or item.verdict in short for item in results) else 0


def _find_locks(path: Path) -> Iterator[Path]:
    if path.is_dir():
        for item in sorted(path.rglob(f"*{LOCK_SUFFIX}")):
            if not _SKIPPED_FOLDERS & set(item.relative_to(path).parts):
                yield item
    elif path.exists():
        yield path
    else:
        raise InputError(f"{path} does not exist")


def _verify_locks(
    paths: Sequence[Path], settings: Settings, options: VerifyOptions
) -> list[LockCheckResult]:
    locks = [(path, load_lock(path)) for path in paths]
    found = {path: find_drift(path, lock) for path, lock in locks}
    unchanged = [(path, lock) for path, lock in locks if not found[path]]
    reports: dict[Path, Report] = {}
    if unchanged and not options.digests_only:
        with open_sandbox(settings) as sandbox:
            reports = {path: _grade_lock(sandbox, path, lock, settings) for path, lock in unchanged}
    return [
        LockCheckResult(
            lock=str(path),
            drift=tuple(found[path] or _find_grade_drift(lock, reports.get(path))),
            verdict=reports[path].verdict if path in reports else None,
            open_choices=sum(item.answered is None for item in lock.choices),
            note=_OLDER_RULES if _has_older_rules(lock, reports.get(path)) else "",
        )
        for path, lock in locks
    ]


def _grade_lock(sandbox: Sandbox, path: Path, lock: Lock, settings: Settings) -> Report:
    code = path.parent / lock.code.path
    bound = {"held_out": lock.held_out, "peer": lock.peer, "read_against_text": True}
    if lock.change:
        tree = read_tree(path.parent / lock.change.root)
        diff = build_patch_diff(tree, lock.change.base, code.read_text("utf-8"))
        return run_with_signals(grade_diff(sandbox, diff, settings, bound))
    inputs = read_module(code, [path.parent / item.path for item in lock.tests], settings)
    plan = Plan.from_settings(settings)
    check = start_check(inputs.module, inputs.code, inputs.tests, plan, sandbox.info)

    async def run() -> Report:
        await check_inputs(sandbox, inputs, code, check, settings, ignore_event)
        check.evidence = check.evidence.model_copy(update=bound)
        return build_report(check)

    return run_with_signals(run())


def _find_grade_drift(lock: Lock, report: Report | None) -> Iterator[str]:
    """Yield why the grade no longer holds."""
    if report is None:
        return
    if report.verdict == "failed":
        yield f"the tests no longer pass: {next(iter(report.reasons), '')}"
    elif _has_fallen(lock, report) and not _has_older_rules(lock, report):
        yield f"it is no longer verified: {next(iter(report.reasons), '')}"


def _has_fallen(lock: Lock, report: Report) -> bool:
    return lock.grade.verdict == "verified" and report.verdict == "passed"


def _has_older_rules(lock: Lock, report: Report | None) -> bool:
    """Return whether a grade has fallen only by pieces that the lock's version did not measure."""
    return bool(report and _has_fallen(lock, report) and lock.is_of_older_rules(report.evidence))


def _print_results(results: Sequence[LockCheckResult], options: VerifyOptions) -> None:
    if options.json:
        print(escape_json(json.dumps([item.model_dump(mode="json") for item in results], indent=1)))
        return
    for item in results if prints_text(options) else ():
        if item.drift:
            for line in item.drift:
                print(escape_invisible(f"drifted  {item.lock}: {line}"))
        elif not options.quiet:
            verdict = item.verdict or "digests only"
            left = pluralize(item.open_choices, "open choice")
            more = f", {left}" if item.open_choices else ""
            more += f" ({item.note})" if item.note else ""
            print(escape_invisible(f"holds    {item.lock}: {verdict}{more}"))
    sys.stdout.flush()
