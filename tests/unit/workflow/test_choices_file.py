"""`choices.md`: what is written, which marks are read, and errors that name the line."""

from pathlib import Path

import pytest

from greenloop.errors import InputError
from greenloop.records import Choice
from greenloop.workflow.storage.choices_file import read_answers, render_choices, save_choices

UNIT = Choice(
    id="C1",
    question="In cents or in dollars?",
    answers=("price([1]) -> 800", "price([1]) -> 8.0"),
    chosen="price([1]) -> 800",
    quote="the price of the books",
)
ORDER = Choice(
    id="C2",
    question="In which order?",
    answers=("f() -> [1, 2]", "f() -> [2, 1]"),
    chosen="f() -> [1, 2]",
)
CHOICES = (UNIT, ORDER)
PATH = Path("choices.md")


def mark_answers(*changes: tuple[str, str]) -> str:
    """Return the file with texts replaced; the second choice is answered unless changed."""
    text = render_choices(CHOICES)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def test_the_file_shows_quote_question_and_answers() -> None:
    text = render_choices(CHOICES)
    assert "## C1\n\n> the price of the books\n\nIn cents or in dollars?\n" in text
    assert "- [ ] 1: price([1]) -> 800 (taken)\n- [ ] 2: price([1]) -> 8.0\n- [ ] other:\n" in text


def test_marks_are_answers() -> None:
    text = mark_answers(("- [ ] 2: price", "- [x] 2: price"), ("- [ ] 1: f()", " - [X] 1: f()"))
    answers = read_answers(PATH, text.replace("\n", "\r\n"), CHOICES)
    assert [(item.question_sha256, item.answer) for item in answers] == [
        (UNIT.sha256, "price([1]) -> 8.0"),
        (ORDER.sha256, "f() -> [1, 2]"),
    ]
    assert {item.how for item in answers} == {"user"}


def test_a_section_may_be_removed() -> None:
    text = mark_answers(("- [ ] 2: price", "- [x] 2: price")).partition("## C2")[0]
    assert len(read_answers(PATH, text, CHOICES)) == 1


@pytest.mark.parametrize("mark", ["- [x] other: '8.00'", "- [ ] other: '8.00'"])
def test_another_answer_needs_no_mark(mark: str) -> None:
    text = mark_answers(("- [ ] other:", mark)).partition("## C2")[0]
    (answer,) = read_answers(PATH, text, CHOICES)
    assert answer.answer == "price([1]) -> '8.00'"


def test_a_file_without_sections_answers_nothing() -> None:
    assert read_answers(PATH, "", CHOICES) == ()


ANSWERED = ("- [ ] 2: f()", "- [x] 2: f()")
UNIT_LINE = render_choices(CHOICES).split("\n").index("## C1") + 1


@pytest.mark.parametrize(
    ("change", "line", "why"),
    [
        (("## C1", "## C9"), UNIT_LINE, "no open choice is named 'C9'; there are C1, C2"),
        (("## C2", "## C1"), UNIT_LINE + 10, "C1 occurs twice"),
        (("In cents or", "In euros or"), UNIT_LINE + 4, "the question of C1 was a different one"),
        (("In cents or in dollars?", ""), UNIT_LINE, "C1 has lost its question"),
        (
            ("- [ ] 1: price", "- [ ] 1: cost"),
            UNIT_LINE + 6,
            "was changed: write yours after other",
        ),
        (
            ("- [ ] 1: price", "- [x] 3: price"),
            UNIT_LINE + 6,
            "was changed: write yours after other",
        ),
        (("- [ ] 1: price", "- [y] 1: price"), UNIT_LINE + 6, "an answer is marked as"),
        (("- [ ] other:", "- [x] other: cents"), UNIT_LINE + 8, "other: is neither an example"),
        (("- [ ] other:", "- [x] other:"), UNIT_LINE + 8, "other: is neither an example"),
        (("- [ ] 1: price", "- [ ] 1: price"), UNIT_LINE, "C1 has no answer: mark one"),
        (
            (
                "1: price([1]) -> 800 (taken)\n- [ ]",
                "1: price([1]) -> 800 (taken)\n- [x] other: 9\n- [x]",
            ),
            UNIT_LINE,
            "C1 has two answers: mark one",
        ),
    ],
)
def test_an_unclear_answer_is_named_by_its_line(
    change: tuple[str, str], line: int, why: str
) -> None:
    with pytest.raises(InputError, match=why) as caught:
        read_answers(PATH, mark_answers(ANSWERED, change), CHOICES)
    assert str(caught.value).startswith(f"choices.md:{line}: ")


def test_marks_of_the_user_are_never_lost(tmp_path: Path) -> None:
    path, previous = tmp_path / "choices.md", tmp_path / "choices.previous.md"
    assert save_choices(path, CHOICES)
    filled = path.read_text().replace("- [ ] 2: price", "- [x] 2: price")
    filled = filled.replace("- [ ] other:", "- [ ] other: 5")
    path.write_text(filled)
    assert save_choices(path, CHOICES)
    assert path.read_text() == filled
    assert save_choices(path, (ORDER,))
    assert path.read_text() == render_choices((ORDER,))
    assert previous.read_text() == filled
    assert not save_choices(path, ())
    assert not path.exists()
    assert previous.read_text() == filled


def test_a_long_example_is_read_whole() -> None:
    answers = tuple(f"total({list(range(400))}) -> {number}" for number in (79800, 0))
    choice = Choice(id="D1", question="What?", answers=answers, chosen=answers[0])
    text = render_choices([choice]).replace("- [ ] 2:", "- [x] 2:")
    (answer,) = read_answers(PATH, text, [choice])
    assert answer.answer == answers[1]
    assert "-> 0\n" in text
