"""Results of earlier calls of a batch, judged by the settings of this call."""

from pathlib import Path
from typing import Any

import pytest

from greenloop.batch.earlier_runs import EarlierRuns
from greenloop.batch.entries import Entry
from greenloop.batch.results import RESULTS_FILE, append_line
from greenloop.records.batch import BatchOutcome
from greenloop.settings import Settings
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.storage.request import select_saved_options
from tests.support.programs import read_table

TABLE = read_table(__file__, "what_an_earlier_run_means_now")


@pytest.mark.parametrize(("verdict", "now", "status", "same_place"), TABLE.values(), ids=TABLE)
def test_an_earlier_run_counts_for_the_goal_and_options_of_this_call(
    verdict: Any, now: dict[str, Any], status: int | None, same_place: bool, tmp_path: Path
) -> None:
    entry, before = Entry(id="a", text="Write f"), Settings(model="openai:a")
    place = EarlierRuns.open(tmp_path, before).find_directory(entry)
    place.save_request(MakeRequest(specification="f", options=select_saved_options(before)))
    known = {"id": entry.id, "sha256": entry.sha256, "run_dir": str(place.path)}
    outcome = BatchOutcome(**known, kind="missed", exit_status=1, verdict=verdict)
    append_line(tmp_path / RESULTS_FILE, outcome)
    earlier = EarlierRuns.open(tmp_path, before.model_copy(update=now))
    found = earlier.find_outcome(entry)
    assert (found and found.exit_status) == status
    assert (earlier.find_directory(entry).path == place.path) == same_place
