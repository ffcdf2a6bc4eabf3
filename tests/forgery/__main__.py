"""`python -m tests.forgery` is `python -m tests.security.forgery`."""

from __future__ import annotations

import sys

from tests.security.forgery.__main__ import main

main(*sys.argv[1:])
