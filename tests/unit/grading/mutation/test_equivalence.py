"""Mutants that are marked as probably equivalent, and similar ones that are not."""

import pytest

from greenloop.grading.mutation import generate_mutants
from tests.support.programs import read_table

CASES = read_table(__file__, "CASES")
FAULTS = read_table(__file__, "FAULTS")


@pytest.mark.parametrize(("code", "why"), CASES.items(), ids=CASES.values())
def test_probably_equivalent_mutants_are_marked(code: str, why: str) -> None:
    assert any(why in item.equivalence_reason for item in generate_mutants(code))


@pytest.mark.parametrize("code", FAULTS)
def test_similar_faults_are_not_marked(code: str) -> None:
    assert [
        item.equivalence_reason for item in generate_mutants(code) if item.equivalence_reason
    ] == []


def test_removed_or_changed_raise_is_a_fault() -> None:
    found = generate_mutants("def f(a):\n    raise ValueError('wrong')\n")
    kinds = {item.operator for item in found if not item.equivalence_reason}
    assert kinds == {"raise-removed", "exception"}


def test_f_string_message_leaves_only_the_type() -> None:
    found = generate_mutants("def f(a):\n    raise ValueError(f'{type(a).__name__} {a + 1}')\n")
    kinds = {item.operator for item in found if not item.equivalence_reason}
    assert kinds == {"raise-removed", "exception"}


def test_value_in_error_message_is_a_fault() -> None:
    found = generate_mutants("def f(a):\n    raise Wrong(a.b, f'{a.c}')\n")
    faults = [item.edit.text for item in found if not item.equivalence_reason]
    assert "None" in faults


def test_value_of_a_cast_is_no_type() -> None:
    found = generate_mutants("from typing import cast\ndef f(a):\n    return cast(int, a + 1)\n")
    faults = {item.id for item in found if not item.equivalence_reason}
    assert {item.id for item in found} - faults == {"3:17 argument"}
    assert "3:22 arithmetic" in faults
