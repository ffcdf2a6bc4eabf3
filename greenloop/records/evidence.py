"""What a green is worth: the pieces of evidence, each null where it was not taken.

`cut_short` says how far a piece came that ran out of time; it is never `reached` then.
"""

from __future__ import annotations

import re

from pydantic import Field

from greenloop.records.base import Record
from greenloop.records.pytest_run import ProcessMode
from greenloop.records.thresholds import Thresholds

_HUNK = re.compile(r"^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@.*\n", re.MULTILINE)


class RedPhase(Record):
    """The tests run on the stub: each must fail there.

    `passing_on_stub` proved nothing and were set aside, `tolerated` skip whatever the code is.
    """

    reached: bool
    failed: int
    passing_on_stub: tuple[str, ...] = ()
    tolerated: tuple[str, ...] = ()


class EmptyBodies(Record):
    """The candidate with every function body raising: it must be red."""

    reached: bool
    passed: int
    failed: int
    cut_short: str = ""


class AssertionSurvivor(Record):
    """A test that stayed green though its assertion was changed so that it must fail.

    `test` is a node id, `line` that of the assertion, `change` what it was changed to. `forged`
    says why only a forgery does that; '' where the test may merely prove nothing.
    """

    test: str
    line: int
    change: str
    forged: str = ""


class AssertionMutation(Record):
    """The tests with their expected values changed: each must be red.

    Of `total` tests that passed, `controlled` have a control and turned red by it; `uncontrolled`
    have nothing that could be changed; `green` stayed green.
    """

    reached: bool
    total: int
    controlled: int
    edits: int
    uncontrolled: tuple[str, ...] = ()
    green: tuple[AssertionSurvivor, ...] = ()
    forged: str = ""
    cut_short: str = ""


class IsolatedRun(Record):
    """The tests run where they and the code are two processes.

    `reached`: all pass there too (`form` is "split" then). Else their green is that of one process,
    and `why` says what went wrong in two. `own_equality` names the tests in which the code's own
    `==` said yes; `only_beside` those that got another value from the code in two processes.
    """

    reached: bool
    form: ProcessMode
    why: str = ""
    own_equality: tuple[str, ...] = ()
    only_beside: tuple[str, ...] = ()


class Memorization(Record):
    """What the code answers to the tests' own calls in a process without tests, and to their like.

    Of `calls` calls (those with plain arguments, whose answer a test compares with a plain value)
    `differing` had another answer there than the tests say. `functions` names functions that answer
    the tests' calls, and nothing else of `variants` calls that differ a little. `reached` is
    neither of both.
    """

    reached: bool
    calls: int
    differing: tuple[str, ...] = ()
    variants: int = 0
    functions: tuple[str, ...] = ()


class HeldOut(Record):
    """Held-out examples: calls that the code answers, compared in a process without the code."""

    reached: bool
    total: int
    agreed: int
    disagreed: tuple[str, ...] = ()
    invalid: tuple[str, ...] = ()
    cut_short: str = ""


class Survivor(Record):
    """A fault that no test noticed: `diff` shows it, `question` is what a test would have to ask.

    `diff` is in unified form, with two lines of the module on each side. `reached`: whether any test comes to its line at all. `function` is a dotted name, '' at module
    level.
    """

    id: str
    line: int
    function: str
    operator: str
    diff: str
    question: str
    reached: bool

    @property
    def bare_diff(self) -> str:
        """`diff` without the lines around: for who must not see more of the code than the change."""
        found = _HUNK.search(self.diff)
        if found is None:
            return self.diff
        line, body = int(found[1]), self.diff[found.end() :].split("\n")
        above = next((n for n, text in enumerate(body) if not text.startswith(" ")), 0)
        changed = [text for text in body if text[:1] in ("-", "+")]
        old = sum(text.startswith("-") for text in changed)
        head = f"@@ -{line + above},{old} +{line + above},{len(changed) - old} @@"
        return "\n".join([self.diff[: found.start()] + head, *changed])


class MutantResult(Record):
    """A mutant and what became of it: `before` was changed to `after` at `line`.

    `outcome` is `killed`, `timeout`, `crashed` (all three: noticed, by `test`), `survived`,
    `uncovered` (no test comes to its line), `error` or `not_run`.
    """

    id: str
    line: int
    operator: str
    before: str
    after: str
    outcome: str
    test: str = ""


class Mutation(Record):
    """Mutants of the code: noticed by the tests or survived.

    `score` is the noticed ones' share of all that were tried, between 0 and 1; None where that
    could not be measured to its end (`trouble` says why). Noticed are `killed` (a test failed),
    `timeout` (a test took far longer) and `crashed` (the process ended in a test). Of `generated`
    mutants `equivalent_suspects` were left out as probably no faults, and of the rest `sampled`
    chosen by `seed`. `errors` could not be tried, `not_run` ran out of time. `tried` has each of
    the chosen ones with its outcome.
    """

    score: float | None
    killed: int
    survived: tuple[Survivor, ...] = ()
    timeout: int = 0
    equivalent_suspects: int = 0
    crashed: int = 0
    errors: int = 0
    not_run: int = 0
    generated: int = 0
    sampled: int = 0
    seed: int = 0
    seconds: float = 0.0
    trouble: str = ""
    tried: tuple[MutantResult, ...] = ()


class Coverage(Record):
    """Shares between 0 and 1 of lines and branches that the tests reach; 1 where there are none.

    `missed_lines` are statements that were never run; `missed_branches` are written `12->15`:
    from line 12, line 15 was never gone to (`exit`: the end of what line 12 belongs to).
    `statements` are all lines that a statement begins on.
    """

    reached: bool = True
    line: float
    branch: float
    missed_lines: tuple[int, ...] = ()
    missed_branches: tuple[str, ...] = ()
    statements: tuple[int, ...] = ()


class Flakiness(Record):
    """The same tests again, in another order and with another hash seed."""

    reached: bool
    order_seed: int
    hash_seed: int
    differing: tuple[str, ...] = ()
    cut_short: str = ""


class IntegrityFinding(Record):
    """Code that reaches for what could forge a verdict."""

    line: int
    what: str


class Evidence(Record):
    """All evidence of a run. `thresholds` are the settings that it was measured against.

    `seconds` is what each piece took; `not_measured` says, for pieces that are null, why.
    `returning` names tests that give a value back and assert nothing, so that they always pass.
    """

    red_phase: RedPhase | None = None
    empty_bodies: EmptyBodies | None = None
    assertion_mutation: AssertionMutation | None = None
    split: IsolatedRun | None = None
    memorization: Memorization | None = None
    held_out: HeldOut | None = None
    mutation: Mutation | None = None
    coverage: Coverage | None = None
    flakiness: Flakiness | None = None
    integrity: tuple[IntegrityFinding, ...] = ()
    requirements_untested: tuple[str, ...] = ()
    returning: tuple[str, ...] = ()
    thresholds: Thresholds = Field(default_factory=Thresholds)
    seconds: dict[str, float] = Field(default_factory=dict)
    not_measured: dict[str, str] = Field(default_factory=dict)
