"""Scenarios of calls over the names of a module: expressions, or statements that end in one."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from greenloop.records import HeldOutExample
from greenloop.syntax.values import find_value_imports

_SCENARIO = """\
__calls = create_calls__("", ())

def __answer(__call):
    __last, __names = __calls.run_steps(__call)
    observe__(0, lambda: __calls.evaluate(__last, __names))

scenarios = [(__answer, (), lambda: [(("__call",), {rows})])]
"""
_JUDGE = """\
{imports}

def __judge(__returns, __raises):
    if __raises is None:
        assert strictly_equal__(__returns, take__(0)())
    else:
        __bases = raised__((0,), BaseException).value.observed__.bases
        assert __raises in [__name.rpartition(".")[2] for _, __name in __bases]

judges = [(__judge, lambda: [(("__returns", "__raises"), [{rows}])])]
"""


def build_call_scenario(calls: Sequence[str]) -> str:
    """Return the text that observes each call in a row of its own."""
    return _SCENARIO.format(rows=[(item,) for item in calls])


def build_example_judge(examples: Sequence[HeldOutExample]) -> str:
    """Return the text that judges the calls of examples by what these return or raise."""
    found = (find_value_imports(item.returns or "") for item in examples)
    imports = "\n".join(sorted({line for lines in found for line in lines.values()}))
    rows = "".join(f"{_render_expected(item)}, " for item in examples)
    return _JUDGE.format(imports=imports, rows=rows)


def _render_expected(example: HeldOutExample) -> str:
    if example.raises is not None:
        return f"(None, {example.raises.rpartition('.')[2]!r})"
    value = ast.parse((example.returns or "").strip(), mode="eval")
    return f"({ast.unparse(value)}, None)"
