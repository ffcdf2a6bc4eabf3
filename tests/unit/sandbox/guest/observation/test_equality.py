"""An equality is that of a record only where it compares what is in the fields."""

from __future__ import annotations

import sys
import textwrap
import types
from typing import Any

import pytest

from greenloop.sandbox.guest.observation.classes import find_equality
from tests.support.programs import read_table

_HEAD = "from dataclasses import InitVar, dataclass, field\nimport types\n"


def define(monkeypatch: pytest.MonkeyPatch, code: str) -> Any:
    """Return the class `C` of a module, compiled as a file."""
    module = types.ModuleType("m")
    monkeypatch.setitem(sys.modules, "m", module)
    exec(compile(_HEAD + textwrap.dedent(code), "/work/m.py", "exec"), vars(module))
    return vars(module)["C"]


@pytest.mark.parametrize("code", read_table(__file__, "FIELDS"))
def test_a_record_compares_its_fields(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    assert find_equality(define(monkeypatch, code)) == "record"


_RECORD = "@dataclass\nclass C:\n    x: int\n"
_OTHER = "@dataclass\nclass B:\n    y: int\n"


@pytest.mark.parametrize(
    "code",
    [
        f"{_RECORD}    def __eq__(self, other): return True",
        f"{_RECORD}    def __ne__(self, other): return True",
        f"{_RECORD}    def __getattribute__(self, name): return 0",
        f"NotImplemented = True\n{_RECORD}",
        f"{_RECORD}C.x = property(lambda self: 0, lambda self, value: None)",
        f"{_OTHER}{_RECORD}C.__eq__ = B.__eq__",
        f"@dataclass\nclass B: pass\n{_RECORD}C.__eq__ = B.__eq__",
        f"{_OTHER}@dataclass(eq=False)\nclass C(B):\n    x: int",
        f"{_RECORD}C.__dataclass_fields__['x'].compare = False",
        pytest.param(
            "@dataclass(init=False, repr=False)\nclass C:\n    x: int\n"
            "    __annotations__['x,) == (other.x,) or (self.x'] = int",
            marks=pytest.mark.skipif(
                sys.version_info >= (3, 13), reason="CPython 3.13 makes no class of such a name"
            ),
        ),
        f"""
{_RECORD}
class B:
    __code__ = types.SimpleNamespace(co_filename="<string>", co_names=("__class__", "x"))
    def __call__(self, other): return True
C.__eq__ = B()
""",
    ],
)
def test_what_looks_like_a_record_has_an_equality_of_its_own(
    monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    assert find_equality(define(monkeypatch, code)) == "own"
