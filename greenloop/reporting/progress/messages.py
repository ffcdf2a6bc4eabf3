"""One event, one line (or a few): the words of the progress, without any drawing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from textwrap import shorten
from typing import Any

from greenloop import events as e
from greenloop.records import Attempt, TestRun
from greenloop.reporting.evidence.text import summarize_evidence

WARNING = "WARNING"
LABEL_WIDTH = 9  # each line begins with a label of this width, blank where it goes on
_MAX_LISTED = 8
_MAX_REQUIREMENT_LENGTH = (
    66  # characters of a requirement on screen: with its number, one row of 80 columns
)
_MAX_REASON_LENGTH = 200  # of the reasons for a dispute; the report has all


def format_event(event: e.Event, *, verbose: bool = False) -> list[str]:
    """What a person is told of an event; [] where nothing is to be told."""
    teller = _formatters().get(type(event))
    return list(teller(event, verbose)) if teller else []


def _formatters() -> dict[type[e.Event], Callable[[Any, bool], Iterator[str]]]:
    return {
        e.RunStarted: _format_run_started,
        e.CallFinished: _format_call_finished,
        e.CallRetried: _format_call_retried,
        e.ResponseRejected: _format_answer_rejected,
        e.ContractReady: _format_contract,
        e.PackageInstallStarted: _format_packages_awaited,
        e.PackagesReady: _format_packages_ready,
        e.CodeReviewed: _format_review,
        e.RedPhaseDone: _format_red_phase,
        e.AutofixApplied: _format_autofix,
        e.CandidateTested: _format_attempt,
        e.TestRunFinished: _format_test_run,
        e.DisputeJudged: _format_dispute,
        e.Stuck: _format_stuck,
        e.CodeGraded: _format_grade,
        e.HardeningDone: _format_hardening,
        e.ChecksReady: _format_checks,
        e.RepairSearchDone: _format_search,
        e.BatchStarted: _format_batch_started,
        e.EntryEnded: _format_entry_ended,
        e.HiddenTestsFinished: _format_hidden_tests,
        e.Notice: _format_notice,
    }


def _format_run_started(event: e.RunStarted, verbose: bool) -> Iterator[str]:
    yield f"model    {event.model}"
    if event.is_replay:
        yield "         the model's answers are RECORDED: no model is asked, all else is done for real"
    if is_unsandboxed(event.sandbox):
        yield f"{WARNING}  no sandbox. {event.isolation}"
    else:
        yield f"sandbox  {event.sandbox} ({event.isolation})"
    if event.run_dir:
        yield f"run      {_format_path(event.run_dir)}"
    if event.resumed_responses:
        yield f"resumed  {event.resumed_responses} answers are in the log and are not asked for again"


def is_unsandboxed(backend: str) -> bool:
    """Whether a backend's name stands for no sandbox at all: that is told loudly."""
    return backend == "none"


def _format_call_finished(event: e.CallFinished, verbose: bool) -> Iterator[str]:
    source = "from the log" if event.source == "log" else f"{event.seconds:.1f} s"
    if verbose:
        yield f"call     {event.tool}: {source}, {event.tokens} tokens"


def _format_call_retried(event: e.CallRetried, verbose: bool) -> Iterator[str]:
    yield f"retry    {event.tool}: {event.reason}; again in {event.wait_s:.1f} s (try {event.attempt})"


def _format_answer_rejected(event: e.ResponseRejected, verbose: bool) -> Iterator[str]:
    yield f"again    {event.tool}: {event.why}"


def _format_contract(event: e.ContractReady, verbose: bool) -> Iterator[str]:
    contract = event.contract
    yield f"contract {contract.module}: {contract.summary}"
    for item in contract.requirements:
        text = (
            item.text if verbose else shorten(item.text, _MAX_REQUIREMENT_LENGTH, placeholder=" …")
        )
        yield f"         {item.id} {text}"
    for text in contract.assumptions:
        yield f"         assumed: {text}"
    if contract.packages:
        yield f"         packages: {', '.join(contract.packages)}"
    if contract.examples:
        yield f"         {len(contract.examples)} examples of the specification taken over as tests"


def _format_packages_awaited(event: e.PackageInstallStarted, verbose: bool) -> Iterator[str]:
    yield f"packages {', '.join(event.names)}: not in the cache, being installed"


def _format_packages_ready(event: e.PackagesReady, verbose: bool) -> Iterator[str]:
    yield f"packages {event.packages} ({'from the cache' if event.cached else 'installed'})"


def _format_review(event: e.CodeReviewed, verbose: bool) -> Iterator[str]:
    findings = event.review.findings
    yield f"review   {len(findings)} findings" if findings else "review   LGTM"
    yield from (f"         {item}" for item in findings)


def _format_red_phase(event: e.RedPhaseDone, verbose: bool) -> Iterator[str]:
    phase = event.red_phase
    aside = len(phase.passing_on_stub)
    proves = f"; {aside} pass there and prove nothing" if aside else ""
    yield f"tests    {event.tests} tests, {phase.failed} fail on a stub as they must{proves}"


