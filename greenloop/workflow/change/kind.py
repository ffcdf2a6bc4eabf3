"""The kind of run that changes a project."""

from __future__ import annotations

from typing import Final

from greenloop.workflow.change.delivery import deliver_change
from greenloop.workflow.change.estimate import estimate_change
from greenloop.workflow.change.request import ChangeRequest
from greenloop.workflow.change.strategy import ChangeStrategy
from greenloop.workflow.kind import Kind

CHANGE: Final = Kind(ChangeRequest, ChangeStrategy, deliver_change, estimate_change)
