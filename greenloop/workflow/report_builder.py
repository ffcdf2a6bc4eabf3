"""Report of a run or check, built from its state at its regular or early end."""

import platform
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

from greenloop.errors import GreenloopError
from greenloop.grading import forgery, shortfalls
from greenloop.project.patch import count_lines
from greenloop.records import (
    Artifacts,
    ChangedFile,
    Environment,
    ProducedFileInfo,
    Report,
    ScriptResult,
    Timings,
    Usage,
    Verdict,
)
from greenloop.records.report import ENDED_EARLY, NOT_KEPT
from greenloop.testsuite import Suite
from greenloop.versions import get_installed_version, greenloop_version
from greenloop.workflow.candidates import truncate_failures
from greenloop.workflow.report_tests import build_test_entries
from greenloop.workflow.script.checklist import Checklist
from greenloop.workflow.state import RunState

_SCRIPT_LIMITATION = "a script is judged by its runs alone, which prove no more than its checks"
_PLAIN_ROAD = (
    "no contract was written: only the sentences of the text say what it asks for; use a stronger "
    "model, or set GREENLOOP_PROFILE=full"
)
_MAX_SHOWN = 5
_MODEL_PACKAGES = ("langchain", "langchain-core", "langchain-openai", "pytest", "ruff", "black")
_CHECK_PACKAGES = ("pytest",)


def build_report(state: RunState, error: GreenloopError | None = None) -> Report:
    """Return the report with the best candidate so far; `error` is why the run ended early."""
    best, request = state.candidates.best, state.request
    result = state.green_run or (best.run if best else None)
    failures = (item for item in (result.failures if result else ()) if state.is_active(item.test))
    verdict, reasons = _decide_verdict(state, error)
    final_code = best.code if best else ""
    if (
        best and state.suite and not isinstance(state.suite, Suite | Checklist)
    ):  # a change: code and tests are one patch
        final_code += state.suite.patch
    files = (ChangedFile(path=p, added=a, removed=r) for p, a, r in count_lines(final_code))
    change = state.change and state.change.model_copy(update={"files": tuple(files)})
    return Report(
        specification=request.specification,
        final_code=final_code,
        test_code=_collect_test_code(state),
        tests_passed=verdict != "failed",
        test_output=result.output if result else "",
        iterations=state.repairs + 1 if state.candidates.attempts else 0,
        repairs=state.repairs,
        verdict=verdict,
        reasons=reasons,
        command=request.kind,
        road=state.road,
        original=request.original_text,
        contract=state.contract,
        tests=tuple(build_test_entries(state, result)),
        review=state.review.findings,
        attempts=tuple(state.candidates.attempts),
        evidence=state.evidence.model_copy(update={"red_phase": state.red_phase}),
        script=_build_script_result(state),
        patches=state.search.patches if state.search else (),
        usage=(
            state.budget.to_usage()
            if request.specification or request.kind != "check"
            else Usage(cost_usd=0.0)
        ),
        timings=_build_timings(state),
        environment=_build_environment(state),
        artifacts=Artifacts(),
        module=state.contract.module if state.contract else request.module or "",
        failures=truncate_failures(failures),
        disputes=tuple(state.disputes),
        change=change,
    )


def _collect_test_code(state: RunState) -> str:
    """Return the source of greenloop's tests; for a check, that of the given tests."""
    if state.suite is None:
        return ""
    if state.request.kind != "check" or not isinstance(state.suite, Suite):
        return state.suite.code
    files = state.tests.files
    if len(files) == 1:
        return files[0].code
    return "\n\n".join(f"# --- {item.name}\n{item.code}" for item in files)


def _decide_verdict(
    state: RunState, error: GreenloopError | None
) -> tuple[Verdict, tuple[str, ...]]:
    notes = tuple(state.notes)
    if state.green_run is None:
        return "failed", (*_failure_reasons(state, error), *notes)
    if why := forgery(state.evidence) or state.forgery_reason:
        return "failed", (f"forged: {why}", *notes)
    reasons = _list_unverified_reasons(state, is_graded=error is None)
    if error is not None:
        reasons = (f"{ENDED_EARLY}grading: {error}", *reasons)
    return ("passed" if reasons or notes else "verified"), (*reasons, *notes)


def _list_unverified_reasons(state: RunState, *, is_graded: bool) -> tuple[str, ...]:
    """Return why a green run is not `verified`; evidence counts only if `is_graded`."""
    if not isinstance(state.suite, Checklist):
        contract = state.contract
        of_the_text = tuple(contract.unmet()) if contract else ()
        of_the_text += tuple(state.change.unmet()) if state.change else ()
        is_plain = state.road == "plain"
        is_made = contract is not None and state.request.kind != "check" and not is_plain
        of_the_text += (_PLAIN_ROAD,) if is_plain and not _has_peer_and_examples(state) else ()
        is_ungraded = state.change is not None and bool(state.change.nothing_to_grade)
        has_evidence = is_graded and not is_ungraded
        shortfall = shortfalls(state.evidence, contracted=is_made) if has_evidence else ()
        of_the_review = (*filter(None, [state.review_gap]), *state.review.unmet())
        return (*of_the_text, *of_the_review, *shortfall)
    return (_SCRIPT_LIMITATION, *_list_script_reasons(state))


