"""Terminal questions about what the text leaves open, asked during a run."""

import asyncio
import sys
import termios
from collections.abc import Iterator
from typing import Literal

from greenloop.cli.options.shared import RunOptions
from greenloop.cli.process import fit_terminal, is_terminal
from greenloop.records import Choice, ChoiceAnswer
from greenloop.reporting.escaping import sanitize_line
from greenloop.reporting.evidence.choices import split_answers
from greenloop.settings import Settings
from greenloop.specification.choices import complete_answer, parse_answer


def print_line(line: str) -> None:
    """Print a line on standard error, with control characters escaped."""
    print(fit_terminal(sanitize_line(line), sys.stderr), file=sys.stderr, flush=True)


class TerminalAsker:
    """`ChoiceAsker` for a terminal; an interrupt cancels the run, as at any other time."""

    async def ask(self, choice: Choice) -> ChoiceAnswer:
        """Return the user's answer; at the end of the input the choice is left open."""
        for line in _describe_choice(choice):
            print_line(line)
        numbers = [str(number) for number, _ in enumerate(choice.answers, 1)]
        while True:
            reply = await read_line(f"{', '.join(numbers)}, [o]ther, [l]eave it to greenloop? ")
            if reply in ("o", "other"):
                example = parse_answer(choice.chosen)
                asked = f"what does {example.call} give" if example else "which answer"
                reply = await read_line(f"{sanitize_line(asked)}? ")
                answer = complete_answer(choice, reply) if reply else None
            else:
                offered = dict(zip(numbers, choice.answers, strict=True))
                answer = offered.get(reply or "")
            if answer:
                return ChoiceAnswer(question_sha256=choice.sha256, how="user", answer=answer)
            if reply is None or reply in ("l", "leave"):
                how: Literal["left", "accepted"] = "left" if reply is None else "accepted"
                return ChoiceAnswer(question_sha256=choice.sha256, how=how)
            print_line("not understood; enter a number, or o and then an example or a literal")


def create_asker(settings: Settings, options: RunOptions) -> TerminalAsker | None:
    """Return the asker for this terminal; None if no question may be asked."""
    is_silent = options.json or options.quiet or not is_terminal()
    is_off = settings.ask == "never" or (settings.ask is None and is_silent)
    return None if is_off else TerminalAsker()


def _describe_choice(choice: Choice) -> Iterator[str]:
    yield f"Left open: {choice.question}"
    if choice.quote:
        yield f"  > {choice.quote}"
    call, results = split_answers(choice)
    if call:
        yield f"  {call}"
    for number, (answer, result) in enumerate(zip(choice.answers, results, strict=True), 1):
        yield f"  {number}: {result}{' (taken)' if answer == choice.chosen else ''}"


async def read_line(question: str) -> str | None:
    """Return one line, stripped; None at the end of the input. May be cancelled."""
    loop, descriptor = asyncio.get_running_loop(), sys.stdin.fileno()
    termios.tcflush(descriptor, termios.TCIFLUSH)  # discard what was typed before the question
    print(question, end="", file=sys.stderr, flush=True)
    is_ready = asyncio.Event()
    loop.add_reader(descriptor, is_ready.set)
    try:
        await is_ready.wait()
    finally:
        loop.remove_reader(descriptor)
    line = sys.stdin.readline()  # does not block: a terminal delivers whole lines
    return line.strip() if line else None
