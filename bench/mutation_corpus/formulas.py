"""Parsing: formulas with variables, functions and the usual precedence."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping


class FormulaError(ValueError):
    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message} at {position}")
        self.position = position


FUNCTIONS: dict[str, Callable[..., float]] = {
    "max": max,
    "min": min,
    "sqrt": math.sqrt,
    "abs": abs,
}
Token = tuple[str, str, int]


def tokens(text: str) -> list[Token]:
    """(kind, text, position); kinds are number, name, sign and end."""
    found: list[Token] = []
    position = 0
    while position < len(text):
        sign = text[position]
        start = position
        if sign.isspace():
            position += 1
            continue
        if sign.isdigit() or sign == ".":
            while position < len(text) and (text[position].isdigit() or text[position] == "."):
                position += 1
            if text[start:position].count(".") > 1 or text[start:position] == ".":
                raise FormulaError("no number", start)
            found.append(("number", text[start:position], start))
        elif sign.isalpha() or sign == "_":
            while position < len(text) and (text[position].isalnum() or text[position] == "_"):
                position += 1
            found.append(("name", text[start:position], start))
        elif text[position : position + 2] == "**":
            position += 2
            found.append(("sign", "**", start))
        elif sign in "+-*/%(),":
            position += 1
            found.append(("sign", sign, start))
        else:
            raise FormulaError(f"unexpected {sign!r}", start)
    found.append(("end", "", len(text)))
    return found


class _Parser:
    def __init__(self, text: str, names: Mapping[str, float]) -> None:
        self._tokens = tokens(text)
        self._at = 0
        self._names = names

    def whole(self) -> float:
        value = self._sum()
        kind, text, position = self._tokens[self._at]
        if kind != "end":
            raise FormulaError(f"unexpected {text!r}", position)
        return value

    def _take(self, *signs: str) -> str:
        """The next sign if it is one of these, else ''."""
        kind, text, _ = self._tokens[self._at]
        if kind == "sign" and text in signs:
            self._at += 1
            return text
        return ""

    def _sum(self) -> float:
        value = self._product()
        while sign := self._take("+", "-"):
            other = self._product()
            value = value + other if sign == "+" else value - other
        return value

    def _product(self) -> float:
        value = self._signed()
        while sign := self._take("*", "/", "%"):
            position = self._tokens[self._at][2]
            other = self._signed()
            if sign == "*":
                value *= other
            elif other == 0:
                raise FormulaError("division by zero", position)
            else:
                value = value / other if sign == "/" else value % other
        return value

    def _signed(self) -> float:
        sign = self._take("+", "-")
        if sign:
            value = self._signed()
            return -value if sign == "-" else value
        return self._power()

    def _power(self) -> float:
        value = self._atom()
        if self._take("**"):
            return float(value ** self._signed())
        return value

    def _atom(self) -> float:
        kind, text, position = self._tokens[self._at]
        self._at += 1
        if kind == "number":
            return float(text)
        if kind == "name":
            return self._call(text, position) if self._take("(") else self._value(text, position)
        if text == "(":
            value = self._sum()
            self._close()
            return value
        raise FormulaError("a value is missing", position)

    def _value(self, name: str, position: int) -> float:
        if name not in self._names:
            raise FormulaError(f"unknown name {name}", position)
        return self._names[name]

    def _call(self, name: str, position: int) -> float:
        if name not in FUNCTIONS:
            raise FormulaError(f"unknown function {name}", position)
        arguments = [self._sum()]
        while self._take(","):
            arguments.append(self._sum())
        self._close()
        return float(FUNCTIONS[name](*arguments))

    def _close(self) -> None:
        if not self._take(")"):
            raise FormulaError("a parenthesis is not closed", self._tokens[self._at][2])


def value_of(text: str, **names: float) -> float:
    return _Parser(text, names).whole()
