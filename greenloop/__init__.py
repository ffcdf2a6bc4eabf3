"""Tested Python code from specifications, and the faults that passing tests would miss.

    from greenloop import run_coding_agent
    report = run_coding_agent("Write a function …")

Names are imported on first access (PEP 562), so that importing the package is fast.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from greenloop.agent import CodingAgent, run_coding_agent
    from greenloop.app.api import check, check_changes
    from greenloop.errors import GreenloopError
    from greenloop.records import Report
    from greenloop.settings import Settings
    from greenloop.tools import coding_tools

__all__ = [
    "CodingAgent",
    "GreenloopError",
    "Report",
    "Settings",
    "check",
    "check_changes",
    "coding_tools",
    "run_coding_agent",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    homes = {"GreenloopError": "errors", "Report": "records", "Settings": "settings"}
    homes |= {"check": "app.api", "check_changes": "app.api", "coding_tools": "tools"}
    home = homes.get(name, "agent")
    return getattr(import_module(f"greenloop.{home}"), name)
