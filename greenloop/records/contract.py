"""The contract: a typed interface, numbered requirements, and what the text leaves open."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Final, Literal, Protocol

from pydantic import Field

from greenloop.records.base import Record

MIN_HELD_OUT = 4
_MAX_SHOWN = 5
_MAX_SHOWN_CHARS = 200
_MAX_QUESTION_CHARS = 120
LEFT_OPEN: Final = "the text leaves open: "  # prefix of a reason that is an open choice


class Requirement(Record):
    """One testable statement. `id` is `R1`, `R2`, …; `quotes` are the passages that it comes from."""

    id: str = Field(pattern=r"^R[1-9][0-9]*$")
    text: str = Field(min_length=1)
    quotes: tuple[str, ...] = ()


class Contradiction(Record):
    """Two passages of the specification that demand different results of one call."""

    quotes: tuple[str, str]
    call: str = ""


class Background(Record):
    """A passage of the specification that requires nothing, and why."""

    quote: str
    reason: str = ""


class Choice(Record):
    """A question that the specification leaves open and whose answer a caller sees.

    `answers` are the possible ones, as example calls with their results; `chosen` is the one that
    the code follows. `source` says who found the question: the contract's writer, or the judge of
    a difference between two implementations. `answered` is None while the choice is open. `unread`:
    it was accepted with all others (`--accept-choices`), perhaps without being read.
    """

    id: str = Field(min_length=1)
    question: str
    answers: tuple[str, ...] = ()
    chosen: str = ""
    quote: str = ""
    source: Literal["contract", "judge"] = "contract"
    answered: Literal["user", "accepted"] | None = None
    unread: bool = Field(default=False, exclude_if=lambda unread: not unread)

    @property
    def sha256(self) -> str:
        """Digest of the question without regard to white space; answers refer to it."""
        return hashlib.sha256(" ".join(self.question.split()).encode()).hexdigest()


class ChoiceAnswer(Record):
    """The user's decision on the choice whose question has this digest.

    `how`: an `answer` was given (`user`), the answer that was taken was `accepted`, or the choice
    was asked about and `left` open. `unread`: it was accepted with all others. `round` is 0 for
    answers that code and tests were written from; later rounds change a contract that has code.
    """

    question_sha256: str
    how: Literal["user", "accepted", "left"]
    unread: bool = False
    answer: str = ""
    round: int = 0


class ChoiceAsker(Protocol):
    """A user who answers questions during a run."""

    async def ask(self, choice: Choice) -> ChoiceAnswer:
        """Return the user's decision."""
        ...


class KeptBehaviour(Record):
    """Behaviour that a change must keep. `tests` are the node ids of tests that check it.

    `quotes` are the passages of the wish that ask for it, if there are any.
    """

    id: str = Field(pattern=r"^K[1-9][0-9]*$")
    text: str = Field(min_length=1)
    tests: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()


class GivenExample(Record):
    """An example of the specification's text, in doctest form."""

    doctest: str