def _format_autofix(event: e.AutofixApplied, verbose: bool) -> Iterator[str]:
    yield f"free fix {', '.join(event.fixes[:_MAX_LISTED])}"


def _format_attempt(event: e.CandidateTested, verbose: bool) -> Iterator[str]:
    yield f"attempt  {_format_attempt_counts(event.attempt)}"
    if event.attempt.remark and event.attempt.based_on:
        yield f"         changed: {_truncate_reason(event.attempt.remark, verbose)}"
    yield from _format_failures(event.run, verbose)


def _format_test_run(event: e.TestRunFinished, verbose: bool) -> Iterator[str]:
    run = event.run
    yield (
        f"tests    {run.passed_count} passed, {run.failed_count} failed, {run.error_count} errors "
        f"({run.duration_s:.1f} s)"
    )
    yield from _format_failures(run, verbose)


def _format_failures(run: TestRun, verbose: bool) -> Iterator[str]:
    if run.ending != "finished":
        yield f"         {run.ending}: {run.detail}"
    elif run.detail:
        yield f"         {run.detail}"
    for failure in run.failures[: len(run.failures) if verbose else _MAX_LISTED]:
        first = failure.message.strip().split("\n")[0]
        yield f"         {failure.test.partition('::')[2] or failure.test}: {failure.exception}: {first}"


def _format_attempt_counts(attempt: Attempt) -> str:
    base = f" of {attempt.based_on}" if attempt.based_on else ""
    return (
        f"{attempt.n} {attempt.kind}{base}: {attempt.passed} passed, {attempt.failed} failed, "
        f"{attempt.errors} errors ({attempt.tokens} tokens, {attempt.seconds:.1f} s)"
    )


def _truncate_reason(text: str, verbose: bool) -> str:
    return text if verbose else shorten(text, _MAX_REASON_LENGTH, placeholder=" …")


def _format_path(path: str) -> str:
    """As it is typed from the working folder, where it lies below that."""
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative


def _format_dispute(event: e.DisputeJudged, verbose: bool) -> Iterator[str]:
    judged = event.judgement
    ends = "the test is wrong and is dropped" if judged.wrong == "test" else "the test stands"
    yield f"dispute  {event.dispute.test}: {_truncate_reason(event.dispute.why, verbose)}"
    yield f"         judged from the contract alone: {ends}: {_truncate_reason(judged.because, verbose)}"


def _format_stuck(event: e.Stuck, verbose: bool) -> Iterator[str]:
    yield f"stuck    {event.why}: {event.next_step}"


def _format_grade(event: e.CodeGraded, verbose: bool) -> Iterator[str]:
    yield f"grading  {summarize_evidence(event.evidence)}"


def _format_hardening(event: e.HardeningDone, verbose: bool) -> Iterator[str]:
    faults = f"{event.survivors} mutant{'s' * (event.survivors != 1)} lived on"
    if not event.tests:
        yield f"harden   {faults}; no test could be added"
        return
    yield f"harden   {faults}; tests added: {', '.join(event.tests[:_MAX_LISTED])}"


def _format_checks(event: e.ChecksReady, verbose: bool) -> Iterator[str]:
    yield f"checks   {len(event.checks)} of what it shows"
    for item in event.checks:
        whose = " (made of the task)" if item.origin == "generated" else ""
        yield f"         {shorten(item.id, _MAX_REQUIREMENT_LENGTH, placeholder=' …')}{whose}"


def _format_search(event: e.RepairSearchDone, verbose: bool) -> Iterator[str]:
    found, count = event.search, len(event.search.patches)
    yield (
        f"search   {found.tried} edits tried in {found.seconds:.1f} s: "
        f"{count or 'none'} with which all tests pass"
    )
    yield from (
        f"         line {item.line}: {item.change}"
        for item in found.patches[: 3 if not verbose else None]
    )


def _format_batch_started(event: e.BatchStarted, verbose: bool) -> Iterator[str]:
    yield f"batch    {event.count} specifications, kept in {event.folder}"


def _format_entry_ended(event: e.EntryEnded, verbose: bool) -> Iterator[str]:
    outcome = event.outcome
    what = (
        outcome.kind if outcome.kind in ("unchanged", "broken off", "refused") else outcome.verdict
    )
    counted = f"{outcome.calls} calls, {outcome.tokens} tokens, {outcome.seconds:.1f} s"
    new = outcome.kind in ("reached", "missed", "broken off")
    spent = f" ({counted})" if new else " (before)" if outcome.kind == "done before" else ""
    why = f": {outcome.reason}" if outcome.reason and outcome.exit_status else ""
    yield f"{what!s:10} {outcome.id}{spent}{why}"


def _format_hidden_tests(event: e.HiddenTestsFinished, verbose: bool) -> Iterator[str]:
    found = event.result
    if found.truth is not None:
        why = f": {found.why}" if found.why else ""
        yield f"{'hidden':10} {found.id}: {found.truth}{' (before)' * event.from_earlier_call}{why}"


def _format_notice(event: e.Notice, verbose: bool) -> Iterator[str]:
    yield f"note     {event.text}"
