"""What these tests share with those of the command line."""

from tests.e2e.conftest import run

__all__ = ["run"]
