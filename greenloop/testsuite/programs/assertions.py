"""Translation of assertions to observations and expectations."""

import ast

from greenloop.testsuite.programs.observing import Observer
from greenloop.testsuite.programs.records import Expectation, RefusedError

_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is", ast.IsNot: "is not", ast.Lt: "<", ast.LtE: "<=",
    ast.Gt: ">", ast.GtE: ">=", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
_OPPOSITE = {
    "==": "!=", "!=": "==", "is": "is not", "is not": "is", "in": "not in", "not in": "in",
    "<": "not <", "<=": "not <=", ">": "not >", ">=": "not >=",
}  # fmt: skip
_EXCHANGED = {
    "<": ">", "<=": ">=", ">": "<", ">=": "<=", "in": "has", "not in": "has not",
    "not <": "not >", "not <=": "not >=", "not >": "not <", "not >=": "not <=",
}  # fmt: skip
_METHODS = {
    "Equal": "==", "NotEqual": "!=", "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in",
    "Less": "<", "LessEqual": "<=", "Greater": ">", "GreaterEqual": ">=", "ListEqual": "==",
    "DictEqual": "==", "SetEqual": "==", "TupleEqual": "==", "SequenceEqual": "==",
    "MultiLineEqual": "==", "CountEqual": "unordered",
}  # fmt: skip
_SAME_ARRAYS = ("array_equal", "assert_array_equal")
_NEAR_ARRAYS = (
    *("allclose", "assert_allclose", "assert_almost_equal", "assert_array_almost_equal"),
    *("assert_frame_equal", "assert_series_equal"),
)
_APPROX, _CLOSE, _ALL_CLOSE = (1e-6, 1e-12), (1e-9, 0.0), (1e-5, 1e-8)


