"""What scenarios observed, and how it was judged."""

from __future__ import annotations

from typing import NamedTuple

from greenloop.sandbox.work.scenarios import Observations, RowOutcome


class ObservationRequest(NamedTuple):
    """A text of scenarios, and the text that judges what they observe; '' where no text does."""

    scenario: str
    judge: str = ""


class Observed(NamedTuple):
    """What was observed, and how it was judged."""

    observations: Observations
    outcomes: tuple[RowOutcome, ...] = ()
