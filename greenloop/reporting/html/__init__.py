"""HTML pages of a report and of a batch."""

from greenloop.reporting.html.index import IndexEntry, render_index_html
from greenloop.reporting.html.page import render_report_html

__all__ = ["IndexEntry", "render_index_html", "render_report_html"]