class AssertionReader(Observer):
    """Reader of assertions. Its methods raise RefusedError."""

    def read_assertion(self, node: ast.expr) -> None:
        """Read an expression that has to be true."""
        match node:
            case ast.BoolOp(op=ast.And(), values=values):
                for item in values:
                    self.read_assertion(item)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self._read_opposite(operand)
            case ast.Compare():
                self._read_comparison(node)
            case _:
                self._read_truth(node, True)

    def _read_opposite(self, node: ast.expr) -> None:
        match node:
            case ast.BoolOp(op=ast.Or(), values=values):
                for item in values:
                    self._read_opposite(item)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.read_assertion(operand)
            case ast.Compare(ops=[op]):
                self._compare(node.left, _OPPOSITE[_OPERATORS[type(op)]], node.comparators[0], node)
            case _:
                self._read_truth(node, False)

    def _read_comparison(self, node: ast.Compare) -> None:
        sides = [node.left, *node.comparators]
        if len(sides) > 2 and not all(map(_is_simple, sides[1:-1])):
            middle = [i for i in sides[1:-1] if not self.read(i)]
            if len(sides) != 3 or len(middle) != 1:
                raise RefusedError("a chained comparison", node)
            self._read_between(node)
            return
        for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
            self._compare(left, _OPERATORS[type(op)], right, node)

    def _read_between(self, node: ast.Compare) -> None:
        """Read a comparison with two bounds, whose middle is observed once."""
        first, last = (_OPERATORS[type(item)] for item in node.ops)
        number = self.observe(node.comparators[0])
        self.expect(_EXCHANGED.get(first, first), number, node.left, node)
        self.expect(last, number, node.comparators[1], node)

    def _read_truth(self, node: ast.expr, expected: bool) -> None:
        if isinstance(node, ast.Call):
            name = self.source.get_path(node.func)
            if name == "isinstance" and len(node.args) == 2:
                number = self.observe(node.args[0])
                kind = "class" if expected else "not class"
                self.expect(kind, number, node.args[1], node)
                return
            if expected and (name == "math.isclose" or self._is_of_arrays(name)):
                self._read_near(node, name)
                return
        if isinstance(node, ast.BoolOp):
            raise RefusedError("one of several assertions", node)
        if self.read(node):
            return
        number = self.observe(node)
        self.expectations.append(Expectation(node.lineno, number, "truth", expected))

    def _is_of_arrays(self, name: str) -> bool:
        is_library = name.partition(".")[0] in ("numpy", "pandas")
        return is_library and name.rpartition(".")[2] in (*_SAME_ARRAYS, *_NEAR_ARRAYS)

    def _read_near(self, node: ast.Call, name: str) -> None:
        last = name.rpartition(".")[2]
        if last in _SAME_ARRAYS:
            self._compare(node.args[0], "array", node.args[1], node)
            return
        if len(node.args) > 2:
            raise RefusedError("a tolerance without its name", node)
        default = {"isclose": _CLOSE, "assert_allclose": (1e-7, 0.0)}.get(last, _ALL_CLOSE)
        self._near(node.args[0], node.args[1], self._read_tolerance(node, default), node)

    def _read_tolerance(self, node: ast.Call, default: tuple[float, float]) -> tuple[float, float]:
        given: dict[str, float] = {}
        for item in node.keywords:
            name = {"rtol": "rel", "atol": "abs", "rel_tol": "rel", "abs_tol": "abs"}.get(
                item.arg or "", item.arg or ""
            )
            if name in ("rel", "abs"):
                given[name] = self._read_number(item.value)
            elif name != "nan_ok" and (name == "check_like" or not name.startswith("check_")):
                raise RefusedError(f"the argument {name}", node)
        for name, value in zip(("rel", "abs"), node.args[1:], strict=False):
            if self._is_approx(node):
                given[name] = self._read_number(value)
        if self._is_approx(node) and "abs" in given and "rel" not in given:
            return 0.0, given["abs"]
        return given.get("rel", default[0]), given.get("abs", default[1])

    def _read_number(self, node: ast.expr) -> float:
        known = self.read(node)
        if known and known[0] is None:
            return 0.0
        if not known or not isinstance(known[0], (int, float)):
            raise RefusedError("a computed tolerance", node)
        return float(known[0])

    def _is_approx(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and self.source.get_path(node.func) == "pytest.approx"

    # -- two sides

    def _compare(self, left: ast.expr, op: str, right: ast.expr, place: ast.AST) -> None:
        for one, other in ((left, right), (right, left)):
            if self._is_approx(other) and op in ("==", "!="):
                tolerance = self._read_tolerance(other, _APPROX)  # type: ignore[arg-type]
                self._near(one, other.args[0], tolerance, place, op)  # type: ignore[attr-defined]
                return
        if op in ("<", "<=") and self._read_distance(left, right, place):
            return
        known = bool(self.read(left)), bool(self.read(right))
        if all(known):
            return
        if op in ("is", "is not") and not any(known):
            identity = ast.Compare(left, [ast.Is()], [right])
            number = self.observe(ast.copy_location(identity, left))
            self.expectations.append(Expectation(left.lineno, number, "truth", op == "is"))
            return
        if known[0] or (not known[1] and self.is_of_code(right) and not self.is_of_code(left)):
            left, right, op = right, left, _EXCHANGED.get(op, op)
        number = self.observe(left)
        self.expect(op, number, right, place)

    def _read_distance(self, left: ast.expr, right: ast.expr, place: ast.AST) -> bool:
        """Read `abs(a - b) < limit`; return whether the sides have this form."""
        match left:
            case ast.Call(func=ast.Name(id="abs"), args=[ast.BinOp(op=ast.Sub()) as difference]):
                limit = self._read_number(right)
                self._near(difference.left, difference.right, (0.0, limit), place)
                return True
        return False

    def _near(
        self,
        left: ast.expr,
        right: ast.expr,
        tolerance: tuple[float, float],
        place: ast.AST,
        op: str = "==",
    ) -> None:
        if self.read(left) or (self.is_of_code(right) and not self.is_of_code(left)):
            left, right = right, left
        number = self.observe(left)
        self.expect("near" if op == "==" else "not near", number, right, place, tolerance)

    # -- calls that assert

    def read_call(self, node: ast.expr) -> bool:
        """Read a statement that asserts by a call; return whether it is one."""
        if not isinstance(node, ast.Call):
            return False
        name = self.source.get_path(node.func)
        owner, _, last = name.rpartition(".")
        if self._is_of_arrays(name) and last.startswith("assert"):
            self._read_near(node, name)
            return True
        if owner == "self" and last.startswith("assert"):
            self._read_method(node, last[6:])
            return True
        if name == "pytest.raises" and len(node.args) > 1:
            self._read_raising_call(node)
            return True
        if last == "match" and len(node.args) == 1 and owner in self.caught:
            self.expect_pattern(self.caught[owner], node.args[0])
            return True
        if owner in ("pytest", "self") and last in (
            "fail",
            "skip",
            "skipTest",
            "xfail",
            "importorskip",
        ):
            raise RefusedError(f"a call of {name}", node)
        return False

    def _read_raising_call(self, node: ast.Call) -> None:
        function, *rest = node.args[1:]
        called = ast.copy_location(ast.Expr(ast.Call(function, rest, node.keywords)), node)
        guard = ast.Call(node.func, node.args[:1], [])
        made = ast.With([ast.withitem(guard)], [called])
        made = ast.fix_missing_locations(ast.copy_location(made, node))
        self.write_raising(made, guard, None)

    def _read_method(self, node: ast.Call, name: str) -> None:
        args = node.args
        match name:
            case "True":
                self.read_assertion(args[0])
            case "False":
                self._read_opposite(args[0])
            case "IsNone" | "IsNotNone":
                op = "is" if name == "IsNone" else "is not"
                self._compare(args[0], op, ast.copy_location(ast.Constant(None), node), node)
            case "IsInstance" | "NotIsInstance":
                number = self.observe(args[0])
                kind = "class" if name == "IsInstance" else "not class"
                self.expect(kind, number, args[1], node)
            case "AlmostEqual" | "NotAlmostEqual":
                op = "==" if name == "AlmostEqual" else "!="
                self._near(args[0], args[1], (0.0, self._read_places(node)), node, op)
            case "Raises" | "RaisesRegex" if len(args) > 1 + (name == "RaisesRegex"):
                if name == "RaisesRegex":
                    raise RefusedError("assertRaisesRegex with a call", node)
                self._read_raising_call(node)
            case "Regex":
                number = self.observe(args[0])
                self.expect("match", number, args[1], node)
            case _ if name in _METHODS and len(args) > 1:
                self._compare(args[0], _METHODS[name], args[1], node)
            case _:
                raise RefusedError(f"self.assert{name}", node)

    def _read_places(self, node: ast.Call) -> float:
        given = {item.arg: item.value for item in node.keywords}
        if "delta" in given:
            return self._read_number(given["delta"])
        places = given.get("places", node.args[2] if len(node.args) > 2 else None)
        return 0.5 * 10 ** -(7 if places is None else self._read_number(places))


def _is_simple(node: ast.expr) -> bool:
    """Whether an expression can be observed twice."""
    return isinstance(node, (ast.Name, ast.Constant, ast.Attribute))
