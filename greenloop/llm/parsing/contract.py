"""Parser of contracts, which checks them against what the specification states."""

from __future__ import annotations

import ast
from typing import Any

from pydantic import ValidationError

from greenloop.dependencies import PackageAllowlist
from greenloop.dependencies.names import (
    PREINSTALLED,
    get_import_names,
    is_standard_library,
    parse_package_name,
)
from greenloop.errors import SpecificationError
from greenloop.llm.parsing.choices import parse_choices
from greenloop.llm.parsing.completeness import public_names
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.response import LLMResponse, extract_json, extract_text
from greenloop.records import Contract
from greenloop.specification.examples import (
    Specification,
    filter_usable_examples,
    summarize_example,
)
from greenloop.testsuite.module_names import explain_invalid_module_name
from greenloop.testsuite.stubs import build_stub

_CONTRACT_KEYS = (
    "module",
    "summary",
    "interface",
    "requirements",
    "background",
    "not_covered",
    "contradictions",
    "assumptions",
    "packages",
)


def parse_contract(
    answer: LLMResponse,
    *,
    specification: Specification,
    module: str | None,
    allowed: PackageAllowlist,
    previous: Contract | None = None,
) -> Contract:
    """Return the contract of an answer, which may hold only what changes of a `previous` one.

    Raises:
        InvalidResponse: it is no contract, or departs from what the specification states.
        SpecificationError: the answer says that nothing can be tested.
    """
    value = extract_json(extract_text(answer), dict)
    if previous:
        value = _merge(previous, value)
    if not value.get("requirements"):
        missing = str(value.get("summary") or "no behaviour is described").strip()
        raise SpecificationError(f"nothing in the specification can be tested: {missing}")
    contract = _validate_contract(value, module)
    _check_interface(contract)
    _check_signatures(contract, specification)
    packages = _resolve_packages(contract, allowed)
    names = frozenset(public_names(contract.interface))
    examples = filter_usable_examples(specification.examples, names)
    unusable = (item for item in specification.examples if item not in examples)
    return contract.model_copy(
        update={
            "specification": specification.text,
            "examples": examples,
            "unclear_examples": (*specification.unclear, *map(summarize_example, unusable)),
            "packages": packages,
            "choices": parse_choices(value.get("choices"), examples),
        }
    )


def _merge(previous: Contract, changes: dict[str, Any]) -> dict[str, Any]:
    """Return the contract with changes: requirements by id, background added, other keys whole.

    A requirement that has only its id is taken out.
    """
    before = previous.model_dump(mode="json") | {
        "contradictions": [item.model_dump() for item in previous.contradictions]
    }
    merged = before | changes
    changed = changes.get("requirements")
    if isinstance(changed, list) and all(isinstance(item, dict) for item in changed):
        found = {item["id"]: item for item in before["requirements"]}
        found |= {str(item.get("id")): item for item in changed}
        merged["requirements"] = [item for item in found.values() if set(item) != {"id"}]
    if isinstance(added := changes.get("background"), list):
        known = [item for item in before["background"] if item not in added]
        merged["background"] = [*known, *added]
    return merged


def _validate_contract(value: dict[str, Any], module: str | None) -> Contract:
    content = {key: value[key] for key in _CONTRACT_KEYS if value.get(key) is not None}
    if module:
        content["module"] = module
    try:
        contract = Contract.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidResponse(f"The contract's {place!r} is wrong: {first['msg']}.") from None
    ids = [item.id for item in contract.requirements]
    if len(set(ids)) < len(ids):
        raise InvalidResponse("Two requirements have the same id.")
    return contract


def _check_interface(contract: Contract) -> None:
    if why := explain_invalid_module_name(contract.module):
        raise InvalidResponse(
            f"`{contract.module}` cannot be the module's name: {why}. Choose another."
        )
    try:
        build_stub(contract.interface)
    except SyntaxError as error:
        raise InvalidResponse(f"The interface is no Python: {error}.") from None
    if not public_names(contract.interface):
        raise InvalidResponse("The interface defines nothing: give at least one function or class.")


def _check_signatures(contract: Contract, specification: Specification) -> None:
    """Check that the interface has each signature of the specification, with equal arguments."""
    wanted, got = _collect_signatures(specification.signatures), _collect_signatures(
        contract.interface
    )
    for name, arguments in wanted.items():
        if name not in got:
            raise InvalidResponse(f"The specification defines `{name}`; the interface must too.")
        if got[name] != arguments:
            raise InvalidResponse(
                f"The specification fixes the signature `{name}({arguments})`; keep it."
            )


def _collect_signatures(source: str) -> dict[str, str]:
    """Return arguments without annotations by function name (`Class.method` for methods)."""
    found: dict[str, str] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            methods = [item for item in node.body if isinstance(item, ast.FunctionDef)]
            found |= {f"{node.name}.{item.name}": _format_arguments(item) for item in methods}
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found[node.name] = _format_arguments(node)
    return found


def _format_arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    arguments = ast.parse(ast.unparse(node.args).join(("def f(", "): ..."))).body[0]
    for item in ast.walk(arguments):
        if isinstance(item, ast.arg):
            item.annotation = None
    assert isinstance(arguments, ast.FunctionDef)
    return ast.unparse(arguments.args)


def _resolve_packages(contract: Contract, allowed: PackageAllowlist) -> tuple[str, ...]:
    """Return the contract's packages by distribution name, without those always installed."""
    named = [item for item in contract.packages if not is_standard_library(item)]
    found = {
        item: allowed.find(item) for item in named if parse_package_name(item) not in PREINSTALLED
    }
    if absent := [item for item, name in found.items() if name is None]:
        rest = ", ".join(allowed.descriptions) or "none: use the standard library"
        raise InvalidResponse(
            f"Not available: {', '.join(absent)}. Available packages are: {rest}.",
            f"Add --allow-package {parse_package_name(absent[0]) or 'NAME'} if the code may use it.",
        )
    packages = tuple(sorted({name for name in found.values() if name}))
    if any(contract.module in get_import_names(name) for name in packages):
        raise InvalidResponse(
            f"`{contract.module}` is the import of a package: choose another name."
        )
    return packages
