"""The plain road: a run without a model's contract, with the text's sentences as requirements.

It is taken if the model's answers do not have the form of a contract, or if the model is
small by its name or a setting. Prompts for code, tests and repairs are short and show only the text.
"""

import re

from greenloop.errors import UnusableCodeError
from greenloop.events import ContractReady
from greenloop.specification.examples import analyze_specification
from greenloop.specification.plain import build_plain_contract
from greenloop.tools.plain_toolkit import PlainToolkit
from greenloop.workflow.make.request import MakeRequest
from greenloop.workflow.state import RepairPhase, Run

_MAX_REPAIRS = 1  # a model that cannot keep a form rarely repairs (0 of 11); samples come first
_MAX_SMALL = 4  # billions of parameters
# `1.5b`, `0.6B`, `270m` as a part of a name: the number of parameters. `1m` is a context length.
_SIZE = re.compile(
    r"(?:^|[^a-z0-9.])(?:e)?(?:(\d{1,4}(?:\.\d{1,3})?)b|([5-9]\d|\d{3,4})m)(?![a-z0-9])",
    re.IGNORECASE,
)


def is_small_model(name: str) -> bool:
    """Return whether a model's name says that it has at most four billion parameters."""
    sizes = [float(billions or int(millions) / 1000) for billions, millions in _SIZE.findall(name)]
    return bool(sizes) and max(sizes) <= _MAX_SMALL


def prefers_plain_road(run: Run) -> bool:
    """Return whether the run does without a request for a contract."""
    profile = run.settings.profile
    return profile == "small" or (profile == "auto" and is_small_model(run.state.model))


async def take_plain_road(run: Run, request: MakeRequest, why: str) -> None:
    """Set a contract that needs no model; if the text names nothing, write the code first.

    Raises GreenloopError: the code could not be written.
    """
    state = run.state
    state.road = "plain"
    run.notify(f"without a contract: {why}")
    run.kit = kit = PlainToolkit.of(run.kit)
    limit = min(state.repair_phase.limit, _MAX_REPAIRS)
    state.repair_phase = RepairPhase(limit)
    given = analyze_specification(request.task)
    contract = build_plain_contract(given, request.module)
    if contract is None:
        meter = run.measure_calls("generate_code")
        generated = await kit.write_code(request.task)
        contract = build_plain_contract(given, request.module, generated.code)
        if contract is None:
            raise UnusableCodeError("the model's code defines no public function or class")
        run.add_candidate("generate", generated.code, generated.explanation, meter)
    state.contract = contract
    run.emit(ContractReady(contract))
