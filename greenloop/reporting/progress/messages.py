"""Progress messages: the lines of text for each event."""

from collections.abc import Iterator
from textwrap import shorten

from greenloop import events as e
from greenloop.records import Attempt, SearchResult, TestRun
from greenloop.records.batch import BatchOutcome
from greenloop.reporting.evidence.text import summarize_evidence
from greenloop.reporting.summary import describe_ruling, pluralize, shorten_path
from greenloop.reporting.traceability import short_name

WARNING = "WARNING"
LABEL_WIDTH = 9  # of the label at the start of each line; blank in continuation lines
ANSWER_WORDS = {"user": "answered: ", "accepted": "left to greenloop: ", "left": "left open"}
_ATTEMPT_NAMES = {"free-fix": "automatic fix"}
_MAX_LISTED, _MAX_PATCHES = 8, 3
MIN_WIDTH = 80
_REQUIREMENT_COLUMN = 14  # where its text begins
_MAX_CHECK_LENGTH = 66
_MAX_REASON_LENGTH = 200  # the report has the whole reason


def format_event(event: e.Event, *, verbose: bool = False, width: int = MIN_WIDTH) -> list[str]:
    """Return the lines for an event; [] if it has no message. `width` is the terminal's."""
    line = _format_line(event)
    return [line] if line else list(_format_lines(event, verbose, width))


def _format_line(event: e.Event) -> str:
    """Return the message of an event that always has one line, '' for others."""
    match event:
        case e.Notice(text):
            return f"note     {text}"
        case e.CallRetried(tool, reason, attempt, wait_s):
            return f"retry    {tool}: {reason}; again in {wait_s:.1f} s (try {attempt})"
        case e.ResponseRejected(tool, why):
            return f"again    {tool}: {why}"
        case e.PackageInstallStarted(names):
            return f"packages {', '.join(names)}: not in the cache, installing"
        case e.PackagesReady(packages, cached):
            return f"packages {packages} ({'from the cache' if cached else 'installed'})"
        case e.RedPhaseDone(phase, tests):
            passing = len(phase.passing_on_stub)
            excluded = f"; {passing} pass on it and are excluded" if passing else ""
            return f"tests    {tests} tests, {phase.failed} fail without the code, as expected{excluded}"
        case e.AutofixApplied(fixes):
            return f"autofix  {', '.join(fixes[:_MAX_LISTED])}"
        case e.ChoiceAnswered(choice, answer):
            settled = answer.answer or (choice.chosen if answer.how == "accepted" else "")
            return f"choice   {choice.question} {ANSWER_WORDS[answer.how]}{settled}"
        case e.Stuck(why, next_step):
            return f"stuck    {why}: {next_step}"
        case e.CodeGraded(evidence):
            return f"grading  {summarize_evidence(evidence)}"
        case e.HardeningDone(survivors, tests):
            added = f"tests added: {', '.join(tests[:_MAX_LISTED])}"
            survived = f"{pluralize(survivors, 'mutant')} survived"
            return f"harden   {survived}; {added if tests else 'no test could be added'}"
        case e.BatchStarted(count, folder):
            return f"batch    {pluralize(count, 'specification')}, results in {folder}"
    return ""


def _format_lines(event: e.Event, verbose: bool, width: int) -> Iterator[str]:
    """Yield the lines of an event whose message depends on its contents."""
    match event:
        case e.RunStarted():
            yield from _format_run_started(event, verbose)
        case e.CallFinished(tool, seconds, tokens, source) if verbose:
            yield f"call     {tool}: {'from the log' if source == 'log' else f'{seconds:.1f} s'}, {tokens} tokens"
        case e.ContractReady():
            yield from _format_contract(event, verbose, max(width, MIN_WIDTH) - _REQUIREMENT_COLUMN)
        case e.CodeReviewed(review):
            yield f"review   {f'{len(review.findings)} findings' if review.findings else 'LGTM'}"
            yield from (f"         {item}" for item in review.findings)
        case e.CandidateTested(attempt, run):
            yield f"attempt  {_format_attempt_counts(attempt)}"
            if attempt.remark and attempt.based_on:
                yield f"         changed: {_truncate_reason(attempt.remark, verbose)}"
            yield from _format_failures(run, verbose)
        case e.TestRunFinished(run):
            counts = _format_outcomes(run.passed_count, run.failed_count, run.error_count)
            yield f"tests    {counts} ({run.duration_s:.1f} s)"
            yield from _format_failures(run, verbose)
        case e.DisputeJudged(dispute, judged):
            why, because = (_truncate_reason(x, verbose) for x in (dispute.why, judged.because))
            yield f"dispute  {dispute.test}: {why}"
            yield f"         judged by the contract: {describe_ruling(judged.wrong)}: {because}"
        case e.PeerCompared(peer):
            yield f"second   {peer.agreed} of {peer.allowed} inputs agree with a second implementation"
            for item in peer.differences:
                yield f"         {_truncate_reason(f'{item.call}: {item.outcome}', verbose)}"
        case e.ChecksReady(checks):
            yield f"checks   {len(checks)} of the output"
            for check in checks:
                origin = " (from the task)" if check.origin == "generated" else ""
                shown = shorten(check.id, _MAX_CHECK_LENGTH, placeholder=" …")
                yield f"         {shown}{origin}"
        case e.RepairSearchDone(search):
            yield from _format_search(search, verbose)
        case e.EntryEnded(outcome):
            yield _format_outcome(outcome)
        case e.HiddenTestsFinished(result, from_earlier_call) if result.truth is not None:
            before, why = " (before)" * from_earlier_call, f": {result.why}" if result.why else ""
            yield f"{'hidden':10} {result.id}: {result.truth}{before}{why}"


