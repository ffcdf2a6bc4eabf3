"""Parser of contracts, with checks of interface, packages and the specification's signatures."""

import ast
import re
from collections import defaultdict
from collections.abc import Collection
from contextlib import suppress
from typing import Any, NoReturn

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
from greenloop.llm.parsing.contracts.markdown import read_markdown_contract
from greenloop.llm.parsing.contracts.shapes import normalize_contract
from greenloop.llm.parsing.errors import InvalidResponse
from greenloop.llm.response import LLMResponse, extract_json, extract_text
from greenloop.records import Contract
from greenloop.specification.examples import (
    Specification,
    filter_usable_examples,
    summarize_example,
)
from greenloop.specification.plain import name_module, replace_definitions
from greenloop.syntax.names import explain_invalid_module_name
from greenloop.syntax.nodes import Function
from greenloop.testsuite.stubs import build_stub

_VALUE_KEYS = (
    *("module", "summary", "interface", "requirements", "background", "not_covered"),
    *("contradictions", "assumptions", "packages"),
)
_NOTHING = re.compile(r"^\W*NOTHING\b\W*(?P<why>.*)", re.MULTILINE)


def parse_contract(
    answer: LLMResponse,
    *,
    specification: Specification,
    module: str | None,
    allowed: PackageAllowlist,
    previous: Contract | None = None,
) -> Contract:
    """Return the contract of an answer, which may hold only the changes of a `previous` one.

    Raises:
        InvalidResponse: the answer is no contract, or departs from the specification.
        SpecificationError: the answer says that nothing can be tested.
    """
    taken = [item.id for item in previous.requirements] if previous else []
    value = read_contract_values(extract_text(answer), taken)
    if previous:
        value = _merge(previous, value)
    if not value.get("requirements"):
        _refuse_empty(value, specification)
    contract = _validate_contract(value, module, is_last=answer.is_last)
    _check_interface(contract)
    contract = _keep_signatures(contract, specification, is_last=answer.is_last)
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


def read_contract_values(text: str, taken: Collection[str] = ()) -> dict[str, Any]:
    """Return the values of a contract in JSON or in Markdown, by key.

    Requirements without an id get one that is not `taken`.
    Raises InvalidResponse: neither requirements nor an interface can be read.
    """
    with suppress(InvalidResponse):
        return normalize_contract(extract_json(text, dict, "requirements", "interface"), taken)
    value = read_markdown_contract(text)
    if not value and (nothing := _NOTHING.search(text)):
        return {"requirements": [], "summary": nothing["why"].strip()}
    if not value and "{" in text:  # a few keys in JSON, or JSON that cannot be read
        value = extract_json(text, dict)
    return normalize_contract(value, taken)


def _refuse_empty(value: dict[str, Any], specification: Specification) -> NoReturn:
    """Raise InvalidResponse where the text must have requirements, else SpecificationError."""
    if value.get("interface") or specification.signatures or specification.examples:
        raise InvalidResponse(
            "There is no list of requirements. Under a line `Requirements` give one for each thing "
            'that a test can check: `- R1: f(1) returns 2 <- "passage of the text"`.'
        )
    if "requirements" not in value:
        raise InvalidResponse(
            "That is not a contract. Begin with one ```python block that holds the interface, then "
            'list the requirements: `- R1: f(1) returns 2 <- "passage of the text"`.'
        )
    missing = str(value.get("summary") or "no behaviour is described").strip()
    raise SpecificationError(f"nothing in the specification can be tested: {missing}")


def _merge(previous: Contract, changes: dict[str, Any]) -> dict[str, Any]:
    """Merge changes into a contract: requirements by id, background added, other keys replaced.

    A requirement whose change has only an id is removed.
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


def _validate_contract(value: dict[str, Any], module: str | None, *, is_last: bool) -> Contract:
    content = {"summary": "", **{key: value[key] for key in _VALUE_KEYS if key in value}}
    if not content.get("interface"):
        raise InvalidResponse(
            "There is no interface. Begin with one ```python block that holds the signatures, each "
            "with a docstring and the body `...`."
        )
    content["module"] = module or content.get("module") or name_module(content["interface"])
    if is_last and not module and explain_invalid_module_name(content["module"]):
        content["module"] = name_module(content["interface"])
    try:
        return Contract.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidResponse(f"The contract's {place!r} is wrong: {first['msg']}.") from None


def _check_interface(contract: Contract) -> None:
    if why := explain_invalid_module_name(contract.module):
        raise InvalidResponse(
            f"`{contract.module}` cannot be the module's name: {why}. Choose another."
        )
    try:
        build_stub(contract.interface)
    except SyntaxError as error:
        raise InvalidResponse(f"The interface is not valid Python: {error}.") from None
    if not public_names(contract.interface):
        raise InvalidResponse("The interface defines nothing: give at least one function or class.")


def _keep_signatures(
    contract: Contract, specification: Specification, *, is_last: bool
) -> Contract:
    """Return the contract with the arguments of each signature that the specification states.

    Raises InvalidResponse: one is missing or different, and the model can be asked again.
    """
    wanted = _collect_signatures(specification.signatures)
    got = _collect_signatures(contract.interface)
    wrong = [name for name, stated in wanted.items() if not got.get(name, set()) & stated]
    if not wrong:
        return contract
    if is_last:
        mended = replace_definitions(contract.interface, specification.signatures, wrong)
        return contract.model_copy(update={"interface": mended})
    name = wrong[0]
    if name not in got:
        raise InvalidResponse(f"The specification defines `{name}`; the interface must too.")
    raise InvalidResponse(
        f"The specification fixes the signature `{name}({min(wanted[name])})`; keep it."
    )


def _collect_signatures(source: str) -> dict[str, set[str]]:
    """Return arguments without annotations by function name (`Class.method` for methods).

    A text may show a function twice, in an example and as a stub: either form is accepted.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            methods = [item for item in node.body if isinstance(item, Function)]
            for item in methods:
                found[f"{node.name}.{item.name}"].add(_format_arguments(item))
        elif isinstance(node, Function):
            found[node.name].add(_format_arguments(node))
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
