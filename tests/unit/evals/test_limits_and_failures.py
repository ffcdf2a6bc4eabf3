"""Limits of data sets, and failures of test files."""

import pytest

from greenloop.evals.hidden_tests import adapt_settings_to_format
from greenloop.evals.task_store import find_test_file_error
from greenloop.records import Failure, TestRun
from greenloop.settings import Settings
from tests.support.programs import read_table


def test_evalplus_has_its_own_default_limits() -> None:
    default, adapted = Settings(), adapt_settings_to_format(Settings(), "evalplus")
    assert (adapted.timeout_s, adapted.memory_mb) == (120, 4096)
    assert adapt_settings_to_format(default, "mbpp") == default
    given = adapt_settings_to_format(Settings.load(timeout_s=5, memory_mb=512), "evalplus")
    assert (given.timeout_s, given.memory_mb) == (5, 512)


@pytest.mark.parametrize(
    ("exception", "message", "phase", "broken"), read_table(__file__, "COLLECTION")
)
def test_collection_failures_are_attributed_to_the_test_file(
    exception: str, message: str, phase: str, broken: bool
) -> None:
    failure = Failure.model_validate(
        {"test": "test_m.py", "phase": phase, "exception": exception, "message": message}
    )
    found = find_test_file_error(TestRun(ending="timeout", failures=(failure,)), "m")
    assert found == (failure if broken else None)
