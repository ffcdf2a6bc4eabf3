"""Cache of installed packages."""

from pathlib import Path

import pytest

from greenloop.dependencies import PackageStore
from greenloop.errors import PackagesError
from tests.integration.dependencies.conftest import list_left_over
from tests.support.wheels import wheel


def test_dependencies_are_installed(wheels: Path, store: PackageStore) -> None:
    first = wheel(wheels, "Alpha", {"alpha/__init__.py": "import beta\n"}, requires=["beta>=2"])
    wheel(wheels, "beta", {"beta.py": "OLD = 1\n"}, "1.0")
    second = wheel(wheels, "beta", {"beta.py": "NEW = 1\n"}, "2.1")
    installed = store.install(["alpha"])
    assert dict(installed.versions) == {
        "alpha": f"1.0 sha256:{first}",
        "beta": f"2.1 sha256:{second}",
    }
    assert installed.names == ("alpha",)
    assert {"alpha", "beta"} <= installed.import_names
    assert "NEW" in (Path(installed.folder) / "beta.py").read_text()
    assert list((Path(installed.folder) / "alpha" / "__pycache__").glob("*.pyc"))
    assert list_left_over(store) == []


def test_cached_set_needs_no_installation(wheels: Path, store: PackageStore) -> None:
    wheel(wheels, "alpha", {"alpha.py": ""})
    first = store.install(["alpha"])
    (wheels / "alpha-1.0-py3-none-any.whl").unlink()
    assert store.install(["alpha"]) == first
    assert store.find(["alpha"]) == first


def get_refusal(store: PackageStore, requirement: str) -> str:
    with pytest.raises(PackagesError) as caught:
        store.install([requirement])
    assert caught.value.exit_status == 4
    assert list_left_over(store) == []
    assert store.list_folders() == []
    return str(caught.value)


def test_package_without_a_wheel_is_named(wheels: Path, store: PackageStore) -> None:
    (wheels / "beta-1.0.tar.gz").write_bytes(b"no code of a package runs while it is installed")
    assert "there is no wheel of beta" in get_refusal(store, "beta")
    wheel(wheels, "gamma", {"gamma.py": ""}, requires=["beta"])
    assert "there is no wheel of beta" in get_refusal(store, "gamma")


def test_missing_network_is_reported_in_one_line(
    store: PackageStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX"):
        monkeypatch.delenv(name, raising=False)
    said = get_refusal(store, "alpha")
    assert said.startswith("alpha cannot be installed: no package registry can be reached")
    assert "\n" not in said


def test_version_conflict_is_reported(wheels: Path, store: PackageStore) -> None:
    wheel(wheels, "alpha", {"alpha.py": ""}, requires=["beta<2"])
    for version in ("1.0", "2.0"):
        wheel(wheels, "beta", {"beta.py": ""}, version)
    with pytest.raises(PackagesError, match=r"alpha, beta>=2 cannot be installed: ResolutionImp"):
        store.install(["alpha", "beta>=2"])


def test_pytest_version_of_runs_is_kept(wheels: Path, store: PackageStore) -> None:
    wheel(wheels, "pytest", {"pytest.py": ""}, "0.1")
    wheel(wheels, "alpha", {"alpha.py": ""}, requires=["pytest"])
    assert "alpha cannot be installed" in get_refusal(store, "alpha")
