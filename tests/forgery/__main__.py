"""`python -m tests.forgery` is `python -m tests.security.forgery`."""

import sys

from tests.security.forgery.__main__ import main

main(*sys.argv[1:])
