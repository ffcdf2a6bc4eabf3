"""Tested Python code from a specification, and which faults passing tests would miss.

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


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    homes = {"GreenloopError": "errors", "Report": "records", "Settings": "settings"}
    home = homes.get(name, "tools" if name == "coding_tools" else "agent")
    return getattr(import_module(f"greenloop.{home}"), name)