def _format_run_started(event: e.RunStarted, verbose: bool) -> Iterator[str]:
    if not event.model.startswith("none"):  # a check calls no model
        yield f"model    {event.model}"
    if event.is_replay:
        yield "         RECORDED answers: no model is called, everything else runs"
    if is_unsandboxed(event.sandbox):
        yield f"{WARNING}  no sandbox. {event.isolation}"
    else:
        isolation = event.isolation if verbose else event.isolation.partition(":")[0]
        yield f"sandbox  {event.sandbox}, {isolation}"
    if event.run_dir:
        yield f"run      {shorten_path(event.run_dir)}"
    if event.resumed_responses:
        yield f"resumed  {event.resumed_responses} answers are taken from the log and not paid for again"


def is_unsandboxed(backend: str) -> bool:
    """Return whether a backend gives no protection; users are warned then."""
    return backend == "none"


def _format_contract(event: e.ContractReady, verbose: bool, max_length: int) -> Iterator[str]:
    contract = event.contract
    yield f"contract {contract.module}" + (f": {contract.summary}" if contract.summary else "")
    for item in contract.requirements:
        text = item.text if verbose else shorten(item.text, max_length, placeholder=" …")
        yield f"         {item.id} {text}"
    for text in contract.assumptions:
        yield f"         assumed: {text}"
    if contract.unquoted and contract.quotes_text:
        count = pluralize(len(contract.unquoted), "passage")
        yield f"         not in any requirement; the review judges it: {count} of the text"
    for text in contract.not_covered:
        yield f"         not covered: {_truncate_reason(text, verbose)}"
    for choice in contract.open_choices:
        yield f"         open: {choice.question} (taken: {choice.chosen})"
    if contract.packages:
        yield f"         packages: {', '.join(contract.packages)}"
    if contract.examples:
        count = pluralize(len(contract.examples), "example")
        are = "is a test" if len(contract.examples) == 1 else "are used as tests"
        yield f"         {count} of the specification {are}"


def _format_failures(run: TestRun, verbose: bool) -> Iterator[str]:
    if run.ending != "finished":
        yield f"         {run.ending}: {run.detail}"
    elif run.detail:
        yield f"         {run.detail}"
    for failure in run.failures[: len(run.failures) if verbose else _MAX_LISTED]:
        first = failure.message.strip().split("\n")[0]
        what = short_name(failure.test) or "pytest did not start"
        yield f"         {what}: {failure.exception}: {first}"


def _format_attempt_counts(attempt: Attempt) -> str:
    base = f" of {attempt.based_on}" if attempt.based_on else ""
    counts = _format_outcomes(attempt.passed, attempt.failed, attempt.errors)
    kind = _ATTEMPT_NAMES.get(attempt.kind, attempt.kind)
    if kind == "generate" and not attempt.tokens:  # in heal: no model wrote the code
        kind = "as given"
    return (
        f"{attempt.n} {kind}{base}: {counts} ({attempt.tokens:,} tokens, {attempt.seconds:.1f} s)"
    )


def _format_outcomes(passed: int | None, failed: int | None, errors: int | None) -> str:
    """Return `3 passed, 1 failed`, without failures or errors that are 0."""
    parts = [f"{passed or 0} passed"]
    parts += [f"{failed} failed"] if failed else []
    return ", ".join([*parts, pluralize(errors, "error")] if errors else parts)


def _truncate_reason(text: str, verbose: bool) -> str:
    return text if verbose else shorten(text, _MAX_REASON_LENGTH, placeholder=" …")


def _format_search(search: SearchResult, verbose: bool) -> Iterator[str]:
    if not search.generated and search.ended:
        yield f"search   no edit was tried: {search.ended}"
        return
    yield (
        f"search   {search.tried} edits tried in {search.seconds:.1f} s: "
        f"all tests pass with {len(search.patches) or 'none'} of them"
    )
    for item in search.patches[: None if verbose else _MAX_PATCHES]:
        yield f"         line {item.line}: {item.change}"


def _format_outcome(outcome: BatchOutcome) -> str:
    no_verdict = outcome.kind in ("unchanged", "broken off", "refused")
    kind = "error" if outcome.kind == "broken off" else outcome.kind
    result = kind if no_verdict else outcome.verdict
    spent = " (before)" if outcome.kind == "done before" else ""
    if outcome.kind in ("reached", "missed", "broken off"):
        spent = f" ({outcome.calls} calls, {outcome.tokens} tokens, {outcome.seconds:.1f} s)"
    why = f": {outcome.reason}" if outcome.reason and outcome.exit_status else ""
    return f"{result!s:10} {outcome.id}{spent}{why}"
