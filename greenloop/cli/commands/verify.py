"""`verify`: code and tests are those that were graded, and their grade still holds."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from greenloop.app.check_report import Check, check_report, run_check
from greenloop.cli.commands.report import write_form
from greenloop.cli.process import complain, run_to_end
from greenloop.errors import GreenloopError, InputError, InterruptedRunError
from greenloop.events import ignore
from greenloop.grading import Plan
from greenloop.records import Report, Verified
from greenloop.reporting.batch.verify import verified_junit, verified_markdown
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from greenloop.testsuite import TestFile
from greenloop.workflow.storage.lockfile import SUFFIX, Lock, drifted, load_lock

_SKIPPED = {".git", ".venv", "venv", "node_modules", "__pycache__", ".greenloop"}


@dataclass(frozen=True)
class VerifyOptions:
    """What is typed besides the settings. `digests_only`: nothing is run again."""

    json: bool = False
    quiet: bool = False
    markdown: str | None = None
    junit: str | None = None
    digests_only: bool = False


def verify_command(locks: Sequence[Path], options: VerifyOptions, flags: dict[str, Any]) -> int:
    """`greenloop verify`: the exit status; 1 where anything has drifted."""
    try:
        settings = Settings.load(**flags)
        found = [path for item in locks or [Path()] for path in _locks(item)]
        if not found:
            raise InputError(f"no lock files (*{SUFFIX}) in {', '.join(map(str, locks)) or '.'}")
        results = _verified(found, settings, options)
        _write_forms(results, options)
    except (asyncio.CancelledError, KeyboardInterrupt):
        complain("interrupted")
        return InterruptedRunError.exit_status
    except GreenloopError as error:
        complain(str(error))
        return error.exit_status
    _print(results, options)
    return 1 if any(item.drift for item in results) else 0


def _locks(path: Path) -> Iterator[Path]:
    if path.is_dir():
        for item in sorted(path.rglob(f"*{SUFFIX}")):
            if not _SKIPPED & set(item.relative_to(path).parts):
                yield item
    elif path.exists():
        yield path
    else:
        raise InputError(f"{path} does not exist")


def _verified(paths: Sequence[Path], settings: Settings, options: VerifyOptions) -> list[Verified]:
    locks = [(path, load_lock(path)) for path in paths]
    found = {path: drifted(path, lock) for path, lock in locks}
    again = [(path, lock) for path, lock in locks if not found[path]]
    reports: dict[Path, Report] = {}
    if again and not options.digests_only:
        with open_sandbox(settings) as box:
            reports = {path: _graded(box, path, lock, settings) for path, lock in again}
    return [
        Verified(
            lock=str(path),
            drift=tuple(found[path] or _lower(lock, reports.get(path))),
            verdict=reports[path].verdict if path in reports else None,
        )
        for path, lock in locks
    ]


def _graded(box: Sandbox, path: Path, lock: Lock, settings: Settings) -> Report:
    code = path.parent / lock.code.path
    tests = [path.parent / item.path for item in lock.tests]
    check = Check(
        module=code.stem,
        code=code.read_text("utf-8"),
        tests=tuple(TestFile(item.name, item.read_text("utf-8")) for item in tests),
        plan=Plan.of(settings),
        sandbox=box.info,
    )

    async def run() -> Report:
        await run_check(box, check, ignore)
        return check_report(check)

    return run_to_end(run())


def _lower(lock: Lock, report: Report | None) -> Iterator[str]:
    """Why the grade does not hold any more."""
    if report is None:
        return
    if report.verdict == "failed":
        yield f"the tests do not pass any more: {next(iter(report.reasons), '')}"
    elif lock.grade.verdict == "verified" and report.verdict == "passed":
        yield f"it was verified, and is not any more: {next(iter(report.reasons), '')}"


def _write_forms(results: Sequence[Verified], options: VerifyOptions) -> None:
    if options.markdown is not None:
        write_form(options.markdown, verified_markdown(results))
    if options.junit is not None:
        write_form(options.junit, verified_junit(results))


def _print(results: Sequence[Verified], options: VerifyOptions) -> None:
    if options.json:
        print(json.dumps([item.model_dump(mode="json") for item in results], indent=1))
        return
    for item in results:
        if item.drift:
            for line in item.drift:
                print(f"drifted  {item.lock}: {line}")
        elif not options.quiet:
            print(f"holds    {item.lock}: {item.verdict or 'digests only'}")
    sys.stdout.flush()
