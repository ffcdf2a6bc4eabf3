"""Parser of contracts."""

import json
from typing import Any

import pytest

from greenloop.dependencies import PackageAllowlist
from greenloop.errors import SpecificationError
from greenloop.llm.parsing.contracts.answer import parse_contract
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.response import LLMResponse
from greenloop.records import Contract
from greenloop.specification.examples import analyze_specification
from tests.support.model_responses import INTERFACE, contract_answer, fence
from tests.support.programs import read_table


def read(answer: str, specification: str = "x", **options: Any) -> Contract:
    chosen = {"module": None, "allowed": PackageAllowlist(), **options}
    analyzed = analyze_specification(specification)
    return parse_contract(LLMResponse(answer), specification=analyzed, **chosen)


def test_contract_is_parsed() -> None:
    contract = read(contract_answer())
    assert (contract.module, len(contract.requirements), contract.packages) == ("topk", 2, ())
    assert contract.assumptions == ("fewer than k numbers: all of them",)
    assert contract.specification == "x"


@pytest.mark.parametrize(("changes", "said"), read_table(__file__, "INVALID"))
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


@pytest.mark.parametrize(("specification", "said"), read_table(__file__, "SIGNATURES"))
def test_signatures_of_the_specification_are_kept(specification: str, said: str) -> None:
    with pytest.raises(InvalidResponse, match=said):
        read(contract_answer(), specification)


def test_either_of_two_stated_signatures_is_kept() -> None:
    text = "```python\ndef top_k(xs, k): ...\n```\n```python\ndef top_k(xs): ...\n```"
    assert read(contract_answer(), text).interface == INTERFACE


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


@pytest.mark.parametrize(
    ("given", "read_as"),
    [
        ([{"id": "1", "text": "x"}, {"text": "y"}], [("R1", "x"), ("R2", "y")]),
        ([{"id": "R1", "text": "x"}] * 2, [("R1", "x"), ("R2", "x")]),
        (["x", "y"], [("R1", "x"), ("R2", "y")]),
        ({"R1": "x", "R7": "y"}, [("R1", "x"), ("R7", "y")]),
        ("x", [("R1", "x")]),
    ],
)
def test_requirements_have_any_shape(given: object, read_as: list[tuple[str, str]]) -> None:
    found = read(contract_answer(requirements=given)).requirements
    assert [(item.id, item.text) for item in found] == read_as


def test_other_keys_have_any_shape() -> None:
    contract = read(
        contract_answer(
            assumptions="one",
            not_covered=[{"text": "two"}, "none"],
            background=["hello"],
            interface=INTERFACE.split("\n"),
            contradictions=[{"quotes": ["one"]}],
            packages="json, re",
            module="topk.py",
        )
    )
    assert (contract.assumptions, contract.not_covered) == (("one",), ("two",))
    assert contract.background[0].quote == "hello"
    assert contract.interface.strip() == INTERFACE.strip()
    assert (contract.contradictions, contract.packages, contract.module) == ((), (), "topk")


MARKDOWN = f"""The contract:

```python
{INTERFACE}```

**Requirements**
- R1: top_k([1, 3, 2], 2) == [3, 2] <- "the k largest numbers, largest first"
* R2 - top_k([1], -1) raises ValueError
  <- "k < 0 is a ValueError"; "puts "..." at the end"
3. All of them, where k is larger <- “k largest”

### Choices:
- Are equal numbers kept? <- "the k largest numbers": `top_k([1, 1], 2) -> [1, 1]` or `top_k([1, 1], 2) -> [1]`; taken: second
- What comes first? <- "largest first": `top_k([1, 2], 2)` gives `[1, 2]`, `[2, 1]`, or an error; taken: 2
- What of "k < 0"? <- "k = "0", "1"": `top_k([], -1)` raises ValueError or `top_k([], -1)` -> `[]`

## Contradictions (if any)
- none

Not covered:
- a migration

Assumptions: None
Packages: numpy, `json`
Module: `topk.py`
"""


