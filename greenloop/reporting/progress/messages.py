"""One event, one line (or a few): the words of the progress, without any drawing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from textwrap import shorten
from typing import Any

from greenloop import events as e
from greenloop.records import Attempt, TestRun
from greenloop.reporting.evidence.text import evidence_line

WARNING = "WARNING"
LABEL_WIDTH = 9  # each line begins with a label of this width, blank where it goes on
_MOST = 8
_LINE = 66  # characters of a requirement on screen: with its number, one row of 80 columns
_WHY = 200  # of the reasons for a dispute; the report has all


def lines_of(event: e.Event, *, verbose: bool = False) -> list[str]:
    """What a person is told of an event; [] where nothing is to be told."""
    teller = _tellers().get(type(event))
    return list(teller(event, verbose)) if teller else []


def _tellers() -> dict[type[e.Event], Callable[[Any, bool], Iterator[str]]]:
    return {
        e.RunStarted: _started,
        e.CallFinished: _called,
        e.CallRetried: _retried,
        e.AnswerRejected: _rejected,
        e.ContractReady: _contract,
        e.PackagesAwaited: _awaited,
        e.PackagesReady: _ready,
        e.Reviewed: _reviewed,
        e.RedPhaseDone: _red_phase,
        e.FreeFixed: _free_fixed,
        e.Attempted: _attempted,
        e.TestsRun: _tests_run,
        e.DisputeJudged: _judged,
        e.Stuck: _stuck,
        e.Graded: _graded,
        e.Hardened: _hardened,
        e.ChecksReady: _checks,
        e.Searched: _searched,
        e.BatchStarted: _batch,
        e.EntryEnded: _entry,
        e.HiddenTestsRun: _hidden,
        e.Notice: _notice,
    }


def _started(event: e.RunStarted, verbose: bool) -> Iterator[str]:
    yield f"model    {event.model}"
    if event.recorded:
        yield "         the model's answers are RECORDED: no model is asked, all else is done for real"
    if is_none(event.sandbox):
        yield f"{WARNING}  no sandbox. {event.isolation}"
    else:
        yield f"sandbox  {event.sandbox} ({event.isolation})"
    if event.run_dir:
        yield f"run      {_near(event.run_dir)}"
    if event.resumed_answers:
        yield f"resumed  {event.resumed_answers} answers are in the log and are not asked for again"


def is_none(sandbox: str) -> bool:
    """Whether a backend's name stands for no sandbox at all: that is told loudly."""
    return sandbox == "none"


def _called(event: e.CallFinished, verbose: bool) -> Iterator[str]:
    source = "from the log" if event.source == "log" else f"{event.seconds:.1f} s"
    if verbose:
        yield f"call     {event.tool}: {source}, {event.tokens} tokens"


def _retried(event: e.CallRetried, verbose: bool) -> Iterator[str]:
    yield f"retry    {event.tool}: {event.reason}; again in {event.wait_s:.1f} s (try {event.attempt})"


def _rejected(event: e.AnswerRejected, verbose: bool) -> Iterator[str]:
    yield f"again    {event.tool}: {event.why}"


def _contract(event: e.ContractReady, verbose: bool) -> Iterator[str]:
    contract = event.contract
    yield f"contract {contract.module}: {contract.summary}"
    for item in contract.requirements:
        text = item.text if verbose else shorten(item.text, _LINE, placeholder=" …")
        yield f"         {item.id} {text}"
    for text in contract.assumptions:
        yield f"         assumed: {text}"
    if contract.packages:
        yield f"         packages: {', '.join(contract.packages)}"
    if contract.examples:
        yield f"         {len(contract.examples)} examples of the specification taken over as tests"


def _awaited(event: e.PackagesAwaited, verbose: bool) -> Iterator[str]:
    yield f"packages {', '.join(event.names)}: not in the cache, being installed"


def _ready(event: e.PackagesReady, verbose: bool) -> Iterator[str]:
    yield f"packages {event.packages} ({'from the cache' if event.cached else 'installed'})"


def _reviewed(event: e.Reviewed, verbose: bool) -> Iterator[str]:
    findings = event.review.findings
    yield f"review   {len(findings)} findings" if findings else "review   LGTM"
    yield from (f"         {item}" for item in findings)


def _red_phase(event: e.RedPhaseDone, verbose: bool) -> Iterator[str]:
    phase = event.red_phase
    aside = len(phase.passing_on_stub)
    proves = f"; {aside} pass there and prove nothing" if aside else ""
    yield f"tests    {event.tests} tests, {phase.failed} fail on a stub as they must{proves}"


def _free_fixed(event: e.FreeFixed, verbose: bool) -> Iterator[str]:
    yield f"free fix {', '.join(event.fixes[:_MOST])}"


