"""Reduction of differences: one for each cluster, shrunk, and confirmed by another run."""

import ast
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Protocol

from greenloop.grading.inputs.programs import Input
from greenloop.grading.inputs.slots import iterate_smaller
from greenloop.grading.peer.outcomes import Outcome
from greenloop.grading.peer.plain_arguments import observe_arguments, write_arguments
from greenloop.sandbox.guest.observation.inputs.calls import ANSWER

_MAX_FOUND, _MAX_ROUNDS, _CANDIDATES, _MAX_SIZE = 5, 12, 30, 200


class Asked(Protocol):
    """Two programs: `ask` runs both on inputs, `left_s` is the CPU time left for that."""

    @property
    def left_s(self) -> float: ...

    def ask(self, inputs: Sequence[Input]) -> list[Outcome]: ...


def reduce_differences(
    outcomes: Sequence[Outcome], pair: Asked, rounds: int = _MAX_ROUNDS
) -> list[Outcome]:
    """Return the smallest differences, at most five: one of each cluster, then of other groups.

    A cluster may have several causes, of which the smallest inputs show only one: a fault of the
    peer would hide faults of the code. So a shrunk input keeps the kinds of its arguments, and if
    fewer than five differences remain, others are added unshrunk. Differences that another run does
    not confirm are left out.
    """
    found = active = _choose(outcomes)
    others = _spread(outcomes, found)
    for _ in range(rounds):
        if not active or pair.left_s < 0:
            break
        active = _shrink(active, pair)
        better = {item.group: item for item in active}
        found = [better.get(item.group, item) for item in found]
    steady = _confirm([*found, *others], pair)
    # Shrinking may have removed what makes an answer steady, such as a call that clears a state.
    known = {item.group for item in steady}
    lost = [item for item in outcomes if item.group not in known][:_CANDIDATES]
    more = {item.group: item for item in reversed(_confirm(lost, pair))}
    return _write_plainly([*steady, *more.values()][:_MAX_FOUND], pair)


def _choose(outcomes: Sequence[Outcome]) -> list[Outcome]:
    clusters: dict[tuple[str, ...], Outcome] = {}
    groups: dict[tuple[str, ...], Outcome] = {}
    for item in sorted(outcomes, key=lambda item: _measure_size(item.item.node)):
        clusters.setdefault(item.cluster, item)
        groups.setdefault(item.group, item)
    chosen = {item.group: item for item in (*clusters.values(), *groups.values())}
    return list(chosen.values())[:_MAX_FOUND]


def _write_plainly(found: Sequence[Outcome], pair: Asked) -> list[Outcome]:
    """Return the differences, with plain values in test bodies if these then differ too."""
    observing = {id(item): made for item in found if (made := observe_arguments(item))}
    seen = {id(item.item): item for item in pair.ask([*observing.values()])}
    plain = {
        key: write_arguments(made, [seen[id(made)].code, seen[id(made)].peer])
        for key, made in observing.items()
        if id(made) in seen
    }
    differing = {id(i.item): i for i in pair.ask([*plain.values()]) if i.agrees is False}
    return [differing.get(id(plain.get(id(item))), item) for item in found]


def _spread(outcomes: Sequence[Outcome], found: Sequence[Outcome]) -> list[Outcome]:
    """Return further differences up to the maximum, evenly spread from small to large inputs."""
    known = {id(item) for item in found}
    calls = [item for item in outcomes if item.item.is_call and item.at == ANSWER]
    others = [item for item in calls if id(item) not in known]
    sized = sorted((_measure_size(item.item.node), n) for n, item in enumerate(others))
    places = [n for (size, _), n in sized if size <= _MAX_SIZE]
    count = min(_MAX_FOUND - len(found), len(places))
    return [others[places[len(places) * at // count]] for at in range(count)]


def _shrink(active: Sequence[Outcome], pair: Asked) -> list[Outcome]:
    """Return a smaller outcome of each group that has one among its next candidates."""
    candidates = [
        replace(item.item, node=node)
        for item in active
        for node in islice(iterate_smaller(item.item.node), _CANDIDATES)
    ]
    found: list[Outcome] = []
    outcomes = [item for item in pair.ask(candidates) if item.agrees is False]
    for item in active:
        mine = [other for other in outcomes if other.group == item.group]
        best = min((_measure_size(i.item.node), n) for n, i in enumerate(mine)) if mine else None
        if best and best[0] < _measure_size(item.item.node):
            found.append(mine[best[1]])
    return found


def _confirm(found: Sequence[Outcome], pair: Asked) -> list[Outcome]:
    once = {item.call: item for item in found}.values()
    again = {id(item.item): item for item in pair.ask([item.item for item in once])}
    pairs = [(item, again[id(item.item)]) for item in once if id(item.item) in again]
    return [
        item
        for item, other in pairs
        if other.agrees is False
        and item.code.observed == other.code.observed
        and item.peer.observed == other.peer.observed
    ]


def _measure_size(tree: ast.AST) -> tuple[int, str]:
    """Return a sort key for sizes: the length of the source, then the source."""
    text = ast.unparse(tree)
    return len(text), text
