"""Guest: code that runs beside untrusted code. Imports only the standard library and pytest."""
