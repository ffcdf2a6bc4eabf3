"""Examples in prose, lists, tables and code that does not parse: a call and its stated result."""

import re
from collections.abc import Iterator

from greenloop.records import GivenExample
from greenloop.specification.reading.doctests import render_outcome
from greenloop.specification.reading.expressions import find_call_end, is_closed
from greenloop.specification.reading.outcomes import Outcome, ends_plainly, read_outcome
from greenloop.specification.reading.sequences import leave_out_sequences

_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_CALL = re.compile(r"(?<![\w.@$'\"])[A-Za-z_]\w{0,99}\(")
_CONNECTOR = re.compile(
    r"""(?P<gap>[`*_]{0,4}\s{0,20})(?P<comment>\#{1,2}[ \t]{0,9})?
    (?P<arrow>-{1,2}>|={1,2}>|={2,3}(?!>)|[→⟶⟹⇒↦➞➜]|(?P<equals>=(?![=<>])))?(?P<cell>\|)?
    [ \t]{0,20}[,:]?\s{0,9}
    (?:(?:also|then|always|thus|therefore|simply|should|must|shall|will|would|has\sto)\s{1,9}){0,3}
    (?:(?P<verb>(?:returns?|gives?(?:\sback)?|yields?|produces?|equals?|be|becomes
        |evaluates?\s{1,9}to|results?\s{1,9}in|ergibt|liefert|gibt)\b)
      |(?P<raising>(?:raises?|throws?|fails?\s{1,9}with|wirft)\b)|(?P<copula>ist?\b))?:?\s{0,20}""",
    re.VERBOSE | re.IGNORECASE,
)
_KINDS = ("raising", "verb", "equals", "arrow", "cell", "copula", "comment")
# Words before a call that make it a condition, or an example of what is wrong.
_CONDITIONAL = re.compile(
    r"\b(?:if|when(?:ever)?|whether|suppose|assum\w{1,5}|unless|until|while|not|never|\w{1,9}n't"
    r"|wenn|falls|ob|statt|nicht"
    r"|instead\s{1,9}of|rather\s{1,9}than|unlike)\b[^.;:,)]{0,60}$"
    r"|(?:\b(?:wrong(?:ly)?|incorrect(?:ly)?|bad|buggy|bug|currently|today|before|actual(?:ly)?"
    r"|old|previously|(?-i:then)|return|def|class)|~~)\W{0,9}$",
    re.IGNORECASE,
)
# Sentences about a state: each result that they state depends on it.
_STATE = re.compile(
    r"(?:^|,\s|\b(?:and|but|so|then)\s)\W*(?:before|after|once|having)\b"
    r"|^\W*(?:following\b|(?:given|with)\b(?!\s+[`*]*\w+\())(?=[^:]*,[^:]*$)"
)
_SENTENCE_END = re.compile(r"[.!?]\s|;|\n[ \t]*(?:[-*+•|]|\d{1,3}[.)])\s")
# Words that say that the call before was made already.
_ORDER = re.compile(
    r"\b(?:(?:second|third|fourth|fifth|\d{1,3}(?:nd|rd|th)|next|another|subsequent|further"
    r"|repeated)(?:\s(?:call|time|use|invocation)s?)?(?:\s(?:of|to))?"
    r"|(?:again|later|afterwards),?)[\s`*]{0,9}$",
    re.IGNORECASE,
)
_VALUE_START = re.compile(r"[`\"'\[({\d+\-.]|(?:an?|the)\s+(?:error|exception|\w*Error)\b")
_RESULT_HEADER = re.compile(r"result|return|output|expect|value|gives|answer|->|→|=", re.IGNORECASE)
_MAX_LEAD_CHARS, _MAX_SHOWN_CHARS, _MAX_CLAIM_CHARS = 100, 120, 2000
_MAX_SENTENCE_CHARS = 300
_UNCLEAR_COST = 200  # characters that a claim without an example costs


def find_stated_examples(text: str) -> Iterator[GivenExample | str]:
    """Yield the examples of a text, and as strings the passages that are unclear examples."""
    for paragraph in _PARAGRAPH.split(text):
        found = list(_scan(paragraph))
        has_example = any(isinstance(item, GivenExample) for item, _ in found)
        if re.search("[“”‘’]", paragraph) and not has_example:
            straight = paragraph.translate(str.maketrans("“”‘’", "\"\"''"))
            found = list(_scan(straight)) or found
        yield from leave_out_sequences(found)


