"""Samples of mutants, spread over the whole module."""

from __future__ import annotations

import random
from collections.abc import Sequence

from greenloop.grading.mutation.mutant import Mutant


def sample_mutants(mutants: Sequence[Mutant], max_mutants: int, seed: int) -> tuple[Mutant, ...]:
    """Return at most `max_mutants` mutants in the order of the text; `seed` decides which.

    Each function gets one before any gets a second; likewise each line within a function.
    """
    rng = random.Random(seed)
    functions = list(_group_by_attribute(mutants, "function").values())
    queues = [_order_by_line(members, rng) for members in functions]
    rng.shuffle(queues)
    chosen: list[Mutant] = []
    while queues and len(chosen) < max_mutants:
        for queue in queues[: max_mutants - len(chosen)]:
            chosen.append(queue.pop())
        queues = [queue for queue in queues if queue]
    positions = {item.id: number for number, item in enumerate(mutants)}
    return tuple(sorted(chosen, key=lambda item: positions[item.id]))


def _order_by_line(mutants: Sequence[Mutant], rng: random.Random) -> list[Mutant]:
    """Return them in the order in which the caller pops them from the end."""
    lines = list(_group_by_attribute(mutants, "line").values())
    for line in lines:
        rng.shuffle(line)
    rng.shuffle(lines)
    taken: list[Mutant] = []
    while lines:
        taken.extend(line.pop() for line in lines)
        lines = [line for line in lines if line]
    return taken[::-1]


def _group_by_attribute(mutants: Sequence[Mutant], name: str) -> dict[object, list[Mutant]]:
    groups: dict[object, list[Mutant]] = {}
    for item in mutants:
        groups.setdefault(getattr(item, name), []).append(item)
    return groups
