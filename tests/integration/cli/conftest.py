"""The command line in this process, and a server that answers by tool."""

from tests.support.command_line import KEY, Run, Served, run

__all__ = ["KEY", "Run", "Served", "run"]