class Contract(Record):
    """The agreement that code and tests are written from, independently of each other.

    `interface` is Python stub source: signatures, types, docstrings, bodies `...`. `background` are
    the passages that require nothing, and `unquoted` those in no quote. `not_covered` is what the
    text asks for and one module cannot provide. `unclear_examples` are passages that look like an
    example and were not understood. `keep` is the behaviour that a change of a project must keep.
    """

    module: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    summary: str
    interface: str
    requirements: tuple[Requirement, ...]
    background: tuple[Background, ...] = ()
    unquoted: tuple[str, ...] = ()
    not_covered: tuple[str, ...] = ()
    unclear_examples: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    packages: tuple[str, ...] = ()
    # Demands that no module can meet, according to the contract's writer; they end the run.
    contradictions: tuple[Contradiction, ...] = Field(default=(), exclude=True)
    keep: tuple[KeptBehaviour, ...] = Field(default=(), exclude_if=lambda kept: not kept)
    specification: str = Field(default="", exclude=True)
    examples: tuple[GivenExample, ...] = Field(default=(), exclude=True)

    @property
    def open_choices(self) -> tuple[Choice, ...]:
        """The choices that nobody has answered or accepted."""
        return tuple(item for item in self.choices if item.answered is None)

    @property
    def unread_choices(self) -> tuple[Choice, ...]:
        """The choices that were accepted with all others."""
        return tuple(item for item in self.choices if item.unread)

    @property
    def quotes_text(self) -> bool:
        """Whether any requirement quotes the text."""
        return any(item.quotes for item in self.requirements)

    @property
    def text_with_answers(self) -> str:
        """The specification, followed by the user's answers to what it leaves open."""
        answers = [f"- {i.question} {i.chosen}" for i in self.choices if i.answered == "user"]
        lines = ["\n\nThe author's answers to questions:", *answers]
        return self.specification.strip() + "\n".join(lines if answers else ())

    @property
    def taken_choices(self) -> tuple[Choice, ...]:
        """The choices that `text_with_answers` does not answer."""
        return tuple(item for item in self.choices if item.answered != "user")

    @property
    def choices_besides_requirements(self) -> tuple[Choice, ...]:
        """The choices that no requirement states (a user's differing answer becomes one)."""
        texts = [item.text for item in self.requirements]
        return tuple(i for i in self.choices if not any(t.startswith(i.question) for t in texts))

    def unmet(self) -> Iterator[str]:
        """Yield why a green run is not `verified` against the text, each reason with its remedy."""
        if self.unquoted and not self.quotes_text:
            yield "the contract quotes nothing from the text; run again with another model"
        elif self.unquoted:
            shown = "; ".join(f'"{_truncate(item)}"' for item in self.unquoted[:_MAX_SHOWN])
            more = len(self.unquoted) - _MAX_SHOWN
            rest = f" and {more} more" if more > 0 else ""
            yield f"no requirement covers this passage of the text: {shown}{rest}; state it more clearly"
        for item in self.not_covered:
            yield (
                f'the text asks for what one Python module cannot provide: "{item}"; take this out of '
                "the text, or change a project with `greenloop change`"
            )
        for choice in self.open_choices:
            others = (item for item in choice.answers if item != choice.chosen)
            answers = (_cut_middle(i, _MAX_QUESTION_CHARS) for i in (choice.chosen, *others))
            yield (
                f"{LEFT_OPEN}{_truncate(choice.question, _MAX_QUESTION_CHARS)} (taken: "
                f"{'; or: '.join(answers)}): answer it in "
                "choices.md for `resume --answers`, or accept it with `resume --accept-choices`"
            )

    def __str__(self) -> str:
        """Return the contract as JSON, as a model passes it to the next tool."""
        return self.model_dump_json(indent=1)

    def format_answer(self) -> str:
        """Return the contract in the answer format of its writer, without empty sections."""
        return "\n".join(_format_answer(self))


def _format_answer(contract: Contract) -> Iterator[str]:
    yield f"```python\n{contract.interface.rstrip()}\n```"
    yield "Requirements"
    for item in contract.requirements:
        quotes = "; ".join(f'"{" ".join(quote.split())}"' for quote in item.quotes)
        yield f"- {item.id}: {item.text}" + (f" <- {quotes}" if quotes else "")
    if contract.choices:
        yield "Choices"
    for choice in contract.choices:
        quote = f' <- "{choice.quote}"' if choice.quote else ""
        answers = " or ".join(f"`{answer}`" for answer in choice.answers)
        yield f"- {choice.question}{quote}: {answers}; taken: `{choice.chosen}`"
    if contract.contradictions:
        yield "Contradictions"
    for sides in contract.contradictions:
        first, second = sides.quotes
        yield f'- "{first}" against "{second}"' + (f": `{sides.call}`" if sides.call else "")
    lists = {
        "Not covered": contract.not_covered,
        "Assumptions": contract.assumptions,
        "Packages": contract.packages,
    }
    for name, items in lists.items():
        if items:
            yield name
            yield from (f"- {item}" for item in items)
    yield f"Module: {contract.module}"


def _truncate(text: str, limit: int = _MAX_SHOWN_CHARS) -> str:
    return text if len(text) <= limit else f"{text[:limit]} …"


def _cut_middle(text: str, limit: int) -> str:
    """Return a text without its middle: an example's result is at the end, which has to stay."""
    return text if len(text) <= limit else f"{text[: limit // 2]} … {text[-limit // 2 :]}"


class HeldOutExample(Record):
    """A call with its expected result, which the code under test never sees.

    `call` is one Python expression over the module's names, or statements that end in one. Exactly
    one of `returns` (a Python literal) and `raises` (an exception's name) is given.
    """

    requirement: str = ""
    call: str
    returns: str | None = None
    raises: str | None = None


def has_enough_examples(examples: Sequence[HeldOutExample]) -> bool:
    """Return whether there are at least four held-out examples, half of them with values."""
    with_values = sum(item.returns is not None for item in examples)
    return len(examples) >= MIN_HELD_OUT and 2 * with_values >= len(examples)
