"""Source of a test for a held-out example, as strict as the comparison that the code failed."""

from __future__ import annotations

import ast

from greenloop.records import HeldOutExample
from greenloop.syntax.approximation import approximate_floats

# Equality is not enough: `[1] == [True]`. Set members and keys are sorted by hash, which is equal for
# equal values.
_KINDS_SOURCE = (
    "def kinds(value):",
    "    name = type(value).__name__",
    "    if isinstance(value, dict):",
    "        return name, [(kinds(k), kinds(value[k])) for k in sorted(value, key=hash)]",
    "    if isinstance(value, (list, tuple)):",
    "        return name, [kinds(item) for item in value]",
    "    if isinstance(value, (set, frozenset)):",
    "        return name, [kinds(item) for item in sorted(value, key=hash)]",
    "    return name",
)
_LABEL = "sealed"  # the word of 0.1.0: prompts that show such a test keep their digest


def render_held_out_test(module: str, name: str, example: HeldOutExample, about: str = "") -> str:
    """Return the test's source; its call is an expression over the module's names.

    The call may also be statements that end in one. `about` replaces the docstring.
    """
    setup, call = _render_call(module, example.call)
    if example.raises is not None:
        kind = example.raises.rpartition(".")[2]
        body = [
            "import pytest",
            f"import {module}",
            *setup,
            f"with pytest.raises(BaseException) as caught:\n        {call}",
            f"assert {kind!r} in [kind.__name__ for kind in caught.type.__mro__]",
        ]
    else:
        comparison = _render_comparison(example.returns or "None")
        body = [f"import {module}", *setup, f"got = {call}", *comparison]
    about = about or f"{example.requirement or _LABEL.capitalize()}: a {_LABEL} example."
    head = f'def {name}():\n    """{about}"""\n    '
    return head + "\n    ".join(body) + "\n"


def _render_call(module: str, call: str) -> tuple[list[str], str]:
    """Return the statements before a call, as lines of a test, and the expression of the call."""
    names = f"dict(vars({module}))"
    *before, last = ast.parse(call.strip()).body
    if not before:
        return [], f"eval({call!r}, {names})"
    steps = ast.unparse(ast.Module(before, []))
    return [f"names = {names}", f"exec({steps!r}, names)"], f"eval({ast.unparse(last)!r}, names)"


def _render_comparison(returns: str) -> list[str]:
    exact = ast.unparse(ast.parse(returns.strip(), mode="eval"))
    expected = approximate_floats(returns)
    imports = ["import pytest"] if "pytest.approx" in expected else []
    kind = type(ast.literal_eval(returns.strip())).__name__
    if kind == "NoneType":
        return ["assert got is None"]
    compared = [*imports, f"assert type(got) is {kind} and got == {expected}"]
    if kind not in ("list", "tuple", "set", "dict"):
        return compared
    return [*compared, *_KINDS_SOURCE, f"assert kinds(got) == kinds({exact})"]
