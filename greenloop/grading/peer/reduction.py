"""Differences made few and small: one of each cluster, shrunk, and seen again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

from greenloop.grading.peer.outcomes import Outcome
from greenloop.grading.peer.runs import Input
from greenloop.testsuite.variants.shrinking import iterate_smaller, measure_size

_MAX_CLUSTERS, _MAX_ROUNDS, _CANDIDATES = 5, 12, 30
Ask = Callable[[Sequence[Input]], list[Outcome]]


def reduce_differences(outcomes: Sequence[Outcome], ask: Ask, deadline: float) -> list[Outcome]:
    """Return the smallest differences, at most five: one of each cluster, then of other groups.

    A cluster may have several causes, of which the smallest inputs show but one: a fault of the peer
    would hide those of the code. So what is shrunk keeps the kinds of its arguments. `ask` gives inputs to both programs. Differences that another run does not show are left out.
    """
    found = _choose(outcomes)
    active = found
    for _ in range(_MAX_ROUNDS):
        if not active or time.monotonic() > deadline:
            break
        active = _shrink(active, ask)
        better = {item.group: item for item in active}
        found = [better.get(item.group, item) for item in found]
    return _confirm(found, ask)


def _choose(outcomes: Sequence[Outcome]) -> list[Outcome]:
    clusters: dict[tuple[str, ...], Outcome] = {}
    groups: dict[tuple[str, ...], Outcome] = {}
    for item in sorted(outcomes, key=lambda item: measure_size(item.item.node)):
        clusters.setdefault(item.cluster, item)
        groups.setdefault(item.group, item)
    chosen = {item.group: item for item in (*clusters.values(), *groups.values())}
    return list(chosen.values())[:_MAX_CLUSTERS]


def _shrink(active: Sequence[Outcome], ask: Ask) -> list[Outcome]:
    """Return a smaller outcome of each group that has one among its next candidates."""
    candidates = [
        replace(item.item, node=node)
        for item in active
        for node in islice(iterate_smaller(item.item.node), _CANDIDATES)
    ]
    found: list[Outcome] = []
    outcomes = [item for item in ask(candidates) if item.agrees is False]
    for item in active:
        mine = [other for other in outcomes if other.group == item.group]
        best = min((measure_size(i.item.node), n) for n, i in enumerate(mine)) if mine else None
        if best and best[0] < measure_size(item.item.node):
            found.append(mine[best[1]])
    return found


def _confirm(found: Sequence[Outcome], ask: Ask) -> list[Outcome]:
    again = {id(item.item): item for item in ask([item.item for item in found])}
    pairs = [(item, again[id(item.item)]) for item in found if id(item.item) in again]
    return [
        item
        for item, other in pairs
        if other.agrees is False
        and item.code.observed == other.code.observed
        and item.peer.observed == other.peer.observed
    ]
