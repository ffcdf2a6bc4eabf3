"""Deprecated alias of `greenloop.integrations.langgraph`."""

from __future__ import annotations

import warnings

from greenloop.integrations.langgraph import make_node, make_tool

__all__ = ["make_node", "make_tool"]

warnings.warn(
    "greenloop.hosts.langgraph is deprecated: import greenloop.integrations.langgraph",
    DeprecationWarning,
    stacklevel=2,
)
