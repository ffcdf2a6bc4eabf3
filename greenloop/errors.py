"""Exceptions that end a run, in one class tree.

    GreenloopError                 status 1
    ├── InputError                 status 2   the caller's input: arguments, files, settings
    │   ├── SpecificationError                the specification is unreadable or not testable
    │   ├── SettingsError                     a setting or option is invalid
    │   └── OutputError                       a result cannot be written where it was asked for
    ├── ModelFailure               status 3   the model, not the code
    │   ├── NoModelError                      none is configured, or its package is not installed
    │   ├── ModelRefusedError                 key, permission or request refused: no retry helps
    │   ├── ModelUnavailableError             unreachable, overloaded or silent, after every retry
    │   ├── InvalidResponseError   status 1   two answers without the required form
    │   └── ReplayExhaustedError              a replay file has no answer left for a call
    ├── SandboxError               status 4   no sandbox of the kind asked for
    │   └── PackagesError                     packages that the code needs cannot be installed
    ├── UnusableCodeError          status 1   no answer of the model is runnable code or tests
    ├── ContradictedTestError      status 1   a wish contradicts a test that passes today
    ├── BudgetExhaustedError       status 5   the next call would go over the budget
    └── InterruptedRunError        status 130 stopped by the user; the run can be resumed

`greenloop.llm.parsing.errors.InvalidResponse` is not in this tree: such an answer is sent back to
the model, and only a second one in a row raises InvalidResponseError.
"""

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:  # importing records is slow, and `--help` needs none
    from greenloop.records import Report


def simplify_message(text: str) -> str:
    """Return pydantic's message about a value in the wording of greenloop."""
    why = text.removeprefix("Value error, ").replace("Input should be", "must be")
    return why.partition(", unable to parse")[0].rstrip(".")


class GreenloopError(Exception):
    """Base of all greenloop errors. `report` has what the run had reached, if there was a run."""

    exit_status: ClassVar[int] = 1
    report: "Report | None" = None


class InputError(GreenloopError):
    """The caller's input cannot be used."""

    exit_status = 2


class SpecificationError(InputError):
    """The specification cannot be read, or nothing in it can be tested."""


class SettingsError(InputError):
    """A setting or option is invalid."""


class OutputError(InputError):
    """A result cannot be written where it was asked for."""


class ModelFailure(GreenloopError):
    """The model gave no usable answer."""

    exit_status = 3


class UnusableCodeError(GreenloopError):
    """No answer of the model is code or a test that can be run."""


class NoModelError(ModelFailure):
    """No model is configured, or the package for its provider is missing."""


class ModelRefusedError(ModelFailure):
    """The provider refused the key, the permission or the request itself."""


class ModelUnavailableError(ModelFailure):
    """The provider could not be reached, or failed, after every retry."""


class InvalidResponseError(ModelFailure):
    """The model answered twice without the required form."""

    exit_status = 1  # the model can be reached, but its answers are not good enough


class ReplayExhaustedError(ModelFailure):
    """A replay file has no answer left for a call."""


class SandboxError(GreenloopError):
    """No sandbox of the required kind works here."""

    exit_status = 4


class PackagesError(SandboxError):
    """Packages that the code may use and needs cannot be installed here.

    `absent` is the requirement that no wheel fits, '' for another reason.
    """

    def __init__(self, text: str, absent: str = "") -> None:
        super().__init__(text)
        self.absent = absent


class ContradictedTestError(GreenloopError):
    """A wish contradicts a test of the project that passes and was not unlocked."""


class BudgetExhaustedError(GreenloopError):
    """The next model call would go over the budget."""

    exit_status = 5


class InterruptedRunError(GreenloopError):
    """The user stopped the run."""

    exit_status = 130
