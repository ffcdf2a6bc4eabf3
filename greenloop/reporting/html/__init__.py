"""The report as one HTML file, and the index of many."""

from greenloop.reporting.html.index import IndexEntry, render_index_html
from greenloop.reporting.html.page import render_report_html

__all__ = ["IndexEntry", "render_index_html", "render_report_html"]
