"""Progress messages of one run; later attempts and grades show only what has changed."""

from greenloop import events as e
from greenloop.records import Evidence, Failure
from greenloop.reporting.evidence.text import brief_results
from greenloop.reporting.progress.messages import MIN_WIDTH, format_event
from greenloop.reporting.traceability import short_name

_REPAIRS = ("repair", "rewrite")


class RunMessages:
    """Formatter of a run's events, which keeps the last grade and attempt for comparison."""

    def __init__(self, *, verbose: bool = False, width: int = MIN_WIDTH) -> None:
        self._verbose, self._width = verbose, width
        self._grade: dict[str, str] = {}
        self._failures: frozenset[Failure] = frozenset()
        self._shown_attempt, self._repairs, self._max_repairs = 0, 0, 0

    def format(self, event: e.Event) -> list[str]:
        """Return the lines for an event; [] if it has no message."""
        match event:
            case e.CodeGraded(evidence) if not self._verbose:
                return self._format_grade(event, evidence)
            case e.CandidateTested():
                return self._format_attempt(event)
            case e.RunStarted():
                self._max_repairs = event.max_repairs
        return format_event(event, verbose=self._verbose, width=self._width)

    def _format_grade(self, event: e.Event, evidence: Evidence) -> list[str]:
        grade = brief_results(evidence)
        before, self._grade = self._grade, grade
        if not before:
            return format_event(event)
        changed = [
            f"{name} {before.get(name, 'none')} → {brief}"
            for name, brief in grade.items()
            if before.get(name) != brief
        ]
        return [f"grading  {', '.join(changed) or 'as before'}"]

    def _format_attempt(self, event: e.CandidateTested) -> list[str]:
        attempt, run = event.attempt, event.run
        first, self._shown_attempt = self._shown_attempt + 1, max(attempt.n, self._shown_attempt)
        untested = [f"attempt  {n}: fixed before its test run" for n in range(first, attempt.n)]
        known = [] if self._verbose else [f for f in run.failures if f in self._failures]
        self._failures = frozenset(run.failures)
        new = tuple(item for item in run.failures if item not in known)
        shown = format_event(
            e.CandidateTested(attempt, run.model_copy(update={"failures": new})),
            verbose=self._verbose,
        )
        if attempt.kind in _REPAIRS:
            self._repairs += 1
            total = f"/{self._max_repairs}" if self._max_repairs else ""
            shown[0] = f"{shown[0]}, repair {self._repairs}{total}"
        if known:
            shown.append(
                f"         and as before: {', '.join(short_name(item.test) for item in known[:8])}"
            )
        return [*untested, *shown]
