"""Package names and the allowlist."""

import pytest

from greenloop.dependencies import PackageAllowlist
from greenloop.dependencies.names import (
    find_imported_modules,
    format_with_import,
    is_standard_library,
)
from greenloop.errors import SettingsError
from greenloop.settings import Settings
from tests.support.programs import read_table


@pytest.mark.parametrize(
    ("said", "meant"),
    read_table(__file__, "NAMES"),
)
def test_package_is_found_by_any_name(said: str, meant: str | None) -> None:
    assert PackageAllowlist.parse(None).find(said) == meant


def test_name_is_shown_with_a_differing_import_name() -> None:
    shown = PackageAllowlist.parse("PyYAML==6.*, scikit-learn, numpy, more-itertools").descriptions
    assert shown == (
        "more-itertools",
        "numpy",
        "pyyaml==6.* (import yaml)",
        "scikit-learn (import sklearn)",
    )
    assert format_with_import("attrs") == "attrs"


def test_additional_packages_extend_the_list_and_may_pin() -> None:
    allowed = PackageAllowlist.parse("numpy,pandas", "numpy>=2,<3,Requests")
    assert allowed.requirements == ("numpy<3,>=2", "pandas", "requests")
    assert allowed.requirements_for({"requests", "numpy"}) == ("numpy<3,>=2", "requests")


def test_none_allows_the_standard_library_only() -> None:
    assert PackageAllowlist.parse("none").requirements == ()
    assert PackageAllowlist.parse("none", "toolz").requirements == ("toolz",)


def test_imports_are_found_anywhere_in_a_source() -> None:
    source = "import os.path, numpy.linalg as la\nfrom . import x\n\ndef f():\n    from yaml import load\n"
    assert find_imported_modules(source) == {"numpy", "yaml"}
    assert find_imported_modules("def (") == frozenset()
    assert PackageAllowlist.parse("none", "ipython").find_imported({"IPython"}) == {"ipython"}
    assert PackageAllowlist.parse(None).find_imported(find_imported_modules(source)) == {
        "numpy",
        "pyyaml",
    }


def test_a_mark_of_a_plugin_imports_the_plugin() -> None:
    """Tests need not import pytest-asyncio: their marks do nothing without it."""
    source = "import pytest\n\npytestmark = pytest.mark.anyio\n\n@pytest.mark.asyncio\nasync def test_a(): ...\n"
    found = PackageAllowlist.parse(None).find_imported(find_imported_modules(source))
    assert found == {"anyio", "pytest-asyncio"}
    assert find_imported_modules("import asyncio\nx = asyncio.mark\ny = x.asyncio\n") == frozenset()


def test_standard_library_is_recognized() -> None:
    assert is_standard_library("json")
    assert is_standard_library("os.path")
    assert not is_standard_library("numpy")


@pytest.mark.parametrize(
    "wrong",
    ["two words", "x @ https://example.org/x.whl", "x; python_version > '3'", "pytest", "-e ."],
)
def test_invalid_setting_is_rejected(wrong: str) -> None:
    with pytest.raises(SettingsError, match="package"):
        Settings.load(allow_package=wrong)


def test_allowlist_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREENLOOP_ALLOWED_PACKAGES", "toolz, NumPy==2.*")
    settings = Settings.load(allow_package="regex")
    assert settings.allow_list.requirements == ("numpy==2.*", "regex", "toolz")