def _scan(text: str) -> Iterator[tuple[GivenExample | str, bool]]:
    """Yield the results of calls from left to right, and whether words put them into an order.

    The work is bounded by the text's length.
    """
    position, last_end, budget = 0, 0, 10 * _MAX_CLAIM_CHARS + 4 * len(text)
    while budget > 0 and (found := _CALL.search(text, position)):
        start, position = found.start(), found.end()
        end = find_call_end(text, position - 1)
        budget -= (end or start + _MAX_CLAIM_CHARS) - start
        if end is None or not is_closed(text[start:end]):
            continue
        claim = _Claim(text, start, end, text[max(last_end, start - _MAX_LEAD_CHARS) : start])
        result, position = claim.read()
        if not isinstance(result, GivenExample):
            budget -= _UNCLEAR_COST
        if result is not None:
            last_end = position
            yield result, claim.is_ordered


class _Claim:
    """A call in a paragraph, with the text before it and the statement about it."""

    def __init__(self, paragraph: str, start: int, end: int, lead: str) -> None:
        self._paragraph, self._start, self._end, self._lead = paragraph, start, end, lead
        self._call = paragraph[start:end]
        found = _CONNECTOR.match(paragraph, end, end + _MAX_CLAIM_CHARS)
        self._kind = next((item for item in _KINDS if found and found[item]), "")
        if found and "\n" in found["gap"] and self._kind not in ("raising", "verb", "arrow"):
            self._kind = ""
        self._said_at = found.end() if found else end
        self._is_arrow = bool(found and (found["arrow"] or found["cell"]))

    def read(self) -> tuple[GivenExample | str | None, int]:
        """Return the example, or the unclear passage, and where to go on in the paragraph."""
        if not self._kind:
            return None, self._end
        said = self._paragraph[self._said_at : self._said_at + _MAX_CLAIM_CHARS]
        if self._is_arrow and said[:1] not in tuple("([{\"'`"):
            said = said.partition("\n")[0]
        found = read_outcome(said, is_raised=self._kind == "raising")
        if found is None or not self._is_plausible(found[0], said, found[1]):
            return (self._get_shown() if self._is_notable(said) else None), self._end
        outcome, length = found
        end = self._said_at + length
        if self._call.endswith("()") and outcome.source == "None" and self._kind == "arrow":
            return None, end  # `reset() -> None` is a signature
        if self._is_conditional() or self._call.startswith("print("):
            return self._get_shown(), end
        return GivenExample(doctest=render_outcome(self._call, outcome)), end

    @property
    def is_ordered(self) -> bool:
        """Whether the words before the call say that it was made already."""
        return _ORDER.search(self._lead) is not None

    def _is_conditional(self) -> bool:
        before = self._paragraph[max(0, self._start - _MAX_SENTENCE_CHARS) : self._start]
        sentence = _SENTENCE_END.split(before)[-1].lower()
        return bool(_STATE.search(sentence) or _CONDITIONAL.search(self._lead))

    def _is_plausible(self, outcome: Outcome, said: str, length: int) -> bool:
        rest = said[length:].partition("\n")[0].strip(" \t`*_.;")
        if self._kind == "comment":  # `# 1. first do this` is no result
            return not rest or rest.startswith(("(", "#", "- ", "because "))
        if self._kind in ("verb", "copula") and self._call.endswith("()") and not outcome.is_error:
            return ends_plainly(said[length:])  # `pretty() gives "name: value" for each entry`
        if self._kind == "cell":
            return rest[:1] in ("", "|") and self._is_result_column()
        return True

    def _is_notable(self, said: str) -> bool:
        """Return whether to report to the user that a passage was not understood."""
        has_arguments = not self._call.endswith("()")
        if self._kind in ("verb", "arrow"):
            return has_arguments and bool(said.strip(" `*_.|"))
        is_value = _VALUE_START.match(said) is not None
        return self._kind == "raising" or (is_value and self._kind in ("equals", "copula", "cell"))

    def _is_result_column(self) -> bool:
        first = max(0, self._start - _MAX_CLAIM_CHARS)
        line_start = self._paragraph.rfind("\n", first, self._start) + 1 or first
        column = self._paragraph.count("|", line_start, self._said_at)
        lines = self._paragraph[:_MAX_CLAIM_CHARS].split("\n")
        header = next((item for item in lines if "|" in item), "").split("|")
        return column < len(header) and _RESULT_HEADER.search(header[column]) is not None

    def _get_shown(self) -> str:
        text = self._paragraph[self._start : self._start + 2 * _MAX_SHOWN_CHARS].partition("\n")[0]
        return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}…"
