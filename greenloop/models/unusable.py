"""The error that goes back to the model."""

from __future__ import annotations


class Unusable(Exception):
    """The answer lacks its form. The text is written for the model that has to mend it."""
