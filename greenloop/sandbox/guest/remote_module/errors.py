"""What can go wrong between the two processes.

Not of the kind `Exception`: a test that awaits any exception must not be content with these.
"""

from __future__ import annotations


class Apart(BaseException):
    """The test did not get to see what the code does."""

    __module__ = "split"


class CannotSplit(Apart):
    """Something that a test uses does not go from one process to the other."""

    __module__ = "split"


class Broken(Apart):
    """The other process is gone, or says what is no message."""

    __module__ = "split"
