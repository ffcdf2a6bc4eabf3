"""Changes of configuration by which fewer tests count are named."""

import pytest

from greenloop.project.weakening.configuration import (
    find_loosened_configuration,
    selects_tests,
)
from tests.support.programs import read_table

PYTEST = "[tool.pytest.ini_options]\n"


@pytest.mark.parametrize(("path", "before", "after", "said"), read_table(__file__, "LOOSENED"))
def test_a_loosened_configuration_is_named(path: str, before: str, after: str, said: str) -> None:
    found = list(find_loosened_configuration({path: before}, {path: after}))
    assert len(found) == 1
    assert said in found[0]
    assert found[0].startswith(path)


@pytest.mark.parametrize(("path", "before", "after"), read_table(__file__, "AS_STRICT"))
def test_another_configuration_is_not_named(path: str, before: str, after: str) -> None:
    assert not list(find_loosened_configuration({path: before}, {path: after}, ["tests/a.py"]))


def test_settings_that_moved_to_another_file_are_not_named() -> None:
    ini = {"setup.cfg": "[tool:pytest]\ntestpaths = tests\nxfail_strict = true\n"}
    toml = {"pyproject.toml": f"{PYTEST}testpaths = ['tests']\nxfail_strict = true\n"}
    assert not list(find_loosened_configuration(ini, toml))
    weak = {"pyproject.toml": f"{PYTEST}testpaths = ['tests']\n"}
    assert "xfail_strict" in next(find_loosened_configuration(ini, weak))


@pytest.mark.parametrize(("path", "text", "expected"), read_table(__file__, "SELECTING"))
def test_tests_may_be_missing_only_if_options_leave_them_out(
    path: str, text: str, *, expected: bool
) -> None:
    assert selects_tests({path: text.encode()}) is expected
