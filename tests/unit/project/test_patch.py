"""Patches: what `git apply` and `patch -p1` make of them, and what greenloop applies itself."""

import random
from collections.abc import Mapping

import pytest

from greenloop.errors import InputError
from greenloop.project.patch import apply_patch, count_lines, diff_files
from tests.support.patched_files import AFTER, BEFORE, NUMBERS


def without_deleted(texts: Mapping[str, str | None]) -> dict[str, str]:
    return {path: text for path, text in texts.items() if text is not None}


def test_greenloop_applies_a_patch_and_takes_it_back() -> None:
    patch = diff_files(BEFORE, AFTER)
    changed = {path: text for path, text in AFTER.items() if text != BEFORE.get(path)}
    assert apply_patch(BEFORE, patch) == changed
    after = without_deleted({**BEFORE, **AFTER})
    assert apply_patch(after, patch, reverse=True) == {path: BEFORE.get(path) for path in changed}


def test_patches_of_random_texts() -> None:
    rng = random.Random(7)
    for _ in range(150):
        before, after = (
            "".join(
                rng.choice(["a\n", "b\n", "\n", "c\r\n", "-\n"]) for _ in range(rng.randrange(30))
            )
            + rng.choice(["", "end"])
            for _ in range(2)
        )
        patch = diff_files({"f": before}, {"f": after})
        assert apply_patch({"f": before}, patch) == ({"f": after} if before != after else {})


PATCH = diff_files({"f.py": NUMBERS}, {"f.py": NUMBERS.replace("line 7\n", "seven\n")})


@pytest.mark.parametrize(
    ("texts", "patch", "message"),
    [
        ({"f.py": NUMBERS.replace("7", "8")}, PATCH, "does not fit f.py at line 5"),
        ({"f.py": "\n" + NUMBERS}, PATCH, "does not fit f.py at line 5"),
        ({}, PATCH, "f.py, which is not there"),
        ({"f.py": "a\n"}, diff_files({}, {"f.py": "b\n"}), "f.py, which is there already"),
        ({"f.py": "a\nb\n"}, diff_files({"f.py": "a\n"}, {"f.py": None}), "f.py is not empty"),
        ({"f.py": NUMBERS}, PATCH.replace("-5,7 +5,7", "-5,9 +5,9"), "cut off"),
        ({"f.py": NUMBERS}, PATCH + " more\n", "has more lines"),
        ({"f.py": NUMBERS}, PATCH + PATCH[PATCH.index("@@") :], "f.py at line 5"),
        ({"f.py": NUMBERS}, PATCH.replace("b/f.py", "b/g.py"), "renames"),
        ({"f.py": NUMBERS}, PATCH.replace("/f.py", "/../f.py"), "leads out"),
        ({"f.py": NUMBERS}, "no patch at all", "not a patch"),
        ({"f.py": NUMBERS}, PATCH + PATCH, "twice"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(
    texts: dict[str, str], patch: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        apply_patch(texts, patch)


def test_an_empty_patch_changes_nothing() -> None:
    assert diff_files(BEFORE, BEFORE) == ""
    assert apply_patch(BEFORE, "") == {}


def test_names_that_no_patch_can_hold_are_refused() -> None:
    with pytest.raises(InputError, match="name"):
        diff_files({}, {"a\nb.py": "1\n"})


def test_lines_are_counted() -> None:
    found = {path: counts for path, *counts in count_lines(diff_files(BEFORE, AFTER))}
    assert found["plain.py"] == [2, 1]
    assert found["new/one.py"] == [1, 0]
    assert found["gone.py"] == [0, 1]
