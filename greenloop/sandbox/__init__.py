"""Sandboxes that run untrusted code in separate processes.

with open_sandbox(settings) as sandbox:
    run = sandbox.run_tests(code, test_code)
"""

from greenloop.sandbox.base import Sandbox
from greenloop.sandbox.factory import open_sandbox

__all__ = ["Sandbox", "open_sandbox"]
