"""`python -m greenloop`."""

from greenloop.cli import main

if __name__ == "__main__":
    main()
