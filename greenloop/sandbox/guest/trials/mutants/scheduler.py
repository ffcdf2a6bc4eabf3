"""Mutants tried on tests that are collected: in batches first, then those that are open alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..collected_session import Suite
from ..fork_messages import Reporting
from ..fork_pool import Forks, Result, Task
from ..workspaces import Rooms
from .batches import Batches, Found, Member
from .hot_swap import Living, Original
from .loop_detection import endless_lines
from .outcomes import AGAIN, QUICK_S, SURVIVED, bounds, event_of, killed, started

Say = Callable[[dict[str, Any]], None]


class Trying:
    """`tests` are what the healthy run told of each, `lines` what it reached of the module."""

    def __init__(
        self,
        suite: Suite,
        original: Original,
        living: Living,
        tests: Sequence[dict[str, Any]],
        lines: Sequence[set[int]],
        collect_s: float,
    ) -> None:
        self._suite, self._original, self._living = suite, original, living
        self._tests, self._lines, self._collect_s = tests, lines, collect_s
        self.passing = [n for n, item in enumerate(tests) if item["outcome"] == "passed"]
        self._endless = endless_lines(original.text)
        self._dependent: set[int] | None = None

    def use(self, forks: Forks, rooms: Rooms, say: Say, together: bool) -> None:
        """Without `together` each mutant has a fork of its own."""
        self._forks, self._rooms, self._say, self._together = forks, rooms, say, together

    def check(self) -> bool:
        """Whether the tests pass as mutants will meet them."""
        if not self._failing({len(self._tests): self.passing}):
            return True
        self._find_dependent()
        return not self._failing({len(self._tests): self.passing})

    def try_all(self, splices: Sequence[dict[str, Any]]) -> None:
        """Says of each mutant `started` and `mutant`, or `fresh`."""
        members: list[Member] = []
        for splice in splices:
            chosen = self._chosen(splice["lines"])
            if chosen:
                members.append(Member(splice, chosen))
            elif self._living.ran_at_import(self._original.changed(splice)):
                self._say({"event": "fresh", "mutant": splice["number"]})
            else:
                said = {"event": "mutant", "mutant": splice["number"], "outcome": "uncovered"}
                self._say(said)
        fitting = [item for item in members if self._together and self._fits(item)]
        found = self._in_batches(fitting)
        if found.doubt or not all(self._suite.repeats(item.chosen) for item in members):
            self._find_dependent()
        settled = found.killed.keys() | set(found.again)
        self._alone([item.splice for item in members if item.number not in settled])

    def _fits(self, member: Member) -> bool:
        """Whether it can share a process. What may well run for ever is tried once, by itself."""
        first, last = member.splice["lines"]
        if not self._endless.isdisjoint(range(first, last + 1)):
            return False
        return self._suite.repeats(member.chosen)

    def _in_batches(self, members: Sequence[Member]) -> Found:
        costs = [(item["cpu_s"], item["wall_s"]) for item in self._tests]
        batches = Batches(self._suite, self._original, self._living, costs)
        found = batches.try_all(members, self._forks, self._start, self._rooms.clean)
        for number, test in sorted(found.killed.items()):
            verdict = Result("verdict", killed(self._tests[test]["id"]))
            self._say(event_of(number, verdict, self._tests))
        for number in found.again:
            self._say({"event": "fresh", "mutant": number})
        return found

    def _alone(self, splices: Sequence[dict[str, Any]]) -> None:
        """What tests need of one another matters only where one of them is red.

        Then it may be so for want of another test, so before it is believed that is found out.
        """
        held: dict[int, Result] = {}

        def hear(task: Task, result: Result) -> None:
            if self._dependent is None and result.verdict.startswith(killed("")[:-2]):
                held[task.number] = result
            else:
                self._hear(task, result)

        self._run([self._mutant(splice) for splice in splices], hear, self._begin)
        if not held:
            return
        self._find_dependent()
        if self._dependent:
            again = [splice for splice in splices if splice["number"] in held]
            self._run([self._mutant(splice) for splice in again], self._hear)
            return
        for number, result in held.items():
            self._say(event_of(number, result, self._tests))

    def _find_dependent(self) -> None:
        """Which tests only pass after others; some need pytest's hooks for that."""
        if self._dependent is not None:
            return
        alone = self._failing({number: [number] for number in self.passing})
        again = [number for number in alone if self._suite.use_hooks(number)]
        still = self._failing({number: [number] for number in again})
        self._dependent = (set(alone) - set(again)) | set(still)

    def _failing(self, choices: dict[int, list[int]]) -> list[int]:
        """Which of these choices of tests do not pass on the code itself."""
        failing: list[int] = []

        def hear(task: Task, result: Result) -> None:
            if result.verdict != SURVIVED:
                failing.append(task.number)

        self._run([self._task(number, chosen, None) for number, chosen in choices.items()], hear)
        return sorted(failing)

    def _chosen(self, lines: Sequence[int]) -> list[int]:
        """The tests that reach one of these lines, quick ones first.

        Where one of them only passes after others: in the file's order, with all that come before.
        """
        reached = set(range(lines[0], lines[1] + 1))
        chosen = [number for number in self.passing if self._lines[number] & reached]
        if self._dependent and self._dependent.intersection(chosen):
            return [number for number in self.passing if number <= chosen[-1]]
        return sorted(chosen, key=lambda number: (self._tests[number]["cpu_s"] > QUICK_S, number))

    def _mutant(self, splice: dict[str, Any]) -> Task:
        return self._task(splice["number"], self._chosen(splice["lines"]), splice)

    def _task(self, number: int, chosen: Sequence[int], splice: dict[str, Any] | None) -> Task:
        def work(report: Reporting) -> str:
            if splice and not self._living.replace(self._original.changed(splice)):
                return AGAIN
            failing = self._suite.first_failing(chosen, report)
            return SURVIVED if failing is None else killed(self._tests[failing]["id"])

        return Task(number, work, lambda step: bounds(self._tests, self._collect_s, step))

    def _begin(self, task: Task) -> None:
        self._start(task.number)

    def _start(self, number: int) -> None:
        self._say(started(number))

    def _hear(self, task: Task, result: Result) -> None:
        if result.verdict == AGAIN:
            self._say({"event": "fresh", "mutant": task.number})
        else:
            self._say(event_of(task.number, result, self._tests))

    def _run(
        self,
        tasks: list[Task],
        done: Callable[[Task, Result], None],
        begin: Callable[[Task], None] = lambda task: None,
    ) -> None:
        self._forks.run(tasks, done, begin, self._rooms.clean)
