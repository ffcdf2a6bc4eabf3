"""Guest: the only code that runs beside untrusted code. Uses the standard library and pytest."""
