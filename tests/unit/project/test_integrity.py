"""What a patch may not change unasked, its fence, and its public signatures."""

import pytest

from greenloop.project.integrity import explain_guard, is_in_fence, list_public_changes
from tests.support.programs import read_table


@pytest.mark.parametrize(("path", "reason"), read_table(__file__, "GUARDED"))
def test_files_that_decide_how_code_is_judged_are_guarded(path: str, reason: str) -> None:
    assert reason in explain_guard(path, ["src/shop/__init__.py"])


@pytest.mark.parametrize(
    "path", ["src/shop/prices.py", "src/shop/json.py", "queue.py", "docs/index.md", "src/conf.py"]
)
def test_other_files_are_not(path: str) -> None:
    assert explain_guard(path, ["src/shop/__init__.py", "queue.py"]) == ""


@pytest.mark.parametrize(("path", "fence", "is_in"), read_table(__file__, "FENCE"))
def test_fence(path: str, fence: list[str], is_in: bool) -> None:
    assert is_in_fence(path, fence) is is_in


def test_public_signatures_that_differ_are_named() -> None:
    before = {
        "m.py": "def gone(a): ...\ndef same(a): return 1\ndef wider(a): ...\ndef _own(a): ...\nX = 1\n"
        "class C:\n    @property\n    def size(self): ...\n    def _own(self): ...\n",
        "test_m.py": "def test_x(): ...\n",
        "pkg/_private.py": "def f(): ...\n",
        "dropped.py": "def left(): ...\n",
    }
    after: dict[str, str | None] = {
        "m.py": "def same(a): return 2\ndef wider(a, b=0): ...\ndef _own(): ...\nX = 2\n"
        "class C:\n    def size(self): ...\n    def _own(self, b): ...\nasync def new(*, k): ...\n",
        "test_m.py": "",
        "pkg/_private.py": "",
        "dropped.py": None,
    }
    assert list_public_changes(before, after) == (
        "dropped.py: removed: def left()",
        "m.py: removed: def gone(a)",
        "m.py: def wider(a) → def wider(a, b=0)",
        "m.py: @property def C.size(self) → def C.size(self)",
        "m.py: added: async def new(*, k)",
    )
