"""Earlier runs of the entries of a batch: which results still count, and where a run goes on."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from greenloop.batch.entries import Entry
from greenloop.batch.results import RESULTS_FILE, read_lines
from greenloop.errors import InputError
from greenloop.records.batch import BatchOutcome
from greenloop.records.report import is_enough
from greenloop.settings import Settings
from greenloop.workflow.kinds import load_request
from greenloop.workflow.storage.request import SavedOptions, digest, select_deciding_options
from greenloop.workflow.storage.run_dir import RunDirectory

_MODELS = ("model", "fallback_model")


@dataclass(frozen=True)
class EarlierRuns:
    """Runs of earlier calls in the folder of a batch, judged by the settings of this call."""

    folder: Path
    outcomes: Mapping[tuple[str, str], BatchOutcome]  # of completed runs, by id and digest
    settings: Settings

    @classmethod
    def open(cls, folder: Path, settings: Settings) -> "EarlierRuns":
        results = read_lines(folder / RESULTS_FILE, BatchOutcome)
        ended = (item for item in results if item.kind in ("reached", "missed"))
        return cls(folder / "runs", {(item.id, item.sha256): item for item in ended}, settings)

    def find_outcome(self, entry: Entry) -> BatchOutcome | None:
        """Return the outcome of an entry if an earlier call completed it, else None.

        A goal that was missed with other options is tried again.
        """
        found = self.outcomes.get((entry.id, entry.sha256))
        if found is None:
            return None
        is_reached = self._is_reached(found)
        if is_reached and entry.output is not None:
            return None  # the lock shows that code was written; without it, deliver again
        options = select_deciding_options(self.settings)
        if not is_reached and self._has_other(options, self._directory_of(found)):
            return None
        return found.model_copy(update={"kind": "done before", "exit_status": int(not is_reached)})

    def find_directory(self, entry: Entry) -> RunDirectory:
        """Return the directory of the entry's run, which goes on there if it exists.

        A run that missed its goal begins anew with another model, whose answers have their own log.
        """
        found = self.outcomes.get((entry.id, entry.sha256))
        if found is not None and self._is_reached(found):
            return self._directory_of(found)
        models = {name: getattr(self.settings, name) for name in _MODELS}
        directory = RunDirectory(self.folder / entry.slug)
        if found is not None and self._has_other(models, directory):
            suffix = digest("\0".join(map(str, models.values())))[:8]
            return RunDirectory(self.folder / f"{entry.slug}-{suffix}")
        return directory

    def _is_reached(self, found: BatchOutcome) -> bool:
        return is_enough(found.verdict or "", self.settings.require or "passed")

    def _directory_of(self, found: BatchOutcome) -> RunDirectory:
        return RunDirectory(self.folder / Path(found.run_dir).name)  # the batch may have been moved

    def _has_other(self, options: SavedOptions, directory: RunDirectory) -> bool:
        """Return whether a run had other options; one whose request cannot be read had."""
        try:
            saved = load_request(directory).options
        except InputError:
            return True
        return any(saved.get(name) != value for name, value in options.items())
