"""What edits are built from: names, conditions, terms and statements of a scope."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, combinations, islice

from greenloop.repair.scope import NameScope

_SIGNS = ("==", "!=", "<", "<=", ">", ">=")
CONSTANTS = ("0", "1", "-1", "True", "False", "None", "[]", "''")
_MAX_NAMES, _MAX_INTEGERS, _MAX_RENAMED_CHARS = 12, 6, 60
_MAX_TERMS, MAX_FACTS, MAX_PREMISES = 40, 80, 250
_MAX_COMPARED = 12
_PREDICATES = ("isalnum", "isalpha", "isdigit", "isspace", "isupper", "islower")
_NAME = re.compile(r"[A-Za-z_][\w.]*")


def list_numbers(scope: NameScope) -> list[str]:
    """Return the variables that may be numbers, those that are used as such first."""
    kinds = {name: scope.roles.get(name, frozenset()) for name in list_variables(scope)}
    known = [n for n, k in kinds.items() if n in scope.integer_variables or "operand" in k]
    unknown = [n for n in kinds if n not in known and not scope.is_container(n)]
    return [*known, *unknown]


def list_containers(scope: NameScope) -> list[str]:
    return list(filter(scope.is_container, list_variables(scope)))


def list_variables(scope: NameScope) -> list[str]:
    return [name for name in (*scope.variables, *scope.constants) if name != "_"][:_MAX_NAMES]


def iterate_facts(scope: NameScope) -> Iterator[tuple[str, float]]:
    """Yield conditions of one variable, each with its extra cost."""
    for name in list_variables(scope):
        yield from ((name, 0.0), (f"not {name}", 0.0), (f"{name} is None", 0.3))
        yield f"{name} is not None", 0.6
        for method in _PREDICATES if scope.may_be_text(name) else ():
            yield from ((f"{name}.{method}()", 0.5), (f"not {name}.{method}()", 0.7))
    for text in scope.donors:
        if "." in text and "(" not in text:
            yield from ((text, 0.3), (f"{text} is None", 0.6), (f"not {text}", 0.6))


def iterate_comparisons(scope: NameScope) -> Iterator[tuple[str, float]]:
    """Yield comparisons of what is in scope, each with its extra cost; those of the function first."""
    yield from ((text, 0.0) for text in (*scope.conditions, *scope.negated_conditions))
    numbers = list_numbers(scope)
    for name in numbers:
        yield from (
            (f"{name} % {number} == 0", 0.6) for number in dict.fromkeys(("2", "10", *numbers))
        )
        for sign in _SIGNS:
            yield from ((f"{name} {sign} 0", 0.2), (f"{name} {sign} 1", 0.5))
            yield from ((f"{name} {sign} {number}", 0.5) for number in _find_integers(scope))
    for one, other in combinations(numbers, 2):
        yield from ((f"{one} {sign} {other}", 0.3) for sign in _SIGNS)
    for name in list_containers(scope):
        yield from ((f"len({name}) {sign} {count}", 0.5) for sign in _SIGNS[::2] for count in "01")
        known = (*numbers, *_find_integers(scope))
        yield from ((f"len({name}) {sign} {i}", 0.6) for i in known for sign in ("==", "<", ">"))
        for other in list_variables(scope):
            if other != name:
                yield from ((f"{other} in {name}", 0.4), (f"{other} not in {name}", 0.4))
    compared = [text for text in scope.donors if not text.isidentifier() and "," not in text]
    for text in compared[:_MAX_COMPARED]:
        yield from ((f"{name} {sign} {text}", 0.8) for name in numbers for sign in _SIGNS)
    for one, other in combinations(compared[:_MAX_COMPARED], 2):
        yield from ((f"{one} {sign} {other}", 1.0) for sign in _SIGNS)


def choose_facts(scope: NameScope, text: str, most: int = MAX_FACTS) -> list[tuple[str, float]]:
    """Return the cheapest conditions, each with its extra cost; those on names in `text` first."""
    names = set(_NAME.findall(text))
    facts = chain(iterate_facts(scope), iterate_comparisons(scope))
    ordered = sorted(facts, key=lambda fact: (names.isdisjoint(_NAME.findall(fact[0])), fact[1]))
    return ordered[:most]


def _find_integers(scope: NameScope) -> list[str]:
    """Return the integers of a function and then of its module, but 0 and 1."""
    found = dict.fromkeys(str(i) for i in scope.integers if i not in (0, 1))
    return list(found)[:_MAX_INTEGERS]


def iterate_terms(scope: NameScope) -> Iterator[tuple[str, float]]:
    """Yield what may be added to or subtracted from something, each with its extra cost."""
    found: dict[str, float] = {}
    for text, cost in _list_terms(scope):
        found.setdefault(text, cost)
    yield from islice(found.items(), _MAX_TERMS)


def _list_terms(scope: NameScope) -> Iterator[tuple[str, float]]:
    yield from ((name, 0.0) for name in list_variables(scope))
    yield from ((text, 0.2) for text in scope.donors if _is_operand(text))
    yield from ((number, 0.3) for number in _find_integers(scope))
    yield from ((text, 0.4) for text in scope.module_donors if _is_operand(text))
    sized = [f"len({name})" for name in list_containers(scope)]
    yield from ((text, 0.5) for text in sized)
    yield from ((text, 0.5) for text in rename_texts(scope, filter(_is_operand, scope.donors), 1))
    yield from ((f"abs({one} - {other})", 0.9) for one, other in combinations(sized, 2))


def _is_operand(text: str) -> bool:
    return "." in text or (not text.isidentifier() and text.endswith((")", "]")))


def rename_texts(scope: NameScope, texts: Iterable[str], most: int) -> Iterator[str]:
    """Yield texts with one variable or `most` in place of others that are used alike."""
    for text in texts:
        if len(text) > _MAX_RENAMED_CHARS:
            continue
        used = dict.fromkeys(_NAME.findall(text))
        swaps = [
            (one, other)
            for one in used
            for other in list_variables(scope)
            if one != other and scope.has_common_role(one, other)
        ]
        for swap in chain.from_iterable(combinations(swaps, count + 1) for count in range(most)):
            renames = dict(swap)
            if len(renames) == len(swap):
                yield _NAME.sub(lambda found: renames.get(found[0], found[0]), text)  # noqa: B023
