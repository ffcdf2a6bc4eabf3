"""LangChain tools: each works alone, by `.invoke` and `.ainvoke`, and in any agent.

    tools = coding_tools(model=my_chat_model, sandbox=my_sandbox)

Single tools (`from greenloop.tools import generate_code`) use the model and the sandbox of the
settings. They are created on first access, which also imports LangChain: grading does not need it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from greenloop.tools.langchain import coding_tools
    from greenloop.tools.toolkit import RepairRequest, Toolkit

    generate_code: BaseTool
    generate_tests: BaseTool
    judge_difference: BaseTool
    judge_test: BaseTool
    parse_specification: BaseTool
    repair_code: BaseTool
    review_code: BaseTool
    run_tests: BaseTool
    write_peer: BaseTool

__all__ = [
    "RepairRequest",
    "Toolkit",
    "coding_tools",
    "generate_code",
    "generate_tests",
    "judge_difference",
    "judge_test",
    "parse_specification",
    "repair_code",
    "review_code",
    "run_tests",
    "write_peer",
]


def __getattr__(name: str) -> Any:
    if name in ("RepairRequest", "Toolkit"):
        from greenloop.tools import toolkit

        return getattr(toolkit, name)
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from greenloop.tools.langchain import build_default_tool, coding_tools

    return coding_tools if name == "coding_tools" else build_default_tool(name)