def _attempted(event: e.Attempted, verbose: bool) -> Iterator[str]:
    yield f"attempt  {_counted(event.attempt)}"
    if event.attempt.remark and event.attempt.based_on:
        yield f"         changed: {_cut(event.attempt.remark, verbose)}"
    yield from _failures(event.run, verbose)


def _tests_run(event: e.TestsRun, verbose: bool) -> Iterator[str]:
    run = event.run
    yield (
        f"tests    {run.passed_count} passed, {run.failed_count} failed, {run.error_count} errors "
        f"({run.duration_s:.1f} s)"
    )
    yield from _failures(run, verbose)


def _failures(run: TestRun, verbose: bool) -> Iterator[str]:
    if run.ending != "finished":
        yield f"         {run.ending}: {run.detail}"
    elif run.detail:
        yield f"         {run.detail}"
    for failure in run.failures[: len(run.failures) if verbose else _MOST]:
        first = failure.message.strip().split("\n")[0]
        yield f"         {failure.test.partition('::')[2] or failure.test}: {failure.exception}: {first}"


def _counted(attempt: Attempt) -> str:
    base = f" of {attempt.based_on}" if attempt.based_on else ""
    return (
        f"{attempt.n} {attempt.kind}{base}: {attempt.passed} passed, {attempt.failed} failed, "
        f"{attempt.errors} errors ({attempt.tokens} tokens, {attempt.seconds:.1f} s)"
    )


def _cut(text: str, verbose: bool) -> str:
    return text if verbose else shorten(text, _WHY, placeholder=" …")


def _near(path: str) -> str:
    """As it is typed from the working folder, where it lies below that."""
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative


def _judged(event: e.DisputeJudged, verbose: bool) -> Iterator[str]:
    judged = event.judgement
    ends = "the test is wrong and is dropped" if judged.wrong == "test" else "the test stands"
    yield f"dispute  {event.dispute.test}: {_cut(event.dispute.why, verbose)}"
    yield f"         judged from the contract alone: {ends}: {_cut(judged.because, verbose)}"


def _stuck(event: e.Stuck, verbose: bool) -> Iterator[str]:
    yield f"stuck    {event.why}: {event.then}"


def _graded(event: e.Graded, verbose: bool) -> Iterator[str]:
    yield f"grading  {evidence_line(event.evidence)}"


def _hardened(event: e.Hardened, verbose: bool) -> Iterator[str]:
    faults = f"{event.survivors} mutant{'s' * (event.survivors != 1)} lived on"
    if not event.tests:
        yield f"harden   {faults}; no test could be added"
        return
    yield f"harden   {faults}; tests added: {', '.join(event.tests[:_MOST])}"


def _checks(event: e.ChecksReady, verbose: bool) -> Iterator[str]:
    yield f"checks   {len(event.checks)} of what it shows"
    for item in event.checks:
        whose = " (made of the task)" if item.origin == "generated" else ""
        yield f"         {shorten(item.id, _LINE, placeholder=' …')}{whose}"


def _searched(event: e.Searched, verbose: bool) -> Iterator[str]:
    found, count = event.search, len(event.search.patches)
    yield (
        f"search   {found.tried} edits tried in {found.seconds:.1f} s: "
        f"{count or 'none'} with which all tests pass"
    )
    yield from (
        f"         line {item.line}: {item.change}"
        for item in found.patches[: 3 if not verbose else None]
    )


def _batch(event: e.BatchStarted, verbose: bool) -> Iterator[str]:
    yield f"batch    {event.count} specifications, kept in {event.folder}"


def _entry(event: e.EntryEnded, verbose: bool) -> Iterator[str]:
    outcome = event.outcome
    what = (
        outcome.kind if outcome.kind in ("unchanged", "broken off", "refused") else outcome.verdict
    )
    counted = f"{outcome.calls} calls, {outcome.tokens} tokens, {outcome.seconds:.1f} s"
    new = outcome.kind in ("reached", "missed", "broken off")
    spent = f" ({counted})" if new else " (before)" if outcome.kind == "done before" else ""
    why = f": {outcome.reason}" if outcome.reason and outcome.exit_status else ""
    yield f"{what!s:10} {outcome.id}{spent}{why}"


def _hidden(event: e.HiddenTestsRun, verbose: bool) -> Iterator[str]:
    found = event.result
    if found.truth is not None:
        why = f": {found.why}" if found.why else ""
        yield f"{'hidden':10} {found.id}: {found.truth}{' (before)' * event.before}{why}"


def _notice(event: e.Notice, verbose: bool) -> Iterator[str]:
    yield f"note     {event.text}"
