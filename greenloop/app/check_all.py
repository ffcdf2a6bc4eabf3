"""Checks of all modules of a folder, one after the other; a result is kept until a file changes."""

import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from greenloop.app.check import check_files, create_check_directory
from greenloop.app.inputs.check_files import CheckInputs
from greenloop.app.inputs.project_module import read_module
from greenloop.errors import GreenloopError, InputError, InterruptedRunError, SandboxError
from greenloop.events import ignore_event
from greenloop.project.tree import read_tree
from greenloop.records import Report
from greenloop.reporting.evidence.text import list_first_steps
from greenloop.sandbox import Sandbox
from greenloop.settings import Settings
from greenloop.testsuite.parser import is_test_path
from greenloop.versions import greenloop_version
from greenloop.workflow.storage.request import digest, select_saved_options

_ORDER = ("failed", "not checked", "no tests", "passed", "verified")


@dataclass(frozen=True)
class ModuleGrade:
    """What a module's tests are worth; `score` is the share of mutants that they notice."""

    path: str
    verdict: str  # of the report, or "no tests", "not checked"
    score: float
    step: str = ""  # the first thing to do
    run_dir: str = ""
    sha256: str = ""  # of code, tests and settings


def ignore_grade(grade: ModuleGrade) -> None:
    """Show nothing."""


async def check_modules(
    folder: Path,
    settings: Settings,
    open_box: Callable[[], Awaitable[Sandbox]],
    show: Callable[[ModuleGrade], None] = ignore_grade,
) -> list[ModuleGrade]:
    """Return the grades of all modules, the weakest first; `show` gets each as it is known.

    Raises:
        InputError: there is no module in the folder.
        SandboxError: the sandbox cannot be opened.
    """
    store = _Store(settings.home / "checks.jsonl")
    opened: list[Sandbox] = []

    async def open_once() -> Sandbox:
        if not opened:
            opened.append(await open_box())
        return opened[0]

    grades = []
    for code, tests in _find_modules(folder):
        grade = await _check_module(code, tests, settings, open_once, store)
        show(grade)
        grades.append(grade)
    if not grades:
        raise InputError(f"{folder}: there is no module to check")
    return sorted(grades, key=lambda item: (_ORDER.index(item.verdict), item.score, item.path))


def format_grade(item: ModuleGrade) -> str:
    """Return a grade in one line."""
    score = f"{item.score:4.0%}" if item.verdict in ("passed", "verified") else "    "
    return f"{item.verdict:11} {score}  {item.path}" + (f"  {item.step}" if item.step else "")


def _find_modules(folder: Path) -> Iterator[tuple[Path, list[Path]]]:
    """Yield modules, and the test files that name them."""
    texts = read_tree(folder).texts
    tests = {path: text for path, text in texts.items() if is_test_path(path)}
    for path, text in sorted(texts.items()):
        name = Path(path).parent.name if Path(path).stem == "__init__" else Path(path).stem
        if path in tests or name in ("conftest", "setup") or "def " not in text:
            continue
        about = [folder / item for item, code in tests.items() if _names(code, name)]
        yield folder / path, [item for item in about if item.name != "conftest.py"]


def _names(code: str, name: str) -> bool:
    lines = (item for item in code.splitlines() if "import" in item)
    return any(name in line.replace(".", " ").replace(",", " ").split() for line in lines)


async def _check_module(
    code: Path,
    tests: list[Path],
    settings: Settings,
    open_box: Callable[[], Awaitable[Sandbox]],
    store: "_Store",
) -> ModuleGrade:
    """Return the grade of a module, the kept one where nothing has changed."""
    if not tests:
        return ModuleGrade(str(code), "no tests", 0.0, "write tests that import it")
    try:
        inputs = read_module(code, tests, settings)
        sha256 = _hash(inputs, settings)
        if known := store.find(str(code), sha256):
            return known
        directory = create_check_directory(settings, inputs, None)
        report, error = await check_files(inputs, code, directory, settings, open_box, ignore_event)
        if error is not None:
            raise error
    except (SandboxError, InterruptedRunError):
        raise
    except GreenloopError as error:
        return ModuleGrade(str(code), "not checked", 0.0, str(error))
    grade = _summarize(code, report, sha256)
    store.add(grade)
    return grade


def _summarize(code: Path, report: Report, sha256: str) -> ModuleGrade:
    mutation = report.evidence.mutation
    score = mutation.score if mutation and mutation.score is not None else 0.0
    step, run_dir = next(iter(list_first_steps(report)), ""), report.artifacts.run_dir or ""
    return ModuleGrade(str(code), report.verdict, score, step, run_dir, sha256)


def _hash(inputs: CheckInputs, settings: Settings) -> str:
    files = [f"{item.name}\n{item.code}" for item in inputs.tests]
    options = json.dumps([select_saved_options(settings), vars(settings.thresholds)], default=str)
    return digest("\0".join((greenloop_version(), options, inputs.code, *files)))


class _Store:
    """Grades that are kept, a line each; the last one of a module counts."""

    def __init__(self, path: Path) -> None:
        self._path, self._known = path, dict[str, ModuleGrade]()
        with suppress(OSError, ValueError, TypeError):
            for line in path.read_text("utf-8").splitlines():
                item = ModuleGrade(**json.loads(line))
                self._known[item.path] = item

    def find(self, path: str, sha256: str) -> ModuleGrade | None:
        known = self._known.get(path)
        return known if known and known.sha256 == sha256 else None

    def add(self, grade: ModuleGrade) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(vars(grade)) + "\n")
