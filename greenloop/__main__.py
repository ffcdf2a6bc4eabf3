"""`python -m greenloop`."""

from greenloop.cli.start import main

if __name__ == "__main__":
    main()
