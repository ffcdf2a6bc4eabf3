"""Files before and after a change, with unusual names, endings and lines, for tests of patches."""

NUMBERS = "".join(f"line {n}\n" for n in range(40))
BEFORE = {
    "plain.py": NUMBERS,
    "crlf.py": "a\r\nb\r\nc\r\n",
    "no_end.py": "x = 1\ny = 2",
    "gets_end.py": "x = 1",
    "loses_end.py": "x = 1\n",
    "gone.py": "print()\n",
    "gone_without_end.py": "print()",
    "deep/er/übung.py": "é = '\u2028 \x0c'\n",
    "with space.py": "a\n",
    "odd.py": "-- a\n++ b\n@@ -1 +1 @@\ndiff --git a/x b/x\n\r\n",
    "empties.py": "a\n",
    "fills.py": "",
    "stays.py": "1\n",
}
AFTER: dict[str, str | None] = {
    "plain.py": NUMBERS.replace("line 3\n", "").replace("line 30\n", "line 30\nmore\n") + "end\n",
    "crlf.py": "a\r\nB\r\nc\r\nd\r\n",
    "no_end.py": "x = 1\ny = 3",
    "gets_end.py": "x = 1\n",
    "loses_end.py": "x = 1",
    "gone.py": None,
    "gone_without_end.py": None,
    "deep/er/übung.py": "é = '\u2028 \x0c\x0b'\n",
    "with space.py": "b\n",
    "odd.py": "-- a\n+++ b\n@@ -1 +1 @@\ndiff --git a/y b/y\n\r\n",
    "empties.py": "",
    "fills.py": "a",
    "stays.py": "1\n",
    "new/one.py": "a = 1\n",
    "new/without_end.py": "a = 1",
    "new/crlf.py": "a = 1\r\n",
}
