"""A chat model that answers from a script, tool by tool, and keeps the prompts."""

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field, PrivateAttr, SkipValidation

from greenloop.errors import ReplayExhaustedError
from greenloop.llm.replay import TOOL_KEY

Scripted = str | AIMessage | Exception | Callable[[str], str]


def message(text: str, finish: str = "stop", usage: tuple[int, int] | None = None) -> AIMessage:
    """Return an answer with a finish reason and, if `usage` is given, the provider's token counts."""
    counted = usage and {
        "input_tokens": usage[0],
        "output_tokens": usage[1],
        "total_tokens": sum(usage),
    }
    return AIMessage(text, response_metadata={"finish_reason": finish}, usage_metadata=counted)


class ScriptedModel(BaseChatModel):
    """Answers the calls of each tool in order; an exception in the script is raised.

    A function in the script gets the prompt's text and returns the answer.

    The tool's name comes in the metadata of the call, as for `ReplayChatModel`. `prompts` holds
    every call, failed ones too. A call beyond the script is an AssertionError that names the tool; but a
    contract or tests that are sent back have no second answer, as in a replay; and
    a script that reviews code finds nothing in what is repaired after its last review.
    """

    answers: SkipValidation[Mapping[str, Sequence[Scripted]]]
    prompts: list[tuple[str, list[BaseMessage]]] = Field(default_factory=list)
    _left: dict[str, deque[Scripted]] = PrivateAttr()
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        self._left = {tool: deque(answers) for tool, answers in self.answers.items()}

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def tools(self) -> list[str]:
        """Return the tools of the calls, in order."""
        return [tool for tool, _ in self.prompts]

    @property
    def unused(self) -> dict[str, int]:
        """Return how many answers of each tool were never requested."""
        return {tool: len(left) for tool, left in self._left.items() if left}

    def list_prompts(self, tool: str) -> list[str]:
        """Return the text of each prompt of a tool, its messages joined."""
        joined = ("\n\n".join(str(item.text) for item in items) for _, items in self._of(tool))
        return list(joined)

    def _of(self, tool: str) -> list[tuple[str, list[BaseMessage]]]:
        return [item for item in self.prompts if item[0] == tool]

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        tool = str((run_manager.metadata if run_manager else {}).get(TOOL_KEY, "?"))
        with self._lock:
            prompts_before = self._of(tool)
            self.prompts.append((tool, messages))
            left = self._left.get(tool)
            if not left and tool == "review_code" and tool in self._left:
                left = deque(["LGTM"])
            if not left and tool in ("parse_specification", "generate_tests") and prompts_before:
                raise ReplayExhaustedError(f"the script holds no second answer for {tool}")
            if not left:
                raise AssertionError(f"the script has no further answer for {tool}")
            answer = left.popleft()
        if isinstance(answer, Exception):
            raise answer
        if not isinstance(answer, (str, AIMessage)):
            answer = answer("\n\n".join(str(item.text) for item in messages))
        said = answer if isinstance(answer, AIMessage) else AIMessage(answer)
        return ChatResult(generations=[ChatGeneration(message=said)])
