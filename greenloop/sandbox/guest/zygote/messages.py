"""What the host sends over a control socket besides runs."""

LOAD_MESSAGE = b"load"  # to a zygote that waits before it loads pytest
