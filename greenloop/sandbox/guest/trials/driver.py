"""Driver of a job's trials, in a process that runs no untrusted code and alone writes the report.

The tests are measured together. Then each edit is tried on the tests that reach it, quick tests
first. An edit that cannot be swapped into the loaded module is tried in a fork from before the
collection. A failure counts only if the test passes alone on the original; a test that passes only
after others is run in the file's order, after all of these.
"""

from collections.abc import Generator, Mapping, Sequence
from itertools import takewhile
from typing import Any, BinaryIO, NamedTuple

from ..protocol.framing import Channel
from .baseline import Baseline
from .folders import FolderState
from .forks import Fork, ForkResult
from .limits import COLLECTION, Budget
from .server import NEEDS_IMPORT, SURVIVED, UNCOVERED
from .swap import EditedFile, is_loaded


class ForkRequest(NamedTuple):
    """Request for a fork: the server or, if `order` is set, a fresh trial of an edit."""

    known: Sequence[str] = ()
    order: Sequence[str] | None = None


Forks = Generator[ForkRequest, tuple[Fork, BinaryIO], None]
Results = Generator[ForkRequest, tuple[Fork, BinaryIO], Mapping[str, Any]]


class TrialDriver:
    """Driver of the trials of one job."""

    def __init__(self, job: Mapping[str, Any], file: EditedFile, channel: Channel) -> None:
        self._job, self._file, self._channel = job, file, channel
        self._budget: Budget = job["budget"]
        self._margin: float = job.get("margin", 0.0)
        self._folders = FolderState(job["folders"])
        self._passed_fresh: set[int] = set()  # steps that the original passes in a fresh fork
        self._breaks_fresh = False

    def run(self) -> Forks:
        """Run all trials; yield a request to the caller for each fork."""
        server, requests = yield ForkRequest()
        self.baseline = Baseline(self._job, server, requests)
        why = self.baseline.prepare()
        if why:
            self._channel.send("trouble", what=why)
        elif not self._job["edits"]:
            for item in self.baseline.tests:
                self._channel.send("measured", **item)
        else:
            yield from self._try_all()
        server.kill()

    def _try_all(self) -> Forks:
        """Report `started` and `mutant` for each edit, those that need a new import last."""
        scores: list[float] = []
        later: list[dict[str, Any]] = [] if self.baseline.is_collected else self._job["edits"]
        for edit in self._job["edits"] if self.baseline.is_collected else ():
            if self._is_enough(edit, scores, self._margin) or self._budget.is_over():
                return
            self._channel.send("started", mutant=edit["number"])
            answer = self._try_swapped(edit)
            if answer.get("verdict") == NEEDS_IMPORT:
                later.append(edit)
            else:
                self._report(edit, answer, scores)
        yield from self._try_fresh(later, scores)

    def _is_enough(self, edit: Mapping[str, Any], scores: Sequence[float], margin: float) -> bool:
        if not scores or not self._job["is_red"]:
            return False
        is_worse = edit["score"] > min(scores) + margin
        return bool(is_worse or len(scores) >= self._job["enough"])

    def _try_swapped(self, edit: dict[str, Any]) -> dict[str, Any]:
        while True:
            answer: dict[str, Any] = {}
            for numbers in self._choose_tests(edit):
                writes_file = any(
                    self.baseline.tests[number]["starts_processes"] for number in numbers
                )
                answer = self.baseline.ask(
                    do="try", edit=_get_change(edit), numbers=numbers, writes_file=writes_file
                )
                if answer.get("verdict") != SURVIVED:
                    break
            if not self.baseline.is_confirmed(answer):
                continue
            is_unnoticed = answer.get("verdict") in (SURVIVED, UNCOVERED)
            is_unknown = is_unnoticed and self.baseline.has_unsteady_test(_get_lines(edit))
            return {"ending": "error"} if is_unknown else answer

    def _choose_tests(self, edit: Mapping[str, Any]) -> list[list[int]]:
        """Return the tests for an edit, a list for each fork; all forks must pass.

        If one of the tests depends on others, include all tests before them, in the file's order.
        """
        if self._job["is_red"]:  # nearly all patches fail on the first test
            return [self.baseline.list_screening_tests(), list(range(len(self.baseline.tests)))]
        reached = _get_lines(edit)
        chosen = [n for n in self.baseline.list_passing() if self.baseline.reaches(n, reached)]
        if self.baseline.dependent.intersection(chosen):
            return [[number for number in self.baseline.list_passing() if number <= chosen[-1]]]
        return [self.baseline.sort_quick_first(chosen)]

    def _try_fresh(self, edits: Sequence[dict[str, Any]], scores: list[float]) -> Forks:
        """Try each edit in a fork that loads the file with it and collects the tests again.

        This is slow, so after a patch has passed only likelier patches are tried.
        """
        for edit in edits:
            if self._is_enough(edit, scores, 0.0) or self._budget.is_over():
                return
            self._channel.send("started", mutant=edit["number"])
            if is_loaded(self._file.path):  # by pytest or a plug-in, before any fork
                answer: Mapping[str, Any] = {"ending": "loaded"}
            else:
                order = self._order_nearest_first(edit)
                answer = yield from self._run_fresh(edit, order)
                answer = yield from self._confirm_fresh(answer, order)
            self._report(edit, answer, scores)

    def _confirm_fresh(self, answer: Mapping[str, Any], order: Sequence[int]) -> Results:
        """Return the answer; a failure counts if the original passes the tests up to it too."""
        is_failure = answer["ending"] != "not_run" and answer["verdict"] != SURVIVED
        if self._job["is_red"] or not is_failure or answer["step"] in self._passed_fresh:
            return answer
        original: Mapping[str, Any] = {"ending": "error"}
        if not self._breaks_fresh:
            tests = [*takewhile(lambda number: number != answer["step"], order), answer["step"]]
            tests = tests if answer["step"] in order else []
            original = yield from self._run_fresh(None, tests)
            if original["verdict"] == SURVIVED:
                self._passed_fresh.update(tests, [COLLECTION])
                return answer
            self._breaks_fresh = original["ending"] != "not_run"
        return original if original["ending"] == "not_run" else {"ending": "error"}

    def _order_nearest_first(self, edit: Mapping[str, Any]) -> list[int]:
        """Return the tests that count, first those that reach the function around the edit."""
        if self._job["is_red"]:
            return [*self.baseline.list_screening_tests(), *range(len(self.baseline.tests))]
        start, end, first, _ = edit["unit"]
        around = set(range(first, first + self._file.text.count("\n", start, end) + 1))
        if self.baseline.dependent:
            return self.baseline.list_passing()
        quick = self.baseline.sort_quick_first(self.baseline.list_passing())
        return sorted(quick, key=lambda number: not self.baseline.reaches(number, around))

    def _run_fresh(self, edit: Mapping[str, Any] | None, numbers: Sequence[int]) -> Results:
        if edit is not None:
            self._file.write(edit)
        names = [self.baseline.names[number] for number in dict.fromkeys(numbers)]
        fork, requests = yield ForkRequest(self.baseline.names, names)
        requests.close()
        result: ForkResult = fork.wait(self._budget.is_over)
        if failed := self._folders.restore():
            raise OSError(f"a trial changed {failed}, which cannot be put back")
        return result._asdict()

    def _report(
        self, edit: Mapping[str, Any], answer: Mapping[str, Any], scores: list[float]
    ) -> None:
        outcome, verdict = answer.get("ending"), answer.get("verdict")
        test = ""
        if outcome == "verdict" and isinstance(verdict, dict):
            outcome, test = "killed", str(verdict.get("killed"))
        elif outcome == "verdict":
            outcome = verdict
        elif outcome in ("timeout", "crashed"):
            step = answer["step"]
            test = (
                self.baseline.names[step] if 0 <= step < len(self.baseline.names) else "collection"
            )
        if outcome == SURVIVED and self._job["is_red"]:
            scores.append(edit["score"])
        self._channel.send("mutant", mutant=edit["number"], outcome=outcome, test=test)


def _get_lines(edit: Mapping[str, Any]) -> set[int]:
    first, last = edit["lines"]
    return set(range(first, last + 1))


def _get_change(edit: Mapping[str, Any]) -> dict[str, Any]:
    return {name: edit[name] for name in ("start", "end", "text", "unit")}
