"""Python API: checks as functions."""

import tempfile
from collections.abc import Callable, Coroutine, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from typing_extensions import Unpack

from greenloop.app.check import CheckResult, OpenSandbox, check_files, create_check_directory
from greenloop.app.check_diff import check_diff, create_diff_directory
from greenloop.app.inputs.project_module import read_module
from greenloop.errors import InputError
from greenloop.events import ignore_event
from greenloop.files import read_text
from greenloop.project.diff import find_default_branch, read_diff
from greenloop.records import Report
from greenloop.sandbox import Sandbox, open_sandbox
from greenloop.settings import Settings
from greenloop.settings.keywords import SettingsKeywords
from greenloop.testsuite.module_under_test import find_imported_module
from greenloop.threads import run_in_any_thread


def check(
    code: str | Path, tests: str | Path | Sequence[Path], **settings: Unpack[SettingsKeywords]
) -> Report:
    """Run tests on code and grade both, without a model. It can be called from any thread.

    `code` and `tests` are source texts or paths of files; `tests` may be several paths. `settings`
    are fields of `Settings`.

    Raises:
        GreenloopError: the input cannot be used, or there is no sandbox.
    """
    loaded = Settings.load(**settings)
    with tempfile.TemporaryDirectory(prefix="greenloop-") as folder:
        file, found = _place_files(Path(folder), code, tests, loaded)
        inputs = read_module(file, found, loaded)
        directory = create_check_directory(loaded, inputs, None)

        def work(open_box: OpenSandbox) -> Coroutine[Any, Any, CheckResult]:
            return check_files(inputs, file, directory, loaded, open_box, ignore_event)

        return _run(work, loaded)


def check_changes(
    folder: str | Path = ".", base: str | None = None, **settings: Unpack[SettingsKeywords]
) -> Report:
    """Grade the lines of a project that have changed since a commit, with all its tests.

    `base` is a commit, a branch or a tag; the default is the default branch of the repository.
    `settings` are fields of `Settings`.

    Raises:
        GreenloopError: the input cannot be used, or there is no sandbox.
    """
    loaded, root = Settings.load(**settings), Path(folder)
    diff = read_diff(root, base or find_default_branch(root))
    directory = create_diff_directory(loaded, diff, None)
    return _run(
        lambda open_box: check_diff(diff, directory, loaded, open_box, ignore_event), loaded
    )


def _place_files(
    folder: Path, code: str | Path, tests: str | Path | Sequence[Path], settings: Settings
) -> tuple[Path, list[Path]]:
    """Return the files of code and tests; source texts are written into a folder."""
    if isinstance(tests, str) and not _is_path(tests):
        name = find_imported_module(tests, settings.allow_list.import_names)
        if name is None and not _is_path(code):
            raise InputError("the tests import no module under test")
        found = [folder / f"test_{name or Path(code).stem}.py"]
        found[0].write_text(tests, encoding="utf-8")
    else:
        found = [Path(tests)] if isinstance(tests, str | Path) else list(map(Path, tests))
        texts = (read_text(item) for item in found if item.is_file())
        packages = settings.allow_list.import_names
        name = next((n for text in texts if (n := find_imported_module(text, packages))), None)
    if _is_path(code):
        return Path(code), found
    if name is None:
        raise InputError("the tests import no module under test")
    file = folder / f"{name}.py"
    file.write_text(str(code), encoding="utf-8")
    return file, found


def _is_path(text: str | Path) -> bool:
    return isinstance(text, Path) or ("\n" not in text and text.endswith(".py"))


def _run(
    work: Callable[[OpenSandbox], Coroutine[Any, Any, CheckResult]], settings: Settings
) -> Report:
    """Run a check. Raises the error that ended it, with the report as an attribute."""
    with ExitStack() as stack:

        async def open_box() -> Sandbox:
            return stack.enter_context(open_sandbox(settings))

        result: CheckResult = run_in_any_thread(work(open_box))
    report, error = result
    if error is not None:
        error.report = report
        raise error
    return report
