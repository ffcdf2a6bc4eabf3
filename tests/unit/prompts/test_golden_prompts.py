"""Golden files of all prompts; UPDATE_GOLDEN=1 rewrites them. Their variables are in contexts.yaml."""

import os
import pkgutil
import re
from pathlib import Path
from typing import Any

import yaml

from greenloop import prompts
from greenloop.prompts.rendering import PromptTemplates

GOLDEN = Path(__file__).parent / "golden"
TEMPLATES = Path(prompts.__file__).parent / "templates"


def build(value: Any) -> Any:
    """Return a value of the file, with its lists as tuples and its records as objects."""
    if isinstance(value, list):
        return tuple(map(build, value))
    if not isinstance(value, dict):
        return value
    fields = {key: build(item) for key, item in value.items() if key != "type"}
    if "type" not in value:
        return fields
    kind = pkgutil.resolve_name(value["type"])
    return getattr(kind, "model_construct", kind)(**fields)


CONTEXTS: dict[str, dict[str, Any]] = build(
    yaml.safe_load(Path(__file__).with_name("contexts.yaml").read_text("utf-8"))
)


def render(name: str) -> str:
    prompt = PromptTemplates().render(name.partition(".")[0], **CONTEXTS[name])
    return "\n\n".join(f"##### {item.role} #####\n{item.text}" for item in prompt.messages) + "\n"


def test_prompts_are_unchanged_and_have_no_gaps() -> None:
    """Compare all at once: a change of a shared part shows in each."""
    rendered = {name: render(name) for name in CONTEXTS}
    if os.environ.get("UPDATE_GOLDEN") == "1":
        for name, text in rendered.items():
            (GOLDEN / f"{name}.txt").write_text(text, encoding="utf-8")
    assert rendered == {name: (GOLDEN / f"{name}.txt").read_text("utf-8") for name in CONTEXTS}
    assert [name for name, text in rendered.items() if re.search(r"\n{4}|[ \t]\n", text)] == []


def test_each_prompt_has_a_rich_and_a_minimal_golden_file() -> None:
    tools = {path.stem for path in TEMPLATES.glob("[!_]*.md")}
    wanted = {f"{tool}.{kind}" for tool in tools for kind in ("minimal", "rich")}
    assert wanted <= set(CONTEXTS)
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(CONTEXTS)
