"""Reasons of the guest that the host tells from others."""

from __future__ import annotations

LIVE_THREADS = "the module or its tests start threads when they are imported: no fork has them"
