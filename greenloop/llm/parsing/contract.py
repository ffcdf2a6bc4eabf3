"""Reading a contract out of an answer, and holding it to what the specification fixes itself."""

from __future__ import annotations

import ast
from typing import Any

from pydantic import ValidationError

from greenloop.dependencies import AllowList
from greenloop.dependencies.names import ALWAYS_THERE, bare_name, imports_of, is_standard
from greenloop.errors import SpecificationError
from greenloop.llm.parsing.completeness import public_names
from greenloop.llm.parsing.errors import Unusable
from greenloop.llm.response import Answer, json_value, whole_text
from greenloop.records import Contract
from greenloop.specification.examples import Given, usable_examples
from greenloop.testsuite.module_names import why_no_module_name
from greenloop.testsuite.stubs import stub

_KEYS = ("module", "summary", "interface", "requirements", "assumptions", "packages")


def read_contract(
    answer: Answer,
    *,
    specification: str,
    given: Given,
    module: str | None,
    allowed: AllowList,
) -> Contract:
    """The contract of an answer.

    Raises:
        Unusable: it is no contract, or leaves what the specification fixes.
        SpecificationError: the answer says that nothing can be tested.
    """
    value = json_value(whole_text(answer), dict)
    if not value.get("requirements"):
        missing = str(value.get("summary") or "no behaviour is described").strip()
        raise SpecificationError(f"nothing in the specification can be tested: {missing}")
    contract = _validated(value, module)
    _check_interface(contract)
    _check_given(contract, given)
    packages = _packages(contract, allowed)
    names = frozenset(public_names(contract.interface))
    examples = usable_examples(given.examples, names)
    return contract.model_copy(
        update={"specification": specification, "examples": examples, "packages": packages}
    )


def _validated(value: dict[str, Any], module: str | None) -> Contract:
    content = {key: value[key] for key in _KEYS if value.get(key) is not None}
    if module:
        content["module"] = module
    try:
        contract = Contract.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise Unusable(f"The contract's {place!r} is wrong: {first['msg']}.") from None
    ids = [item.id for item in contract.requirements]
    if len(set(ids)) < len(ids):
        raise Unusable("Two requirements have the same id.")
    return contract


def _check_interface(contract: Contract) -> None:
    if why := why_no_module_name(contract.module):
        raise Unusable(f"`{contract.module}` cannot be the module's name: {why}. Choose another.")
    try:
        stub(contract.interface)
    except SyntaxError as error:
        raise Unusable(f"The interface is no Python: {error}.") from None
    if not public_names(contract.interface):
        raise Unusable("The interface defines nothing: give at least one function or class.")


def _check_given(contract: Contract, given: Given) -> None:
    """Every signature of the specification stands in the interface, argument for argument."""
    wanted, got = _signatures(given.signatures), _signatures(contract.interface)
    for name, arguments in wanted.items():
        if name not in got:
            raise Unusable(f"The specification defines `{name}`; the interface must too.")
        if got[name] != arguments:
            raise Unusable(f"The specification fixes the signature `{name}({arguments})`; keep it.")


def _signatures(source: str) -> dict[str, str]:
    """Arguments by function name (`Class.method` for methods), annotations left out."""
    found: dict[str, str] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            methods = [item for item in node.body if isinstance(item, ast.FunctionDef)]
            found |= {f"{node.name}.{item.name}": _arguments(item) for item in methods}
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found[node.name] = _arguments(node)
    return found


def _arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    arguments = ast.parse(ast.unparse(node.args).join(("def f(", "): ..."))).body[0]
    for item in ast.walk(arguments):
        if isinstance(item, ast.arg):
            item.annotation = None
    assert isinstance(arguments, ast.FunctionDef)
    return ast.unparse(arguments.args)


def _packages(contract: Contract, allowed: AllowList) -> tuple[str, ...]:
    """The contract's packages under their own names; what is always there need not be among them."""
    named = [item for item in contract.packages if not is_standard(item)]
    found = {item: allowed.find(item) for item in named if bare_name(item) not in ALWAYS_THERE}
    if absent := [item for item, name in found.items() if name is None]:
        rest = ", ".join(allowed.shown) or "none: use the standard library"
        raise Unusable(
            f"Not available: {', '.join(absent)}. Available packages are: {rest}.",
            f"If the code should use it: --allow-package {bare_name(absent[0]) or 'NAME'}",
        )
    packages = tuple(sorted({name for name in found.values() if name}))
    if any(contract.module in imports_of(name) for name in packages):
        raise Unusable(f"`{contract.module}` is the import of a package: choose another name.")
    return packages
