"""Contract without a model: the interface of a text or of code, a requirement for each sentence."""

import ast
import builtins
import re
from collections.abc import Collection, Iterator, Sequence

from greenloop.records import Contract, Requirement
from greenloop.specification.examples import (
    Specification,
    analyze_specification,
    filter_usable_examples,
)
from greenloop.specification.passages import index_text
from greenloop.specification.reading.doctests import parse_doctest
from greenloop.specification.signatures import (
    PYTHON_BLOCKS,
    is_stub,
    leave_bodies_out,
    split_blocks,
)
from greenloop.syntax.names import explain_invalid_module_name
from greenloop.syntax.nodes import Definition, Function
from greenloop.syntax.parse import parse_or_empty

_MAX_REQUIREMENTS = 40
_MAX_CHARS = 600
_MODULE = "solution"


def build_plain_contract(
    specification: Specification, module: str | None, code: str = ""
) -> Contract | None:
    """Return a contract whose requirements are the sentences of the text.

    Its interface has the signatures of the text, else the called names of its examples, else the
    public names of `code`. None where there are none.
    """
    interface = specification.signatures or _sketch_interface(specification)
    interface = interface or reduce_to_interface(code)
    names = frozenset(_list_names(interface))
    if not names:
        return None
    examples = filter_usable_examples(specification.examples, names)
    return Contract(
        module=module or name_module(interface),
        summary="",
        interface=interface,
        requirements=tuple(_list_requirements(specification.text)),
        specification=specification.text,
        examples=examples,
    )


def _list_requirements(text: str) -> Iterator[Requirement]:
    index = index_text(text)
    blocks = [item for item in index.blocks if item.kind in ("sentence", "item", "row")]
    passages = [index.excerpt(item.first, item.end) for item in blocks]
    passages = passages or [*_list_docstrings(text)]
    for number, passage in enumerate(passages[:_MAX_REQUIREMENTS] or [text.strip()], 1):
        shown = passage[:_MAX_CHARS]
        yield Requirement(id=f"R{number}", text=shown, quotes=(shown,))


def _list_docstrings(text: str) -> Iterator[str]:
    tree = parse_or_empty(analyze_specification(text).signatures)
    for node in tree.body:
        docstring = ast.get_docstring(node) if isinstance(node, Definition) else None
        if docstring:
            yield " ".join(docstring.split())


def _sketch_interface(specification: Specification) -> str:
    """Return a stub for each function that the examples of a text call."""
    arities: dict[str, int] = {}
    for example in specification.examples:
        for part in parse_doctest(example.doctest):
            for node in ast.walk(parse_or_empty(part.source)):
                if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
                    continue
                if not node.keywords and not hasattr(builtins, node.func.id):
                    count = len(node.args)
                    arities[node.func.id] = max(count, arities.get(node.func.id, 0))
    return "\n".join(
        f"def {name}({', '.join(f'value{n}' for n in range(1, count + 1))}): ..."
        for name, count in arities.items()
    )


def reduce_to_interface(code: str) -> str:
    """Return the public functions and classes of a module as stubs."""
    tree = parse_or_empty(code)
    kept: list[ast.stmt] = [
        node
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, Definition) and not node.name.startswith("_"))
    ]
    for node in kept:
        leave_bodies_out(node)
    return ast.unparse(ast.Module(kept, []))


def name_module(interface: str) -> str:
    """Return a module name: the first defined name that is valid, else `solution`."""
    for name in _list_names(interface):
        snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
        if explain_invalid_module_name(snake) is None:
            return snake
    return _MODULE


def _list_names(interface: str) -> Sequence[str]:
    nodes = (node for node in parse_or_empty(interface).body if isinstance(node, Definition))
    return [node.name for node in nodes]


def list_unwritten_names(contract: Contract) -> list[str]:
    """Return the interface's names without functions that the text has whole, if any is left."""
    names = list(_list_names(contract.interface))
    written = {
        node.name
        for language, source in split_blocks(contract.specification)
        if language in PYTHON_BLOCKS
        for node in parse_or_empty(source).body
        if isinstance(node, Function) and not is_stub(node)
    }
    return [name for name in names if name not in written] or names


def replace_definitions(interface: str, stated: str, names: Collection[str]) -> str:
    """Return an interface with the definitions of `names` as they are in `stated`.

    A method is named `Class.method`; its whole class is replaced.
    """
    wanted = {name.partition(".")[0] for name in names}
    tree, found = ast.parse(interface), ast.parse(stated)
    new = {node.name: node for node in found.body if isinstance(node, Definition)}
    body: list[ast.stmt] = []
    for node in tree.body:
        name = node.name if isinstance(node, Definition) else ""
        if name in wanted and name in new:
            replacement = new.pop(name)
            docstring = ast.get_docstring(node) if isinstance(node, Definition) else None
            if docstring and ast.get_docstring(replacement) is None:
                replacement.body.insert(0, ast.Expr(ast.Constant(docstring)))
            body.append(replacement)
        else:
            body.append(node)
    body += [node for name, node in new.items() if name in wanted]
    return ast.unparse(ast.fix_missing_locations(ast.Module(body, [])))
