"""Examples that give input and output of the text's one function: `Input: n = 5`, `Output: 1`."""

import ast
import re
from collections.abc import Iterator

from greenloop.records import GivenExample
from greenloop.specification.reading.doctests import render_outcome
from greenloop.specification.reading.outcomes import read_outcome
from greenloop.syntax.nodes import Function
from greenloop.syntax.parse import parse_or_empty, read_literal

# Bounded repetitions keep matching linear on long, adversarial texts.
_LABELLED = re.compile(
    r"^[ \t>*]{0,99}inputs?[*`]{0,3}:[*`]{0,3}(?P<given>(?:(?!\n\s{0,99}\n).){1,1500}?)"
    r"^[ \t>*]{0,99}(?:expected\s)?outputs?[*`]{0,3}:[*`]{0,3}\s{0,99}",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_SAID = re.compile(
    r"\bfor\s(?P<given>[A-Za-z_]\w{0,99}\s?=[^\n]{1,1500}?),?\s{1,9}the\s(?:output|result|answer)\s"
    r"(?:should\sbe|must\sbe|will\sbe|is)\s{1,9}",
    re.IGNORECASE,
)
_NAME_AND_COLON = re.compile(r"^([A-Za-z_]\w{0,99})\s{0,9}:")
_MAX_CLAIM_CHARS = 2000


def find_input_output_examples(text: str, signatures: str) -> Iterator[GivenExample]:
    """Yield the examples whose inputs are literals for all parameters of the only function."""
    body = parse_or_empty(signatures).body
    function = body[0] if len(body) == 1 else None
    if not isinstance(function, Function):
        return
    for pattern in (_LABELLED, _SAID):
        for found in pattern.finditer(text):
            said = text[found.end() : found.end() + _MAX_CLAIM_CHARS]
            call = _read_call(found["given"], function)
            outcome = read_outcome(said if said[:1] in tuple("([{\"'") else said.partition("\n")[0])
            if call and outcome:
                yield GivenExample(doctest=render_outcome(call, outcome[0]))


def _read_call(given: str, function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Return the call with what a text gives as input; '' where it does not fit the function."""
    lines = filter(None, (line.strip(" \t`*,") for line in given.split("\n")))
    arguments = ", ".join(_NAME_AND_COLON.sub(r"\1 =", line) for line in lines)
    body = parse_or_empty(f"{function.name}({arguments})\n").body
    call = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr) else None
    if not isinstance(call, ast.Call):
        return ""
    names = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
    values = [*call.args, *(item.value for item in call.keywords)]
    stated = [*names[: len(call.args)], *(item.arg for item in call.keywords)]
    is_whole = sorted(map(str, stated)) == sorted(names) and len(values) == len(names)
    return (
        ast.unparse(call) if is_whole and all(read_literal(ast.unparse(i)) for i in values) else ""
    )
