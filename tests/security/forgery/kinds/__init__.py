"""Kinds of test files, each with a correct module and calls that its tests do not make."""

from __future__ import annotations

from tests.security.forgery.case import Subject
from tests.security.forgery.kinds import effects, objects, records, values

KINDS: dict[str, Subject] = {
    "plain": values.PLAIN,
    "parametrize": values.PARAMETRIZE,
    "raises": values.RAISES,
    "approx": values.APPROX,
    "property": values.PROPERTY,
    "unittest": objects.UNITTEST,
    "state": objects.STATE,
    "fixtures": objects.FIXTURES,
    "operators": objects.OPERATORS,
    "records": records.RECORDS,
    "tmp_path": effects.TMP_PATH,
    "async": effects.ASYNC,
    "capsys": effects.CAPSYS,
    "caplog": effects.CAPLOG,
}
