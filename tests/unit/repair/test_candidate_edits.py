"""Generation of candidate edits."""

import ast
import warnings
from pathlib import Path

import pytest

from greenloop.repair.context import CandidateEdit
from greenloop.repair.fault_localization import FaultLocalization
from greenloop.repair.hints import Hints
from greenloop.repair.operators import generate_edits
from greenloop.repair.ranking import RankedEdit, build_patch, rank_edits
from greenloop.syntax.source import Source
from tests.support.programs import read_table

HINTS = Hints(
    expected_values=("-1",),
    expected_exceptions=("ValueError",),
    crashes=((2, "ZeroDivisionError"),),
)


def generate(code: str, hints: Hints) -> list[CandidateEdit]:
    tree = ast.parse(code)
    order = rank_edits(
        generate_edits(tree, Source(code), hints), code, FaultLocalization(tree, (), hints)
    )
    return [item.edit for item in order]


def test_an_expression_of_many_operands_is_edited() -> None:
    code = f"def f(n):\n    total = {' + '.join(['n'] * 900)}\n    return total\n"
    edits = generate_edits(ast.parse(code), Source(code), HINTS)
    first = next(item for item in edits if item.text == "-")
    assert code[first.start : first.end] == "+"


def test_properties_and_declared_fields_are_read_in_place_of_others() -> None:
    code = """class Invoice:
    issued: int
    terms: int

    @property
    def due(self):
        return self.issued + 14

    def late(self, today):
        return today - self.issued
"""
    changed = {edit.apply_to(code) for edit in generate(code, HINTS)}
    for name in ("due", "terms"):
        assert code.replace("today - self.issued", f"today - self.{name}") in changed


@pytest.mark.parametrize(("parameters", "first"), [("self, size", "4"), ("self", "self.size")])
def test_an_attribute_in_place_of_a_variable_is_tried_late(parameters: str, first: str) -> None:
    code = (
        f"class A:\n    def size(self): ...\n    def f({parameters}):\n        return size == 5\n"
    )
    texts = [edit.text for edit in generate(code, HINTS)]
    assert min(("4", "self.size"), key=texts.index) == first


def test_a_patch_has_no_parentheses_that_nothing_needs() -> None:
    for text, after in (("(a or b)", "if a or b: c"), ("(a) or (b)", "if (a) or (b): c")):
        edit = CandidateEdit(3, 4, text, "", f"`x` becomes `{text}`", 1, 1)
        assert build_patch(RankedEdit(edit, 1, 1, 1), "if x: c", "m").code == after


@pytest.mark.parametrize(("before", "after"), read_table(__file__, "EDITS"))
def test_edit_is_generated_once(before: str, after: str) -> None:
    head = "def f(a, b, c, xs):\n    "
    code, wanted = f"{head}{before}\n", f"{head}{after}\n"
    edited = [edit.apply_to(code) for edit in generate(code, HINTS)]
    assert wanted in edited
    assert len(edited) == len(set(edited))
    assert code not in edited


def test_errors_of_other_modules_are_raised() -> None:
    code = "from errors import A as OwnError\n\n\ndef f(a):\n    raise errors.Own\n    raise KeyError(a)\n"
    edited = [edit.apply_to(code) for edit in generate(code, Hints())]
    for name in ("OwnError", "errors.Own"):
        assert code.replace("KeyError", name) in edited


def test_edits_of_class() -> None:
    code = (
        "class A:\n    def __init__(self, xs=[]):\n        self.xs = xs\n\n"
        "    def put(self, x):\n        xs.append(x)\n"
    )
    edited = [edit.apply_to(code) for edit in generate(code, Hints())]
    assert code.replace("        xs.append", "        self.xs.append") in edited
    fixed_default = "xs=None):\n        if xs is None:\n            xs = []\n"
    assert code.replace("xs=[]):\n", fixed_default) in edited


def test_nine_of_ten_edits_compile() -> None:
    code = Path(ast.__file__).read_text("utf-8")[:3000].rpartition("\ndef ")[0] + "\n"
    edited = generate(code, Hints())
    broken = 0
    for edit in edited[::20]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(edit.apply_to(code), "m", "exec")
        except SyntaxError:
            broken += 1
    assert edited
    assert broken <= len(edited[::20]) / 10
