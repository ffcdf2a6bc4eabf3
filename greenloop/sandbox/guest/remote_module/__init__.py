"""Tests and code under test in two processes that share nothing but two pipes.

T runs pytest; U holds the code. T finds a proxy where the module should be, and what crosses is
plain data: `wire` (messages), `plain` and `heap` (values), `describing` and `mirrors` (classes and
functions of the other side), `serving` (what one side does for the other), `peer` (the
conversation), `clones` (who sees what), `tests_side` and `code_side` (the two mains).
"""

SPLIT = "split"  # stands among the limits of a run whose code is to have a process of its own
