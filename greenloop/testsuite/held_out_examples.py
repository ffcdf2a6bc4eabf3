"""Source of a test for a held-out example, as strict as the comparison that the code failed."""

from __future__ import annotations

import ast

from greenloop.records import HeldOutExample

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
# For floats, whose last digits depend on the order of operations.
RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-9, 1e-12
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
    value = ast.parse(returns.strip(), mode="eval").body
    exact = ast.unparse(value)
    expected = ast.unparse(_ApproximateFloats().visit(value))
    imports = ["import pytest"] if "pytest.approx" in expected else []
    kind = type(ast.literal_eval(returns.strip())).__name__
    if kind == "NoneType":
        return ["assert got is None"]
    compared = [*imports, f"assert type(got) is {kind} and got == {expected}"]
    if kind not in ("list", "tuple", "set", "dict"):
        return compared
    return [*compared, *_KINDS_SOURCE, f"assert kinds(got) == kinds({exact})"]


class _ApproximateFloats(ast.NodeTransformer):
    """Replaces floats by `pytest.approx`, except in sets and keys, which are hashed."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if not isinstance(node.value, float):
            return node
        call = f"pytest.approx({ast.unparse(node)}, rel={RELATIVE_TOLERANCE!r}, abs={ABSOLUTE_TOLERANCE!r})"
        return ast.parse(call, mode="eval").body

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        value = ast.literal_eval(node)
        return self.visit_Constant(ast.Constant(value)) if isinstance(value, float) else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:  # a complex number
        return node

    def visit_Set(self, node: ast.Set) -> ast.AST:
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        node.values = [self.visit(item) for item in node.values]
        return node
