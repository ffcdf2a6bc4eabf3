"""Removal of reasoning from answers, with one table of the delimiters of all model families."""

import re
from collections.abc import Callable

from greenloop.llm.parsing.errors import InvalidResponse

_WORDS = r"(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis|monologue)"
_OPENING = rf"[<\[◁]\|?(?:\w+[:_])*{_WORDS}(?:\s[^<>\n]*)?\|?[>\]▷]"
_CLOSING = rf"[<\[◁]\|?(?:/|end_(?:of_)?)(?:\w+[:_])*{_WORDS}\|?[>\]▷]"
# Opening and closing delimiters of reasoning at the beginning of an answer.
_DELIMITERS = tuple(
    (re.compile(rf"\s*{opening}", re.IGNORECASE), re.compile(closing, re.IGNORECASE))
    for opening, closing in (
        (_OPENING, _CLOSING),
        (
            r"(?:<\|start\|>assistant)?<\|channel\|>(?!final\b)\w+[^<]*<\|message\|>",
            r"<\|channel\|>final[^<]*<\|message\|>",
        ),
        (r"<\|channel>\w+\n", r"<channel\|>"),
        (r"Here(?:'s| is) my thought process:", r"Here(?:'s| is) my response:"),
    )
)
# Channels whose special tokens the server dropped; both words must be present.
_BARE_CHANNELS = re.compile(r"\s*(?:assistant)?analysis\S?.*?assistantfinal", re.DOTALL)
# Delimiters around the answer itself.
_FRAMES = re.compile(
    r"(?:<\|\w+\|>|<end_of_turn>|</s>|</answer>)\s*\Z"
    r"|\A\s*(?:<\|start\|>assistant)?<\|channel\|>final[^<]*<\|message\|>"
    r"|\A\s*<(?:\|begin_of_solution\||answer)>"
)
# Some servers drop the opening tag. A quoted tag is code about tags, not the end of reasoning.
_ORPHAN_CLOSING = re.compile(
    rf"^[^'\"`\n<\[]*{_CLOSING}|{_CLOSING}[ \t]*$", re.IGNORECASE | re.MULTILINE
)


def strip_reasoning(text: str, is_within_code: Callable[[str, int], bool]) -> str:
    """Return an answer without the reasoning that precedes it.

    `is_within_code` returns whether a line of the text is valid code, where a tag means nothing.
    Raises InvalidResponse: the answer ends within its reasoning.
    """
    text = _BARE_CHANNELS.sub("", text, count=1) if _BARE_CHANNELS.match(text) else text
    while closing := next((end for start, end in _DELIMITERS if start.match(text)), None):
        found = closing.search(text)
        if found is None:
            raise InvalidResponse("The answer ended inside its reasoning; give the answer itself.")
        text = text[found.end() :]
    for found in _ORPHAN_CLOSING.finditer(text):
        if not is_within_code(text, text.count("\n", 0, found.end())):
            text = text[found.end() :]
            break
    while (framed := _FRAMES.sub("", text)) != text:
        text = framed
    return text
