"""The fixtures of the unit tests of greenloop.llm."""

from tests.unit.llm.conftest import bare_environment, contract, prompt, quick_shutdown

__all__ = ["bare_environment", "contract", "prompt", "quick_shutdown"]
