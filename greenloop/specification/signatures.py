"""Signatures and fenced code blocks of a specification."""

import ast
import builtins
import re
import textwrap
from collections.abc import Iterator, Sequence

from greenloop.syntax.nodes import Definition, Function
from greenloop.syntax.parse import cache_by_source, parse_or_empty, read_literal

# Bounded repetitions keep matching linear on long, adversarial texts.
_FENCE = re.compile(r"[ \t]*```[ \t]*(\w*)")
_SIGNATURE = re.compile(
    r"(?:\basync[ \t]{1,9})?\bdef[ \t]{1,9}\w{1,99}[ \t]{0,9}\([^`]{0,999}?\)"
    r"(?:\s{0,99}->[^`:\n]{1,200})?(?=\s{0,99}(?:[:`\n]|$))"
)
# A class with indented methods without bodies.
_CLASS = re.compile(
    r"^([ \t]*)(class[ \t]{1,9}\w{1,99}(?:\([^()\n]{0,200}\))?)[ \t]*:?[ \t]*$"
    r"((?:\n(?:\1[ \t].*|[ \t]*))+)",
    re.MULTILINE,
)
# A signature without `def`, on a line of its own that begins a paragraph.
_HEAD = re.compile(
    r"(?:\A|(?<=\n\n)|(?<=:\n))[ \t]{0,9}`{0,2}(?P<name>[a-zA-Z_]\w{0,99})\((?P<given>[^`\n]{1,300})\)"
    r"(?:[ \t]*->(?P<result>[^`\n]{1,100}))?`{0,2}:?[ \t]*$",
    re.MULTILINE,
)
PYTHON_BLOCKS = ("python", "py", "python3", "")


def extract_signatures(text: str) -> str:
    """Return the signatures that a text states, as stub source.

    A block that calls a function that is stated elsewhere without a body is a usage example.
    """
    blocks = [*split_blocks(text)]
    sources = [item for language, item in blocks if language in PYTHON_BLOCKS and is_parsable(item)]
    prose = "\n\n".join(item for _, item in blocks if item not in sources)
    loose = [*_find_loose_signatures(prose)]
    stated = [source for source in sources if not _calls_any(source, [*loose, *sources])]
    found = [stub for source in stated for stub in _extract_stubs(source)]
    return "\n\n".join(dict.fromkeys(found or loose))


def split_blocks(text: str) -> Iterator[tuple[str | None, str]]:
    """Yield the parts of a text: a block with its language, prose between blocks with None.

    A text that is Python as a whole is one block. Common indentation of a block is removed.
    """
    if is_parsable(text) and re.search(r"^[ \t]*(async def|def|class) ", text, re.MULTILINE):
        yield "python", text
        return
    language: str | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if language is None and fence:
            yield None, "\n".join(lines)
            language, lines = fence[1].lower(), []
        elif language is not None and line.strip() == "```":
            yield language, textwrap.dedent("\n".join(lines)) + "\n"
            language, lines = None, []
        else:
            lines.append(line)
    yield None, "\n".join(lines)


@cache_by_source
def is_parsable(source: str) -> bool:
    """Return whether a text is Python, and not empty."""
    return bool(parse_or_empty(source).body)


def _calls_any(source: str, others: Sequence[str]) -> bool:
    """Return whether a source calls, and does not define, a function that is a stub in `others`."""
    tree = parse_or_empty(source)
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    nodes = (node for item in others for node in parse_or_empty(item).body)
    stubs = {node.name for node in nodes if isinstance(node, Function) and is_stub(node)}
    return not called.isdisjoint(stubs - {getattr(node, "name", "") for node in tree.body})


def is_stub(node: Function) -> bool:
    """Return whether a body has only docstrings, `...`, `pass` and `raise` statements."""
    return all(
        isinstance(item, ast.Pass | ast.Raise)
        or (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))
        for item in node.body
    )


def _extract_stubs(source: str) -> Iterator[str]:
    for node in ast.parse(source).body:
        if isinstance(node, Definition) and not node.name.lower().startswith("test"):
            leave_bodies_out(node)
            yield ast.unparse(node)


def leave_bodies_out(node: ast.AST) -> None:
    """Replace the body of each function by its docstring and `...`, in place."""
    for item in ast.walk(node):
        if isinstance(item, Function):
            head = item.body[:1] if ast.get_docstring(item) is not None else []
            item.body = [*head, ast.Expr(ast.Constant(...))]


def _find_loose_signatures(text: str) -> Iterator[str]:
    """Yield stubs for signatures without a body (`def f(x: int) -> int`) in prose or backticks.

    A line `f(x, y=1)` counts too. A method without its class is left out: the module needs no
    function of this name. A line about a method of a class is none either; where it has other
    parameters than the class, neither binds.
    """
    classes = [(found[2], [*_find_functions(found[3])]) for found in _CLASS.finditer(text)]
    methods = {_list_parameters(item)[0] for _, items in classes for item in items}
    prose = _CLASS.sub("", text)
    stubs = [(item, _list_parameters(item)) for item in _find_functions(prose)]
    heads = [(item, _list_parameters(item)) for item in _find_heads(prose)]
    again = {name: given for _, (name, *given) in heads if name in methods}
    for head, items in classes:
        listed = ((item, _list_parameters(item)) for item in items)
        kept = [stub for stub, (name, *given) in listed if again.get(name, given[1:]) == given[1:]]
        if kept:
            yield f"{head}:\n" + textwrap.indent("\n".join(kept), "    ")
    for stub, (name, *given) in (*stubs, *heads):
        if given[:1] not in (["self"], ["cls"]) and name not in again:
            yield stub


def _list_parameters(stub: str) -> tuple[str, ...]:
    """Return the name of a function and the names of its positional parameters."""
    function = ast.parse(stub).body[0]
    assert isinstance(function, Function)
    return function.name, *(item.arg for item in function.args.args)


def _find_functions(text: str) -> Iterator[str]:
    for found in _SIGNATURE.finditer(text):
        candidate = " ".join(found[0].split()).rstrip(":") + ": ..."
        if is_parsable(candidate):
            yield candidate


def _find_heads(text: str) -> Iterator[str]:
    for found in _HEAD.finditer(text):
        name, given, result = found["name"], found["given"], found["result"] or ""
        candidate = f"def {name}({given}): ..."
        is_example = any(value is not None for value in read_literal(result.strip()))
        is_call = is_example or hasattr(builtins, name)  # `f(a=1, b=2) -> 3`, `print(x, y)`
        # With a single name it may be prose, as in `file(s)`.
        if not is_call and re.search("[,:=*]", given) and is_parsable(candidate):
            yield candidate
