"""The public Python API: every exported name is listed here, exists and is documented."""

import importlib
import inspect

import pytest

from tests.support.programs import read_table

# A name is added here together with a line in CHANGELOG.md; none is removed without a release
# in which it warns.
PUBLIC_NAMES = read_table(__file__, "PUBLIC_NAMES")
NAMES = [(module, name) for module, names in PUBLIC_NAMES.items() for name in names]


@pytest.mark.parametrize("module", PUBLIC_NAMES)
def test_a_public_module_exports_the_listed_names(module: str) -> None:
    assert sorted(importlib.import_module(module).__all__) == PUBLIC_NAMES[module]


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_a_public_name_is_documented(module: str, name: str) -> None:
    value = getattr(importlib.import_module(module), name)
    assert inspect.getdoc(value), f"{module}.{name} has no docstring"


@pytest.mark.parametrize("statement", read_table(__file__, "RE_EXPORTS"))
def test_a_checkout_re_exports_what_tutorials_import(statement: str) -> None:
    exec(statement, {})


@pytest.mark.parametrize("name", ["coding_tools", "CodingAgent"])
def test_an_unknown_keyword_is_an_error_that_names_the_nearest(name: str) -> None:
    function = getattr(importlib.import_module("greenloop"), name)
    with pytest.raises(TypeError, match=r"'setings'.*'settings'"):
        function(setings=None)
