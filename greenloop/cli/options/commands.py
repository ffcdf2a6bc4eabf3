"""The commands of the program, by name, in the order of `--help`."""

from __future__ import annotations

from greenloop.cli.options.batch import BatchOptions, EvalOptions, VerifyOptions
from greenloop.cli.options.change import ChangeOptions
from greenloop.cli.options.report import DoctorOptions, InitOptions, McpOptions, ReportOptions
from greenloop.cli.options.runs import (
    CheckOptions,
    HealOptions,
    MakeOptions,
    ResumeOptions,
    ScriptOptions,
)

COMMANDS: dict[str, type] = {
    "make": MakeOptions,
    "check": CheckOptions,
    "heal": HealOptions,
    "script": ScriptOptions,
    "change": ChangeOptions,
    "batch": BatchOptions,
    "eval": EvalOptions,
    "verify": VerifyOptions,
    "init": InitOptions,
    "mcp": McpOptions,
    "resume": ResumeOptions,
    "report": ReportOptions,
    "doctor": DoctorOptions,
}
