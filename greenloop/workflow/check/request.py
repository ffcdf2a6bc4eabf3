"""The request of a check."""

from typing import Literal

from greenloop.workflow.storage.request import RunRequest


class CheckRequest(RunRequest):
    """Existing code to grade against existing tests; with a text, a model reads it."""

    kind: Literal["check"] = "check"
    code: str = ""  # stored only with a text
