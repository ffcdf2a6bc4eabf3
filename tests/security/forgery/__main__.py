"""Print the verdict of each forgery and each unusual module: `python -m tests.security.forgery [WORD]`."""

from __future__ import annotations

import sys
import time

from greenloop.sandbox import open_sandbox
from tests.security.forgery.forged import WRONG
from tests.security.forgery.grading import accusations, caught_by, report_on, settings
from tests.security.forgery.honest import ODD


def main(word: str = "") -> None:
    """A line each: verdict, degree, name, and what speaks against it."""
    started = time.monotonic()
    with open_sandbox(settings()) as box:
        for name, forgery in WRONG.items():
            if word in name:
                report = report_on(box, forgery.code, forgery.tests(name), forgery.conftest)
                print(
                    f"{report.verdict:<8} {forgery.degree:<6} {name}: {caught_by(report)}",
                    flush=True,
                )
        for name, odd in ODD.items():
            if word in f"odd: {name}":
                report = report_on(box, odd.code, odd.tests)
                accused = "; ".join(accusations(report))
                print(
                    f"{report.verdict:<8} odd    {name}: {accused or '-'} | {caught_by(report)}",
                    flush=True,
                )
    print(f"{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main(*sys.argv[1:])
