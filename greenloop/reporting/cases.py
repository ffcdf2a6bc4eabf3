"""JUnit XML with one case for each of many files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree as Xml

from greenloop.reporting.harmless import clipped, visible


def case(name: str, seconds: float = 0.0, **ended: Mapping[str, str] | None) -> Xml.Element:
    """A case that passed, or that ended in `failure`, `error` or `skipped` with these attributes."""
    known = {"classname": "greenloop", "name": _attribute(name), "time": f"{seconds:.3f}"}
    element = Xml.Element("testcase", known)
    for tag, attributes in ended.items():
        if attributes is not None:
            told = {key: _attribute(value) for key, value in attributes.items()}
            Xml.SubElement(element, tag, told)
    return element


def suites(name: str, cases: Sequence[Xml.Element], seconds: float = 0.0) -> str:
    """The document: one suite of all cases."""
    counts = {
        "tests": str(len(cases)),
        "failures": _having(cases, "failure"),
        "errors": _having(cases, "error"),
        "time": f"{seconds:.3f}",
    }
    whole = Xml.Element("testsuites", {"name": "greenloop", **counts})
    named = {"name": name, "skipped": _having(cases, "skipped")}
    Xml.SubElement(whole, "testsuite", counts | named).extend(cases)
    Xml.indent(whole, " ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(whole, "unicode") + "\n"


def _having(cases: Sequence[Xml.Element], tag: str) -> str:
    return str(sum(item.find(tag) is not None for item in cases))


def _attribute(text: str) -> str:
    return clipped(" ".join(visible(text).split()), 500)
