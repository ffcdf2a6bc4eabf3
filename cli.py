"""For those who work from a checkout: `python cli.py "Write a function …"`."""

from greenloop.cli.main import app
from greenloop.__main__ import main

__all__ = ["app", "main"]

if __name__ == "__main__":
    main()
