"""The commands of the program. The options of one are imported when it is named."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType

# By name, in the order of `--help`: the module of its options, and the first sentence of its help.
COMMANDS = MappingProxyType(
    {
        "make": ("runs", "Write code and tests for a specification, and grade them."),
        "check": ("check", "Run and grade existing code against its tests."),
        "heal": ("script", "Repair a script until it runs, or a module until its tests pass."),
        "script": ("script", "Write a script for a task, run it and check its output."),
        "change": (
            "change",
            "Change an existing project as asked, and grade the patch with its new tests.",
        ),
        "batch": ("batch", "Run many specifications at once."),
        "eval": (
            "batch",
            "Measure a model on tasks with hidden tests, and how often its verdicts are wrong.",
        ),
        "verify": (
            "check",
            "Check that code and tests are those that were graded, and that the grade still holds.",
        ),
        "init": ("report", "Write configuration, CI job and pre-commit hook for a project."),
        "mcp": (
            "report",
            "Serve make, check, heal and change as tools of an editor or agent (MCP).",
        ),
        "resume": ("runs", "Continue an interrupted run."),
        "report": ("report", "Show the report of a run, or write it in another format."),
        "doctor": (
            "report",
            "Show model, sandbox and versions of this machine, and how to add what is missing.",
        ),
    }
)


def load_options(name: str) -> type:
    """Return the dataclass that declares the options of a command."""
    module, _ = COMMANDS[name]
    options: type = getattr(
        import_module(f"greenloop.cli.options.{module}"), f"{name.title()}Options"
    )
    return options
