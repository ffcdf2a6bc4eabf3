"""What is healed goes back where it came from; what a script made, where it was asked for."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from greenloop.errors import InputError, OutputError
from greenloop.records import Report
from greenloop.scripts.sources import SourceFile
from greenloop.way.leaving import Approve
from greenloop.way.request import RunRequest
from greenloop.way.run_dir import RunDirectory, write_atomically
from greenloop.way.state import RunState


def with_made(report: Report, directory: RunDirectory, state: RunState) -> Report:
    """The report with the files that its script made saved in the run directory.

    Raises:
        OutputError: the run directory does not take them.
    """
    run = state.script_runs.of(report.final_code)
    if run is None or not run.made:
        return report
    folder = directory.best / "made"
    try:
        shutil.rmtree(folder, ignore_errors=True)
        for item in run.made:
            if item.content is not None:
                path = folder / item.path
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(item.content)
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {error.strerror or error}") from None
    return report.model_copy(
        update={"artifacts": report.artifacts.model_copy(update={"made": str(folder)})}
    )


def hand_over_script(report: Report, request: RunRequest, approve: Approve) -> Report:
    """The script to `--output`, what it made to `--artifacts`.

    Raises:
        OutputError: a file cannot be written.
    """
    places = report.artifacts
    if request.output and approve(Path(request.output), report.final_code):
        write_atomically(Path(request.output), report.final_code)
        places = places.model_copy(update={"output": request.output})
    wanted = request.script.artifacts if request.script else None
    if wanted and places.made:
        _copy(Path(places.made), Path(wanted))
        places = places.model_copy(update={"made": wanted})
    return report.model_copy(update={"artifacts": places})


def _copy(made: Path, wanted: Path) -> None:
    try:
        shutil.copytree(made, wanted, dirs_exist_ok=True)
    except (OSError, shutil.Error) as error:
        raise OutputError(f"--artifacts {wanted} cannot be written: {error}") from None


def hand_over_healed(
    report: Report, request: RunRequest, approve: Approve, directory: RunDirectory
) -> Report:
    """The healed file in the place of the first one, or to `--output`; as it was in all else.

    A copy of the first one is kept in the run directory.

    Raises:
        OutputError: the file changed while it was being healed, or cannot be written.
    """
    original = request.original
    if original is None or report.final_code == original.text:
        return report
    source = _unchanged(original.path, original.sha256)
    target = Path(request.output or original.path)
    if not approve(target, source.kept(report.final_code)):
        return report
    kept = _keep(directory, Path(original.path))
    source.write(target, report.final_code)
    update: dict[str, str] = {"output": str(target), "original": str(kept)}
    return report.model_copy(update={"artifacts": report.artifacts.model_copy(update=update)})


def _unchanged(path: str, sha256: str) -> SourceFile:
    try:
        found = SourceFile.read(Path(path))
        same = hashlib.sha256(Path(path).read_bytes()).hexdigest() == sha256
    except (InputError, OSError) as error:
        raise OutputError(f"{path} is not there as it was: {error}; nothing was written") from None
    if not same:
        raise OutputError(f"{path} was changed while it was being healed; nothing was written")
    return found


def _keep(directory: RunDirectory, path: Path) -> Path:
    kept = directory.path / "original" / path.name
    try:
        kept.parent.mkdir(exist_ok=True)
        shutil.copy2(path, kept)
    except OSError as error:
        raise OutputError(f"{kept} cannot be written: {error.strerror or error}") from None
    return kept
