"""greenloop: a coding agent whose green can be trusted.

    from greenloop import run_coding_agent
    report = run_coding_agent("Write a function …")

Names are loaded when they are asked for, so that importing the package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from greenloop.agent import CodingAgent, run_coding_agent
    from greenloop.errors import GreenloopError
    from greenloop.records import Report
    from greenloop.settings import Settings
    from greenloop.tools import coding_tools

__all__ = [
    "CodingAgent",
    "GreenloopError",
    "Report",
    "Settings",
    "coding_tools",
    "run_coding_agent",
]


def _home_of(name: str) -> str | None:
    return {
        "CodingAgent": "greenloop.agent",
        "GreenloopError": "greenloop.errors",
        "Report": "greenloop.records",
        "Settings": "greenloop.settings",
        "coding_tools": "greenloop.tools",
        "run_coding_agent": "greenloop.agent",
    }.get(name)


def __getattr__(name: str) -> Any:
    from importlib import import_module

    home = _home_of(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)
