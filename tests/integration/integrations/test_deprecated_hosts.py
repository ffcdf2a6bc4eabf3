"""The deprecated name of the LangGraph integration."""

from __future__ import annotations

import importlib
import sys

import pytest

from greenloop.integrations import langgraph


def test_the_old_module_name_works_and_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "greenloop.hosts.langgraph", raising=False)
    with pytest.warns(DeprecationWarning, match=r"import greenloop\.integrations\.langgraph"):
        alias = importlib.import_module("greenloop.hosts.langgraph")
    assert alias.make_node is langgraph.make_node
    assert alias.make_tool is langgraph.make_tool
