"""The numbers of a run's descriptors, above input, output and errors."""

from __future__ import annotations

RESULT, WHERE = 3, 4  # its results; the answer to where it is