def test_markdown_is_read() -> None:
    contract = read(MARKDOWN, allowed=PackageAllowlist.parse("numpy"))
    assert contract.interface == INTERFACE
    assert [(item.id, item.quotes) for item in contract.requirements] == [
        ("R1", ("the k largest numbers, largest first",)),
        ("R2", ("k < 0 is a ValueError", 'puts "..." at the end')),
        ("R3", ("k largest",)),
    ]
    assert contract.requirements[1].text == "top_k([1], -1) raises ValueError"
    choice, other, third = contract.choices
    assert third.answers == ("top_k([], -1) raises ValueError", "top_k([], -1) -> []")
    assert third.quote == 'k = "0", "1"'
    assert other.answers == (*(f"top_k([1, 2], 2) gives {i}" for i in ([1, 2], [2, 1])), "an error")
    assert other.chosen == other.answers[1]
    assert (choice.question, choice.quote) == ("Are equal numbers kept?", "the k largest numbers")
    assert choice.chosen == "top_k([1, 1], 2) -> [1]" == choice.answers[1]
    assert (contract.not_covered, contract.assumptions) == (("a migration",), ())
    assert (contract.packages, contract.module) == (("numpy",), "topk")


def test_spaces_and_json_are_kept_in_a_requirement() -> None:
    line = '- R1: the head is "a  |  b"\n  of <- "send `{"a": 1, "b": [2]}`"; "POST  it"'
    (found,) = read(f"```python\n{INTERFACE}```\nRequirements\n{line}").requirements
    assert found.text == 'the head is "a  |  b" of'
    assert found.quotes == ('send `{"a": 1, "b": [2]}`', "POST  it")


def test_module_is_named_where_the_answer_does_not() -> None:
    answer = f"```python\n{INTERFACE}```\n- R1: the largest first"
    assert read(answer).module == "top_k"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("Requirements\n- R1: one", "no interface"),
        (f"```python\n{INTERFACE}```", "no list of requirements"),
        (
            f"```python\n{INTERFACE}```\nRequirements\n- R1: one\n- R2:",
            "Line 8 of your answer says nothing",
        ),
        ('```json\n{"requirements": [1 2], "interface": ""}\n```', "in line 1: Expecting ','"),
    ],
)
def test_complaint_names_the_place(answer: str, said: str) -> None:
    with pytest.raises(InvalidResponse, match=said):
        read(answer)


def test_markdown_changes_a_contract() -> None:
    previous = read(MARKDOWN, allowed=PackageAllowlist.parse("numpy"))
    answer = "Requirements\n- R2: (removed)\n- R3: new\n- R9: more"
    allowed = PackageAllowlist.parse("numpy")
    found = read(answer, previous=previous, allowed=allowed).requirements
    assert [(item.id, item.text) for item in found][1:] == [("R3", "new"), ("R9", "more")]
    assert read("Nothing changes.", previous=previous, allowed=allowed) == previous


@pytest.mark.parametrize("text", ["Write `def top_k(xs, k=3)`.", "top_k([1], 1) is [1]"])
def test_a_text_with_a_signature_or_example_can_be_tested(text: str) -> None:
    with pytest.raises(InvalidResponse, match="no list of requirements"):
        read("NOTHING: no behaviour is named", text)


def test_nothing_to_test_in_markdown() -> None:
    with pytest.raises(SpecificationError, match="no behaviour is named"):
        read("NOTHING: no behaviour is named")


def test_stated_signature_is_put_in_where_the_model_does_not() -> None:
    last = LLMResponse(contract_answer(), is_last=True)
    given = analyze_specification("Write `def top_k(xs, k=3)` and `def low(xs)`.")
    allowed = PackageAllowlist()
    contract = parse_contract(last, specification=given, module=None, allowed=allowed)
    assert 'def top_k(xs, k=3):\n    """The k largest' in contract.interface
    assert "def low(xs)" in contract.interface
