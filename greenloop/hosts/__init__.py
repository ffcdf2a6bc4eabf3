"""Deprecated name of `greenloop.integrations`."""
