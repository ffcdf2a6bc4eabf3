"""The request of a module to write."""

from typing import Literal

from greenloop.workflow.storage.request import ContractRequest


class MakeRequest(ContractRequest):
    """A module to write from a specification."""

    kind: Literal["make"] = "make"
    source: str | None = None  # the file that the specification was read from
    accepts_choices: bool = False  # open choices are accepted as they were taken
    force: bool = False  # files that greenloop did not write may be replaced
