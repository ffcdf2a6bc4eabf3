"""Sandboxes: untrusted code in processes of its own.

with open_sandbox(settings) as sandbox:
    run = sandbox.run_tests(code, test_code)

Names are loaded when they are asked for: a command can start a process of the sandbox before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from greenloop.sandbox.base import Sandbox
    from greenloop.sandbox.opening import open_sandbox

__all__ = ["Sandbox", "open_sandbox"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    home = "base" if name == "Sandbox" else "opening"
    return getattr(import_module(f"greenloop.sandbox.{home}"), name)
