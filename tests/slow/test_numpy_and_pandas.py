"""Real packages from the registry, within the default limits of a run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from greenloop.dependencies import InstalledPackages, PackageStore
from greenloop.errors import PackagesError
from greenloop.sandbox import Sandbox
from greenloop.sandbox.job import HASH_SEED
from greenloop.sandbox.limits import ResourceLimits
from tests.integration.sandbox.conftest import list_tested_kinds, make_sandbox
from tests.support.programs import read_program

CODE = read_program(__file__, "CODE")
TESTS = read_program(__file__, "TESTS")


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> InstalledPackages:
    try:
        return PackageStore(tmp_path_factory.mktemp("cache")).install(["numpy", "pandas"])
    except PackagesError as error:
        pytest.skip(f"no registry here: {error}")


@pytest.fixture(scope="module", params=list_tested_kinds())
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with make_sandbox(request.param, ResourceLimits()) as opened:
        yield opened


def test_numpy_and_pandas_run_in_every_sandbox(box: Sandbox, packages: InstalledPackages) -> None:
    mine = box.with_packages(packages)
    for hash_seed in (0, 0, HASH_SEED):
        run = mine.run_tests(CODE, TESTS, hash_seed=hash_seed)
        assert run.passed, run
    event = mine.evaluate_calls(CODE, "solution", ["numbers()"]).events[0]
    assert event is not None
    plain, objects = event["value"][1:5], event["value"][5:]
    assert plain == [3, ["float", (0.5).hex()], True, "x"]
    assert [item[0] for item in objects] == ["object", "ndarray"]


def test_their_wheels_are_named(packages: InstalledPackages) -> None:
    found = dict(packages.versions)
    assert {"numpy", "pandas", "python-dateutil"} <= set(found)
    assert all(len(text.partition(" sha256:")[2]) == 64 for text in found.values())
    assert {"numpy", "pandas", "dateutil"} <= packages.import_names
    assert list(Path(packages.folder).rglob("*.pyc"))
