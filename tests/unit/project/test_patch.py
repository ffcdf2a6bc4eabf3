"""Patches: what `git apply` and `patch -p1` make of them, and what greenloop applies itself."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from greenloop.errors import InputError
from greenloop.project.patch import apply_patch, count_lines, diff_files

NUMBERS = "".join(f"line {n}\n" for n in range(40))
BEFORE = {
    "plain.py": NUMBERS,
    "crlf.py": "a\r\nb\r\nc\r\n",
    "no_end.py": "x = 1\ny = 2",
    "gets_end.py": "x = 1",
    "loses_end.py": "x = 1\n",
    "gone.py": "print()\n",
    "gone_without_end.py": "print()",
    "deep/er/übung.py": "é = '\u2028 \x0c'\n",
    "with space.py": "a\n",
    "odd.py": "-- a\n++ b\n@@ -1 +1 @@\ndiff --git a/x b/x\n\r\n",
    "empties.py": "a\n",
    "fills.py": "",
    "stays.py": "1\n",
}
AFTER: dict[str, str | None] = {
    "plain.py": NUMBERS.replace("line 3\n", "").replace("line 30\n", "line 30\nmore\n") + "end\n",
    "crlf.py": "a\r\nB\r\nc\r\nd\r\n",
    "no_end.py": "x = 1\ny = 3",
    "gets_end.py": "x = 1\n",
    "loses_end.py": "x = 1",
    "gone.py": None,
    "gone_without_end.py": None,
    "deep/er/übung.py": "é = '\u2028 \x0c\x0b'\n",
    "with space.py": "b\n",
    "odd.py": "-- a\n+++ b\n@@ -1 +1 @@\ndiff --git a/y b/y\n\r\n",
    "empties.py": "",
    "fills.py": "a",
    "stays.py": "1\n",
    "new/one.py": "a = 1\n",
    "new/without_end.py": "a = 1",
    "new/crlf.py": "a = 1\r\n",
}


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
        ({"f.py": NUMBERS}, "no patch at all", "no patch"),
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