def _list_script_reasons(state: RunState) -> Iterator[str]:
    flakiness, result = state.evidence.flakiness, state.best_script_run
    if flakiness is not None and flakiness.differing:
        yield f"a second run differed in: {', '.join(flakiness.differing)}"
    if result is not None and result.left_out:
        more = ", …" if len(result.left_out) > _MAX_SHOWN else ""
        yield f"{NOT_KEPT}{', '.join(result.left_out[:_MAX_SHOWN])}{more}"


def _has_peer_and_examples(state: RunState) -> bool:
    """Return whether a peer, and examples or tests of the user, make up for a contract."""
    origins = {item.origin for item in build_test_entries(state, state.green_run)}
    peer = state.evidence.peer
    return bool(origins & {"example", "given"}) and peer is not None


def _build_script_result(state: RunState) -> ScriptResult | None:
    result, checklist = state.best_script_run, state.suite
    if result is None or not isinstance(checklist, Checklist):
        return None
    made = (ProducedFileInfo(path=i.path, size=i.size, sha256=i.sha256) for i in result.made)
    return ScriptResult(
        name=checklist.own_file,
        exit_status=result.exit_status,
        ending=result.ending,
        stdout=result.stdout,
        stdout_cut=result.stdout_cut,
        stderr=result.stderr,
        made=tuple(made),
        checks=checklist.checks,
    )


def _failure_reasons(state: RunState, error: GreenloopError | None) -> Iterator[str]:
    if error is not None:
        yield f"{ENDED_EARLY}{str(error).partition(chr(10))[0]}"
    if state.contradiction:
        yield state.contradiction
    best = state.candidates.best
    if best is None or best.run is None:
        if error is None:
            yield "no code was run"
        return
    failing = sorted(best.failing_tests(state.is_active))
    if failing == [""]:
        yield f"pytest did not start: {best.run.failures[0].message.strip()}"
    elif failing:
        shown = ", ".join(failing[:_MAX_SHOWN]) + (", …" if len(failing) > _MAX_SHOWN else "")
        what = "check" if isinstance(state.suite, Checklist) else "test"
        verb = f"{what} does" if len(failing) == 1 else f"{what}s do"
        yield f"{len(failing)} {verb} not pass: {shown}"
    if best.run.ending != "finished":
        yield f"the best run ended: {best.run.ending}: {best.run.detail}"
    elif best.run.limits_hit:
        yield f"the best run {best.run.detail}"
    elif not failing and error is None:
        skipped = sum(item.outcome == "skipped" for item in best.run.tests)
        status = f"the run was not green (exit status {best.run.exit_status})"
        is_all = bool(skipped) and skipped == len(best.run.tests)
        yield f"no test ran: {skipped} skipped" if is_all else status
    if state.request.kind == "heal" and best.kind == "repair" and best.remark:
        yield f"the model says of the best attempt: {best.remark}"
    if error is None and not state.contradiction and state.request.kind != "check":
        yield f"not repaired: {_describe_repairs(state)}"


def _describe_repairs(state: RunState) -> str:
    if state.repairs:
        return f"{state.repairs} repair{'s were' if state.repairs > 1 else ' was'} made"
    if state.search is None or not state.search.tried:
        return "no repair was made"
    more = "a longer search (--seconds) or " if state.search.ended == "time" else ""
    edits = f"{state.search.tried} small edits were tried, and all tests pass with none"
    return f"{edits}: {more}a model (--model) may help"


def _build_timings(state: RunState) -> Timings:
    total_s = time.monotonic() - state.started
    started_at = datetime.now(timezone.utc) - timedelta(seconds=total_s)
    return Timings(
        started_at=started_at.isoformat(timespec="seconds"),
        total_s=round(total_s, 3),
        model_s=round(state.budget.model_s, 3),
        sandbox_s=round(state.sandbox_s, 3),
        grading_s=round(state.grading_s, 3),
    )


def _build_environment(state: RunState) -> Environment:
    """Return the environment, with versions of packages for greenloop and for the code."""
    names = _CHECK_PACKAGES if state.request.kind == "check" else _MODEL_PACKAGES
    own = {name: found for name in names if (found := get_installed_version(name))}
    return Environment(
        greenloop=greenloop_version(),
        python=platform.python_version(),
        model=state.model,
        sandbox=state.sandbox,
        packages={**dict(state.packages.installed.versions), **own},
        project=state.environment,
    )
