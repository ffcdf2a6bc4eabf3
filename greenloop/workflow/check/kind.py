"""The kind of run that reads existing code against a text."""

from typing import Final

from greenloop.workflow.check.request import CheckRequest
from greenloop.workflow.check.strategy import CheckStrategy
from greenloop.workflow.kind import Kind

CHECK: Final = Kind(CheckRequest, CheckStrategy)
