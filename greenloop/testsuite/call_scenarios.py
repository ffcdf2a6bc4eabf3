"""Scenarios of single calls, which are expressions over the names of a module: one row each."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from greenloop.records import HeldOutExample

# The names of a module may be any but those with two underscores.
_SCENARIO = """\
import {module} as __module

def __answer(__call):
    observe__(0, lambda: eval(__call, dict(vars(__module))))

scenarios = [(__answer, (), lambda: [(("__call",), {rows})])]
"""
_JUDGE = """\
def __judge(__returns, __raises):
    if __raises is None:
        assert strictly_equal__(__returns, take__(0)())
    else:
        __bases = raised__((0,), BaseException).value.observed__.bases
        assert __raises in [__name.rpartition(".")[2] for _, __name in __bases]

judges = [(__judge, lambda: [(("__returns", "__raises"), [{rows}])])]
"""


def build_call_scenario(module: str, calls: Sequence[str]) -> str:
    """Return the text that observes each call in a row of its own."""
    return _SCENARIO.format(module=module, rows=[(item,) for item in calls])


def build_example_judge(examples: Sequence[HeldOutExample]) -> str:
    """Return the text that judges the calls of examples by what these return or raise."""
    return _JUDGE.format(rows="".join(f"{_render_expected(item)}, " for item in examples))


def _render_expected(example: HeldOutExample) -> str:
    if example.raises is not None:
        return f"(None, {example.raises.rpartition('.')[2]!r})"
    value = ast.parse((example.returns or "").strip(), mode="eval")
    return f"({ast.unparse(value)}, None)"
