"""For those who work from a checkout: `python cli.py "Write a function …"`."""

from greenloop.__main__ import main
from greenloop.cli.main import app

__all__ = ["app", "main"]

if __name__ == "__main__":
    main()
