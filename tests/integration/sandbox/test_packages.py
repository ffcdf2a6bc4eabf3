"""Packages in the sandbox: read-only, isolated from other runs."""

import errno
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from greenloop.dependencies import InstalledPackages, PackageStore
from greenloop.grading import grade
from greenloop.records import InputFile, Project, ScriptJob
from greenloop.sandbox import Sandbox
from greenloop.sandbox.backends.mounts import build_guest_mounts
from greenloop.sandbox.job import HASH_SEED
from tests.support.programs import read_program
from tests.support.wheels import only_wheels_of, wheel

CODE = "import alpha\n\n\ndef double(x):\n    return alpha.twice(x)\n"
TESTS = """
from solution import double
import alpha

def test_double():
    assert double(2) == 4 and alpha.VERSION == {version!r}
"""
ALPHA = """
VERSION = {version!r}

def twice(x):
    return 2 * x
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("wheels")
    for version in ("1.0", "2.0"):
        wheel(folder, "alpha", {"alpha.py": ALPHA.format(version=version)}, version)
    fixture = "import pytest\n\n@pytest.fixture\ndef two():\n    return 2\n"
    wheel(
        folder, "plugged", {"plugged.py": fixture}, entry_points="[pytest11]\nplugged = plugged\n"
    )
    wheel(folder, "broken", {"alpha.py": "1 / 0\n"})
    with pytest.MonkeyPatch.context() as patch:
        only_wheels_of(folder, patch)
        yield folder


@pytest.fixture(scope="module")
def store(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> PackageStore:
    return PackageStore(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def alpha(store: PackageStore) -> InstalledPackages:
    return store.install(["alpha"])


def is_warm(box: Sandbox) -> bool:
    return box.info.backend != "none"


def test_package_is_available_only_with_permission(box: Sandbox, alpha: InstalledPackages) -> None:
    tests = TESTS.format(version="2.0")
    for hash_seed in (0, HASH_SEED):  # warm, and in a new interpreter
        run = box.with_packages(alpha).run_tests(CODE, tests, hash_seed=hash_seed)
        assert run.passed, run
    run = box.run_tests(CODE, tests, module="solution")
    assert run.failures[0].message == "No module named 'alpha'"
    assert grade(box.with_packages(alpha), CODE, tests).flakiness


@pytest.mark.slow
def test_parallel_runs_with_different_packages(box: Sandbox, store: PackageStore) -> None:
    versions = ["1.0", "2.0"] * 4
    boxes = {v: box.with_packages(store.install([f"alpha=={v}"])) for v in set(versions)}

    def one(version: str) -> bool:
        return boxes[version].run_tests(CODE, TESTS.format(version=version)).passed

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(one, versions))


@pytest.mark.slow
def test_broken_package_fails_where_it_is_imported(box: Sandbox, store: PackageStore) -> None:
    broken = box.with_packages(store.install(["broken"]))
    run = broken.run_tests(CODE, TESTS.format(version="2.0"))
    assert "ZeroDivisionError" in {item.exception for item in run.failures}
    assert broken.run_tests("def double(x):\n    return 2 * x\n", ONLY_DOUBLE).passed


ONLY_DOUBLE = "from solution import double\n\ndef test_double():\n    assert double(2) == 4\n"


def test_module_of_the_run_shadows_a_package(box: Sandbox, alpha: InstalledPackages) -> None:
    tests = "from alpha import mine\n\ndef test_mine():\n    assert mine() == 1\n"
    run = box.with_packages(alpha).run_tests("def mine():\n    return 1\n", tests, module="alpha")
    assert run.passed, run


@pytest.mark.slow
def test_pytest_plugins_are_loaded(box: Sandbox, store: PackageStore) -> None:
    plugged = box.with_packages(store.install(["plugged"]))
    tests = "from solution import double\n\ndef test_a(two):\n    assert double(two) == 4\n"
    for hash_seed in (0, 7, HASH_SEED):
        run = plugged.run_tests("def double(x):\n    return 2 * x\n", tests, hash_seed=hash_seed)
        assert run.passed, run


WRITES = read_program(__file__, "WRITES")


def test_package_folder_is_read_only_in_a_sandbox(box: Sandbox, alpha: InstalledPackages) -> None:
    if not is_warm(box):
        pytest.skip("without a sandbox a run may write anywhere")
    (event,) = box.with_packages(alpha).evaluate_calls(WRITES, "solution", ["writes()"]).events
    assert event is not None
    assert event.get("value") in (errno.EROFS, errno.EACCES)


def test_packages_of_the_interpreter_are_hidden_in_a_sandbox(
    box: Sandbox, alpha: InstalledPackages
) -> None:
    if not is_warm(box):
        pytest.skip("without a sandbox the files of this machine can be read")
    if box.info.backend == "landlock":
        pytest.skip("Landlock cannot hide what lies below a folder that may be read")
    if box.info.backend == "container":
        pytest.skip("in a container it is the image's interpreter")
    places = [path for path in build_guest_mounts().hidden if list(Path(path).iterdir())]
    if not places:
        pytest.skip("nothing is installed into this interpreter itself")
    calls = [f"sees({path!r})" for path in places]
    answers = box.with_packages(alpha).evaluate_calls(WRITES, "solution", calls)
    assert [item and item.get("value") for item in answers.events] == [["list"]] * len(places)


@pytest.mark.slow
def test_more_package_sets_than_active_zygotes(box: Sandbox, store: PackageStore) -> None:
    if not is_warm(box):
        pytest.skip("without a sandbox nothing is preloaded")
    sets = [store.install([f"alpha>=0.{n}"]) for n in range(7)]
    for packages in [*sets, sets[0]]:
        run = box.with_packages(packages).run_tests(CODE, TESTS.format(version="2.0"))
        assert run.passed, run


def test_interrupting_a_view_does_not_affect_others(box: Sandbox, alpha: InstalledPackages) -> None:
    hanging = "import time\nfrom solution import double\n\ndef test_it():\n    time.sleep(600)\n"
    one, other = box.with_packages(alpha), box.with_packages(alpha)
    with ThreadPoolExecutor(2) as pool:
        stopped = pool.submit(one.run_tests, CODE, hanging)
        goes_on = pool.submit(other.run_tests, CODE, TESTS.format(version="2.0"))
        while not stopped.done():
            one.interrupt()
        assert goes_on.result(60).passed
        assert stopped.result().ending == "interrupted"
        stopped = pool.submit(other.run_tests, CODE, hanging)
        while not stopped.done():  # interrupting the sandbox ends the runs of all its views
            box.interrupt()
        assert stopped.result().ending == "interrupted"


@pytest.mark.slow
def test_scripts_and_projects_may_use_packages(box: Sandbox, alpha: InstalledPackages) -> None:
    script = ScriptJob(script="import alpha, sys\nprint(alpha.VERSION, 'pytest' in sys.modules)")
    run = box.with_packages(alpha).run_script(script)
    assert (run.stdout, run.exit_status) == ("2.0 False\n", 0), run
    error = box.run_script(script).error
    assert error is not None
    assert (error.exception, error.message) == ("ModuleNotFoundError", "No module named 'alpha'")
    files = (InputFile(path="test_it.py", content=TESTS.format(version="2.0").encode()),)
    code = InputFile(path="src/solution.py", content=CODE.encode())
    project = Project(files=(*files, code))
    assert box.with_packages(alpha).run_project(project).passed
    assert not box.run_project(project).passed
