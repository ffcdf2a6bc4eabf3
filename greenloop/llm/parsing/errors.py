"""The error that goes back to the model."""

from __future__ import annotations


class InvalidResponse(Exception):
    """The answer lacks its form. The text is written for the model that has to mend it.

    `person` is what a person could do about it, for the case that the model does not mend it.
    """

    def __init__(self, text: str, user_hint: str = "") -> None:
        super().__init__(text)
        self.user_hint = user_hint
