"""`python -m greenloop`."""

from greenloop.cli.main import main

if __name__ == "__main__":
    main()
