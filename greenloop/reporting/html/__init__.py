"""The report as one HTML file, and the index of many."""

from greenloop.reporting.html.index import IndexEntry, index_html
from greenloop.reporting.html.page import report_html

__all__ = ["IndexEntry", "index_html", "report_html"]
