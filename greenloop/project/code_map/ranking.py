"""Ranking of a project's definitions by relevance to a wish.

Definitions get weight from the wish's words, names, paths and traceback lines. The weight then
spreads along reads and imports, as in personalized PageRank (L. Page and others: "The PageRank
Citation Ranking", 1999). Tests take part: code that a test with a similar name reads is relevant.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from greenloop.project.code_map.index import CodeIndex, Key
from greenloop.project.code_map.modules import split_words

_ROUNDS, _SPREAD = 8, 0.5
_BACKWARD = 0.3  # weight of a link from a definition to its reader
_IN_NAME, _IN_HEAD, _IN_BODY, _IN_PATH = 3.0, 1.0, 0.3, 2.0
_EXACT, _PATH, _TRACEBACK = 12.0, 30.0, 60.0
_MAX_SUMMED = 5  # best definitions that make up the weight of their module
_NAME = re.compile(r"[A-Za-z_]\w*")
_PATH_NAME = re.compile(r"[\w./-]+\.py\b")
_PLACE = re.compile(r"""(?:File ["'])?([\w./\\-]+\.py)(?:["'], line |:)(\d+)""")
_STOP_WORDS = frozenset(
    word
    for text in (
        "a an the and or not no of to in on at by for from with without as is are be been was were it its "
        "this that these those there then than when where which who what how why if else so but also only "
        "can could should would will shall may might must do does did done have has had i we you they he "
        "add added change changed make made fix fixed bug issue support use used using new now instead "
        "return returns get set self def class function method value values code test tests python"
    ).split()
    for word in split_words(text)
)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Weights of definitions by key and of modules by path."""

    definitions: Mapping[Key, float]
    modules: Mapping[str, float]


@dataclass(frozen=True)
class _Wish:
    """Text of a wish: its identifiers, the stems of its words, its paths, and its places."""

    text: str
    names: frozenset[str]
    words: frozenset[str]
    paths: frozenset[str]
    places: frozenset[tuple[str, int]]

    def list_lines(self, path: str) -> list[int]:
        """Return the lines of a file of the project that the wish names."""
        return [line for written, line in self.places if _names_path(written, path)]


def _read_wish(text: str) -> _Wish:
    names = frozenset(_NAME.findall(text))
    words = frozenset(w for name in names for w in split_words(name)) - _STOP_WORDS
    found = _PLACE.findall(text)
    places = frozenset((path.replace("\\", "/"), int(line[:9])) for path, line in found)
    return _Wish(text, names, words, frozenset(_PATH_NAME.findall(text)), places)


def rank(index: CodeIndex, wish: str) -> Ranking:
    """Return the weights of a project's definitions and modules for a wish."""
    own = _weigh(index, _read_wish(wish))
    total = sum(own.values())
    if not total:
        own = dict.fromkeys(own, 1.0)
        total = float(len(own)) or 1.0
    weights = _spread(index, {key: value / total for key, value in own.items()})
    by_module: dict[str, list[float]] = {path: [] for path in index.modules}
    for (path, _), value in weights.items():
        by_module[path].append(value)
    modules = {
        path: sum(sorted(values, reverse=True)[:_MAX_SUMMED]) for path, values in by_module.items()
    }
    return Ranking(weights, modules)


def _weigh(index: CodeIndex, wish: _Wish) -> dict[Key, float]:
    """Return the weight that the wish gives to each definition and module (name '')."""
    words, names = wish.words, wish.names
    known = {key: set(split_words(key[1])) for key in index.definitions}
    heads = {
        key: {w for name in _NAME.findall(f"{item.head} {item.doc}") for w in split_words(name)}
        for key, item in index.definitions.items()
    }
    spread = Counter(w for item in index.definitions.values() for w in item.words & words)
    rarity = {w: math.log(1 + len(known) / (1 + spread[w])) for w in sorted(words)}
    owners = Counter(key[1].rpartition(".")[2] for key in index.definitions)
    lines = {path: wish.list_lines(path) for path in index.modules}
    found = {}
    for key, item in index.definitions.items():
        short = key[1].rpartition(".")[2]
        value = sum(
            weight * (_IN_NAME if w in known[key] else _IN_HEAD if w in heads[key] else _IN_BODY)
            for w, weight in rarity.items()
            if w in known[key] or w in heads[key] or w in item.words
        )
        is_named = short in names and (split_words(short)[1:] or set(split_words(short)) & words)
        found[key] = value + (_EXACT / owners[short] if is_named else 0.0)
        found[key] += _TRACEBACK * any(line in item.lines for line in lines[item.path])
    for path in index.modules:
        found[path, ""] = _weigh_path(path, wish, rarity)
    return found


def _names_path(written: str, path: str) -> bool:
    """Return whether a path in a wish, as of another machine, may be a path of the project."""
    return written == path or written.endswith(f"/{path}") or path.endswith(f"/{written}")


def _weigh_path(path: str, wish: _Wish, rarity: Mapping[str, float]) -> float:
    dotted = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    stem = dotted.rpartition(".")[2]
    value = sum(_IN_PATH * rarity.get(word, 0.0) for word in set(split_words(stem)))
    is_named = any(_names_path(item, path) for item in wish.paths) or (
        "." in dotted and re.search(rf"\b{re.escape(dotted.removeprefix('src.'))}\b", wish.text)
    )
    return value + (_PATH if is_named else 0.0)


def _spread(index: CodeIndex, own: Mapping[Key, float]) -> dict[Key, float]:
    """Return the weights after several rounds of spreading along reads (power iteration)."""
    links: dict[Key, dict[Key, float]] = {key: {} for key in own}
    for reader, targets in index.edges.items():
        for target in sorted(targets):
            if target in own:
                links[reader][target] = 1.0
                links[target].setdefault(reader, _BACKWARD)
    for path, name in index.definitions:
        links[path, name].setdefault((path, ""), _BACKWARD)
    weights = dict(own)
    for _ in range(_ROUNDS):
        moved = dict.fromkeys(own, 0.0)
        for key, targets_of in links.items():
            total = sum(targets_of.values())
            for target, part in targets_of.items():
                moved[target] += weights[key] * part / total
        weights = {key: (1 - _SPREAD) * own[key] + _SPREAD * moved[key] for key in own}
    return weights
