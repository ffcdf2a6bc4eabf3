"""Mending of generated tests without a model."""

import pytest

from greenloop.testsuite.mending import mend_tests, wrap_assertions

TEST = "def test_one():\n    assert f(1) == 2\n"
RIGHT = f"from m import f\n\n{TEST}"


def test_right_tests_stay_as_they_are() -> None:
    assert mend_tests(RIGHT, "m", ["f"]) == RIGHT


@pytest.mark.parametrize(
    "source",
    [
        TEST,
        f"from solution import f\n{TEST}",
        f"from your_module import f\nimport pytest\n{TEST}",
        f"def f(n):\n    return n + 1\n\n\n{TEST}",
        f"{RIGHT}\n\ndef test_two(:\n    assert\n",
        f"def test_two(:\n    assert\n\n{RIGHT}",
    ],
)
def test_names_come_from_the_module_and_broken_tests_are_dropped(source: str) -> None:
    mended = mend_tests(source, "m", ["f"])
    assert "from m import f\n" in mended
    assert "def test_one" in mended
    for gone in ("solution", "your_module", "return n + 1", "test_two"):
        assert gone not in mended
    compile(mended, "t", "exec")


def test_decorated_tests_are_dropped_whole() -> None:
    broken = '@pytest.mark.parametrize("n", [1\ndef test_two(n):\n    assert f(n)\n'
    mended = mend_tests(f"import pytest\nfrom m import f\n{TEST}\n{broken}", "m", ["f"])
    assert "test_two" not in mended
    assert "test_one" in mended


def test_other_imports_stay() -> None:
    source = f"from fractions import Fraction\nimport m\n{TEST}"
    assert mend_tests(source, "m", ["f"]) == source


def test_bare_assertions_become_tests() -> None:
    made = wrap_assertions(
        "from m import f\nassert f(1) == 2\nassert f(2) == 4  # twice\nassert f("
    )
    assert made == (
        "from m import f\n\n\ndef test_1():\n    assert f(1) == 2\n\n\ndef test_2():\n"
        "    assert f(2) == 4\n"
    )
    made = wrap_assertions("s = S()\nassert s.size() == 0\ns.push(1)\nassert s.size() == 1")
    assert made.count("def test_") == 1
    assert made.splitlines()[-1] == "    assert s.size() == 1"
    for kept in ("def test_x():\n    assert f(1) == 2\n", "def f():\n    return 1\n"):
        assert wrap_assertions(kept) == kept
