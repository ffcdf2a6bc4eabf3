"""Programs: what they observe of code in a process without tests."""
