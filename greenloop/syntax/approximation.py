"""Floats in expected values, whose last digits depend on the order of operations."""

from __future__ import annotations

import ast

RELATIVE_TOLERANCE, ABSOLUTE_TOLERANCE = 1e-9, 1e-12


def approximate_floats(literal: str) -> str:
    """Return the source of a literal with its floats as `pytest.approx(…)`."""
    return ast.unparse(_ApproximateFloats().visit(ast.parse(literal.strip(), mode="eval").body))


class _ApproximateFloats(ast.NodeTransformer):
    """Replaces floats by `pytest.approx`, except in sets and keys, which are hashed."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if not isinstance(node.value, float):
            return node
        call = f"pytest.approx({ast.unparse(node)}, rel={RELATIVE_TOLERANCE!r}, abs={ABSOLUTE_TOLERANCE!r})"
        return ast.parse(call, mode="eval").body

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if not isinstance(node.operand, ast.Constant):
            return node
        value = ast.literal_eval(node)
        return self.visit_Constant(ast.Constant(value)) if isinstance(value, float) else node

    def _keep(self, node: ast.AST) -> ast.AST:
        return node

    visit_Set = _keep
    visit_Call = _keep  # `Decimal("1.5")`: exact
    visit_BinOp = _keep  # a complex number

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        node.values = [self.visit(item) for item in node.values]
        return node
