"""Parser of the choices that a contract's writer marks as open."""

from greenloop.records import Choice, GivenExample
from greenloop.specification.choices import (
    MAX_ANSWER_CHARS,
    complete_results,
    drop_settled,
    to_one_line,
)

_MAX_CHOICES = 20
_MAX_ANSWERS = 6
_MAX_QUESTION_CHARS = 500


def parse_choices(value: object, examples: tuple[GivenExample, ...]) -> tuple[Choice, ...]:
    """Return the choices of a contract, numbered C1, C2, …, without those that examples answer.

    Entries without a question or without answers are left out. The model cannot mark a choice as
    answered.
    """
    entries = value[:_MAX_CHOICES] if isinstance(value, list) else ()
    found = {choice.sha256: choice for choice in filter(None, map(_parse_choice, entries))}
    settled = drop_settled(found.values(), examples)
    return tuple(
        item.model_copy(update={"id": f"C{number}"}) for number, item in enumerate(settled, 1)
    )


def _parse_choice(raw: object) -> Choice | None:
    fields = raw if isinstance(raw, dict) else {}
    question, offered = _flatten(fields.get("question"), _MAX_QUESTION_CHARS), fields.get("answers")
    flat = map(_flatten, offered[:_MAX_ANSWERS] if isinstance(offered, list) else ())
    answers = list(dict.fromkeys(filter(None, flat)))
    if not question or not answers:
        return None
    chosen = _flatten(fields.get("chosen")) or answers[0]
    if chosen not in answers:
        answers.insert(0, chosen)
    quote = _flatten(fields.get("quote"), _MAX_QUESTION_CHARS)
    return complete_results(
        Choice(id="C1", question=question, answers=tuple(answers), chosen=chosen, quote=quote)
    )


def _flatten(value: object, limit: int = MAX_ANSWER_CHARS) -> str:
    return to_one_line("" if value is None else str(value), limit)
