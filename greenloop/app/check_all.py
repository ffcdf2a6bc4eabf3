"""Checks of all modules of a folder, one after the other; results are kept until a file changes."""

import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

from greenloop.app.check import check_files, create_check_directory
from greenloop.app.inputs.project_module import read_module
from greenloop.app.module_grades import ModuleGrade
from greenloop.batch.results import append_line, read_lines
from greenloop.errors import GreenloopError, InputError, InterruptedRunError, SandboxError
from greenloop.events import ignore_event
from greenloop.project.environment.discovery import find_project_root
from greenloop.project.tree import ProjectTree, read_tree
from greenloop.records import Report
from greenloop.reporting.evidence.text import list_first_steps
from greenloop.sandbox import Sandbox
from greenloop.settings import Settings
from greenloop.testsuite.parser import is_test_path
from greenloop.versions import greenloop_version
from greenloop.workflow.storage.request import digest, select_saved_options

_ORDER = ("failed", "not checked", "no tests", "passed", "verified")


def ignore_grade(grade: ModuleGrade) -> None:
    """Show nothing."""


async def check_modules(
    folder: Path,
    settings: Settings,
    open_box: Callable[[], Awaitable[Sandbox]],
    show: Callable[[ModuleGrade], None] = ignore_grade,
) -> list[ModuleGrade]:
    """Return the grades of all modules, the weakest first; `show` gets each grade when it is known.

    Raises:
        InputError: there is no module in the folder.
        SandboxError: the sandbox cannot be opened.
    """
    kept = settings.home / "checks.jsonl"  # the last line of a module counts
    known = {item.path: item for item in read_lines(kept, ModuleGrade) if _has_report(item)}
    opened: list[Sandbox] = []

    async def open_once() -> Sandbox:
        if not opened:
            opened.append(await open_box())
        return opened[0]

    tree, grades = read_tree(folder), []
    sha256 = _hash(_read_whole(folder, tree), settings)  # as modules import each other
    for code, tests in _find_modules(folder, tree):
        earlier = known.get(str(code))
        grade = await _check_module(code, tests, settings, open_once, earlier, sha256)
        if grade.sha256 and grade is not earlier:
            append_line(kept, grade)
        show(grade)
        grades.append(grade)
    if not grades:
        raise InputError(f"{folder}: there is no module to check")
    return sorted(grades, key=lambda item: (_ORDER.index(item.verdict), item.score, item.path))


def _read_whole(folder: Path, tree: ProjectTree) -> ProjectTree:
    """Return the files of the project around a folder, which are `tree` if it is the folder."""
    root = find_project_root(folder)
    return tree if root is None or root.resolve() == folder.resolve() else read_tree(root)


def _find_modules(folder: Path, tree: ProjectTree) -> Iterator[tuple[Path, list[Path]]]:
    """Yield each module with the test files that import it or are named after it."""
    texts = tree.texts
    tests = {path: text for path, text in texts.items() if is_test_path(path)}
    for path, text in sorted(texts.items()):
        name = Path(path).parent.name if Path(path).stem == "__init__" else Path(path).stem
        if path in tests or name in ("conftest", "setup") or "def " not in text:
            continue
        usual = (f"test_{name}", f"{name}_test")
        about = [
            folder / item
            for item, code in tests.items()
            if _names(code, name) or Path(item).stem in usual
        ]
        yield folder / path, [item for item in about if item.name != "conftest.py"]


def _has_report(grade: ModuleGrade) -> bool:
    return Path(grade.run_dir, "report.json").exists()  # false if the run was removed


def _names(code: str, name: str) -> bool:
    lines = (item for item in code.splitlines() if "import" in item)
    return any(name in line.replace(".", " ").replace(",", " ").split() for line in lines)


async def _check_module(
    code: Path,
    tests: list[Path],
    settings: Settings,
    open_box: Callable[[], Awaitable[Sandbox]],
    known: ModuleGrade | None,
    sha256: str,
) -> ModuleGrade:
    """Return the grade of a module, or the kept one if it has the digest of files and settings."""
    if not tests:
        return ModuleGrade(path=str(code), verdict="no tests", step="write tests that import it")
    if known and known.sha256 == sha256:
        return known
    try:
        inputs = read_module(code, tests, settings)
        directory = create_check_directory(settings, inputs, None)
        report, error = await check_files(inputs, code, directory, settings, open_box, ignore_event)
        if error is not None:
            raise error
    except InterruptedRunError:
        hint = "the same command continues where this one ended"
        raise InterruptedRunError(f"interrupted; {hint}") from None
    except SandboxError:
        raise
    except GreenloopError as error:
        return ModuleGrade(path=str(code), verdict="not checked", step=str(error))
    return _summarize(code, report, sha256)


def _summarize(code: Path, report: Report, sha256: str) -> ModuleGrade:
    mutation = report.evidence.mutation
    score = mutation.score if mutation and mutation.score is not None else 0.0
    if any("too busy" in reason for reason in report.reasons):
        sha256 = ""  # the next check measures it again
    step, run_dir = next(iter(list_first_steps(report)), ""), report.artifacts.run_dir or ""
    return ModuleGrade(
        path=str(code),
        verdict=report.verdict,
        score=score,
        step=step,
        run_dir=run_dir,
        sha256=sha256,
    )


def _hash(tree: ProjectTree, settings: Settings) -> str:
    options = json.dumps([select_saved_options(settings), vars(settings.thresholds)], default=str)
    return digest("\0".join((greenloop_version(), options, tree.sha256)))
