"""Parser of contracts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from greenloop.dependencies import PackageAllowlist
from greenloop.errors import SpecificationError
from greenloop.llm.parsing.contract import parse_contract
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.response import LLMResponse
from greenloop.records import Contract
from greenloop.specification.examples import analyze_specification
from tests.support.model_responses import INTERFACE, contract_answer, fence


def read(answer: str, specification: str = "x", **options: Any) -> Contract:
    chosen = {"module": None, "allowed": PackageAllowlist(), **options}
    analyzed = analyze_specification(specification)
    return parse_contract(LLMResponse(answer), specification=analyzed, **chosen)


def test_contract_is_parsed() -> None:
    contract = read(contract_answer())
    assert (contract.module, len(contract.requirements), contract.packages) == ("topk", 2, ())
    assert contract.assumptions == ("fewer than k numbers: all of them",)
    assert contract.specification == "x"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"module": "json"}, "standard library"),
        ({"module": "pytest"}, "is reserved"),
        ({"module": "test_topk"}, "is reserved"),
        ({"module": "top-k"}, "module"),
        ({"module": "class"}, "Python keyword"),
        ({"interface": "def f(:"}, "no Python"),
        ({"interface": "import os"}, "defines nothing"),
        ({"requirements": [{"id": "1", "text": "x"}]}, "requirements.0.id"),
        ({"requirements": [{"id": "R1", "text": "x"}] * 2}, "same id"),
        ({"packages": ["numpy"]}, "Not available: numpy"),
    ],
)
def test_invalid_contract_is_rejected(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidResponse, match=said):
        read(contract_answer(**changes))


def test_packages_are_found_by_any_name() -> None:
    """The standard library and pytest need not be named."""
    answer = contract_answer(packages=["NumPy>=2", "yaml", "json", "pytest", "PyYAML"])
    assert read(answer, allowed=PackageAllowlist.parse(None)).packages == ("numpy", "pyyaml")


def test_error_names_unavailable_and_available_packages() -> None:
    answer = contract_answer(packages=["Requests", "numpy"])
    with pytest.raises(InvalidResponse) as caught:
        read(answer, allowed=PackageAllowlist.parse("pyyaml,numpy==2.*"))
    said = "Not available: Requests. Available packages are: numpy==2.*, pyyaml (import yaml)."
    assert str(caught.value) == said
    assert "--allow-package requests" in caught.value.user_hint


def test_module_name_does_not_shadow_a_package() -> None:
    answer = contract_answer(packages=["PyYAML"], module="yaml")
    with pytest.raises(InvalidResponse, match="`yaml` is the import of a package"):
        read(answer, allowed=PackageAllowlist.parse(None))


def test_given_module_name_is_used() -> None:
    assert read(contract_answer(), module="mine").module == "mine"


def test_error_without_requirements_says_what_is_missing() -> None:
    answer = fence(json.dumps({"requirements": [], "summary": "no behaviour is named"}), "json")
    with pytest.raises(SpecificationError, match="no behaviour is named"):
        read(answer)


@pytest.mark.parametrize(
    ("specification", "said"),
    [
        ("```python\ndef other(a): ...\n```", "defines `other`"),
        ("Write `def top_k(xs, k=3)`.", r"fixes the signature `top_k\(xs, k=3\)`"),
        ("```python\nclass Top:\n    def add(self, x): ...\n```", "defines `Top.add`"),
    ],
)
def test_signatures_of_the_specification_are_kept(specification: str, said: str) -> None:
    with pytest.raises(InvalidResponse, match=said):
        read(contract_answer(), specification)


def test_annotations_may_be_added_to_a_stated_signature() -> None:
    assert read(contract_answer(), "Write `def top_k(xs, k)`.").interface == INTERFACE


def test_examples_of_the_specification_are_kept() -> None:
    specification = ">>> top_k([1, 2], 1)\n[2]\n\n- other(1) -> 2\n"
    (example,) = read(contract_answer(), specification).examples
    assert example.doctest == ">>> top_k([1, 2], 1)\n[2]\n"


class TestChanges:
    """An answer about a previous contract holds only what changes."""

    def change(self, **changes: Any) -> Contract:
        previous = read(
            contract_answer(
                requirements=[{"id": "R1", "text": "one"}, {"id": "R2", "text": "two"}],
                background=[{"quote": "hello", "reason": "a greeting"}],
                contradictions=[{"quotes": ["a", "b"]}],
            )
        )
        return read(fence(json.dumps(changes), "json"), previous=previous)

    def test_requirements_are_replaced_added_and_taken_out_by_id(self) -> None:
        changed = [{"id": "R1", "text": "new"}, {"id": "R2"}, {"id": "R3", "text": "three"}]
        found = self.change(requirements=changed).requirements
        assert [(item.id, item.text) for item in found] == [("R1", "new"), ("R3", "three")]

    def test_background_is_added(self) -> None:
        found = self.change(background=[{"quote": "thanks", "reason": ""}]).background
        assert [item.quote for item in found] == ["hello", "thanks"]

    def test_contradictions_stay_until_they_are_taken_back(self) -> None:
        assert len(self.change().contradictions) == 1
        assert self.change(contradictions=[]).contradictions == ()

    def test_requirements_that_are_no_list_are_rejected(self) -> None:
        with pytest.raises(InvalidResponse, match="requirements"):
            self.change(requirements="R1")

    def test_contradiction_has_two_sides(self) -> None:
        with pytest.raises(InvalidResponse, match=r"contradictions\.0\.quotes"):
            self.change(contradictions=[{"quotes": ["one"]}])
