"""Fixtures shared with the command-line tests."""

from tests.integration.cli.conftest import run

__all__ = ["run"]
