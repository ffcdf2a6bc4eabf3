"""What a package is called, and which may be used."""

from __future__ import annotations

import pytest

from greenloop.dependencies import AllowList
from greenloop.dependencies.names import imported_by, is_standard, with_import
from greenloop.errors import SettingsError
from greenloop.settings import Settings


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("numpy", "numpy"),
        ("NumPy >= 2.0", "numpy"),
        ("PyYAML", "pyyaml"),
        ("yaml", "pyyaml"),
        ("bs4", "beautifulsoup4"),
        ("BeautifulSoup4", "beautifulsoup4"),
        ("dateutil", "python-dateutil"),
        ("python_dateutil", "python-dateutil"),
        ("PIL", "pillow"),
        ("more.itertools", "more-itertools"),
        ("more_itertools", "more-itertools"),
        ("pydantic[email]", "pydantic"),
        ("requests", None),
        ("", None),
        ("../numpy", None),
    ],
)
def test_a_package_is_found_by_any_of_its_names(said: str, meant: str | None) -> None:
    assert AllowList.of(None).find(said) == meant


def test_a_name_that_does_not_tell_its_import_is_shown_with_it() -> None:
    shown = AllowList.of("PyYAML==6.*, scikit-learn, numpy, more-itertools").shown
    assert shown == (
        "more-itertools",
        "numpy",
        "pyyaml==6.* (import yaml)",
        "scikit-learn (import sklearn)",
    )
    assert with_import("attrs") == "attrs"


def test_what_is_allowed_besides_comes_on_top_and_may_pin() -> None:
    allowed = AllowList.of("numpy,pandas", "numpy>=2,<3,Requests")
    assert allowed.requirements == ("numpy<3,>=2", "pandas", "requests")
    assert allowed.requirements_of({"requests", "numpy"}) == ("numpy<3,>=2", "requests")


def test_none_is_the_standard_library_only() -> None:
    assert AllowList.of("none").requirements == ()
    assert AllowList.of("none", "toolz").requirements == ("toolz",)


def test_the_imports_of_a_source_are_found_wherever_they_stand() -> None:
    source = "import os.path, numpy.linalg as la\nfrom . import x\n\ndef f():\n    from yaml import load\n"
    assert imported_by(source) == {"numpy", "yaml"}
    assert imported_by("def (") == frozenset()
    assert AllowList.of(None).imported(imported_by(source)) == {"numpy", "pyyaml"}


def test_the_standard_library_is_told_apart() -> None:
    assert is_standard("json")
    assert is_standard("os.path")
    assert not is_standard("numpy")


@pytest.mark.parametrize(
    "wrong",
    ["two words", "x @ https://example.org/x.whl", "x; python_version > '3'", "pytest", "-e ."],
)
def test_a_setting_without_meaning_is_refused_at_once(wrong: str) -> None:
    with pytest.raises(SettingsError, match="package"):
        Settings.load(allow_package=wrong)


def test_the_list_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREENLOOP_ALLOWED_PACKAGES", "toolz, NumPy==2.*")
    settings = Settings.load(allow_package="regex")
    assert settings.allow_list.requirements == ("numpy==2.*", "regex", "toolz")
