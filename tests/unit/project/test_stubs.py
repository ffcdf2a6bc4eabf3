"""Stubs for names that tests import before they exist."""

import pytest

from greenloop.project.stubs import stub_missing_names
from tests.support.programs import read_table

SHOP = read_table(__file__, "SHOP")


def stub(test: str) -> dict[str, str]:
    return stub_missing_names(SHOP, {"tests/test_new.py": test}, [])


@pytest.mark.parametrize("test", read_table(__file__, "NO_STUB"))
def test_what_is_there_or_is_not_the_projects_gets_no_stub(test: str) -> None:
    assert stub(test) == {}


def test_a_missing_name_is_added_to_its_module() -> None:
    found = stub("from shop.prices import discount\nfrom shop import total\n")
    assert list(found) == ["src/shop/prices.py"]
    scope: dict[str, object] = {}
    exec(found["src/shop/prices.py"], scope)
    with pytest.raises(NotImplementedError):
        scope["discount"](1, rate=2)  # type: ignore[operator]


def test_a_stub_gives_way_to_a_name_that_the_module_makes_by_other_means() -> None:
    texts = {"m.py": "globals()['made'] = 1\n"}
    scope: dict[str, object] = {}
    exec(stub_missing_names(texts, {"test_m.py": "from m import made"}, [])["m.py"], scope)
    assert scope["made"] == 1


def test_kinds_of_stubs() -> None:
    test = (
        "from shop.prices import Money, TooDear, PriceError, OldWarning, LIMIT\n"
        "import pytest\n\ndef test_x():\n    with pytest.raises(TooDear): ...\n"
    )
    scope: dict[str, type] = {}
    exec(stub(test)["src/shop/prices.py"], scope)
    assert issubclass(scope["TooDear"], Exception)
    assert issubclass(scope["PriceError"], Exception)
    assert issubclass(scope["OldWarning"], Warning)
    assert not isinstance(scope["LIMIT"], type)
    with pytest.raises(NotImplementedError):
        scope["Money"](3)


def test_missing_modules_are_made_in_their_package() -> None:
    found = stub(
        "from shop.vouchers import redeem\nimport shop.other.deep\nimport fresh.inner, fresh\n"
    )
    assert set(found) == {
        "src/shop/vouchers.py",
        "src/shop/other/deep.py",
        "src/fresh/inner.py",
        "src/fresh/__init__.py",
    }
    assert "def redeem" in found["src/shop/vouchers.py"]
    assert found["src/shop/other/deep.py"] == ""


def test_packages_of_the_run_and_modules_below_a_file_get_no_stub() -> None:
    test = {"test_new.py": "import fresh\nimport shop.prices.deep\n"}
    assert stub_missing_names(SHOP, test, ["fresh"]) == {}
    assert stub_missing_names({}, test, ["shop"]) == {"fresh.py": ""}
    # What the project imports is in its environment, whatever its name.
    assert stub_missing_names({"tests/test_old.py": "import fresh"}, test, ["shop"]) == {}
