"""Where foreign code runs.

with open_sandbox(settings) as box:
    run = box.run_tests(code, test_code)
"""

from greenloop.sandbox.api import Sandbox
from greenloop.sandbox.factory import open_sandbox

__all__ = ["Sandbox", "open_sandbox"]
