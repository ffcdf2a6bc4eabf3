"""Strict rendering of templates, shipped and of a user's folder."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jinja2 import DictLoader, Environment, StrictUndefined, UndefinedError

from greenloop.errors import SettingsError
from greenloop.prompts import Message, rendering
from greenloop.prompts.rendering import PromptTemplates
from greenloop.records import Contract, KeptBehaviour
from tests.support.programs import read_table

Template = Callable[..., None]
SHIPPED = Path(rendering.__file__).parent / "templates"
render = PromptTemplates().render


@pytest.fixture
def templates(monkeypatch: pytest.MonkeyPatch) -> Iterator[Template]:
    """Replace the shipped templates; the environment is the real one otherwise."""
    make: Callable[[None], Environment] = rendering._build_environment.__wrapped__
    rendering._find_variables.cache_clear()

    def use(**sources: str) -> None:
        def environment(_folder: None) -> Environment:
            made = make(None)
            made.loader = DictLoader({f"{name}.md": text for name, text in sources.items()})
            return made

        monkeypatch.setattr(rendering, "_build_environment", environment)

    yield use
    rendering._find_variables.cache_clear()


def test_two_parts_become_two_messages(templates: Template) -> None:
    templates(make="You make {{ what }}.\n\n=== user ===\n\nMake {{ what }}.\n")
    prompt = render("make", what="code")
    assert prompt.tool == "make"
    assert prompt.messages == (Message("system", "You make code."), Message("user", "Make code."))


def test_tool_may_use_template_of_another_name(templates: Template) -> None:
    templates(other="A\n=== user ===\nB\n")
    assert render("make", "other").tool == "make"


@pytest.mark.parametrize(("values", "named"), read_table(__file__, "WRONG_VARIABLES"))
def test_missing_or_unknown_variables_are_an_error(
    values: dict[str, Any], named: str, templates: Template
) -> None:
    templates(
        make="{{ a }}{% include 'part.md' %}\n=== user ===\n{% for x in [1] %}{{ x }}{% endfor %}",
        part="{% if false %}{{ b }}{% endif %}",
    )
    with pytest.raises(LookupError, match=rf"make\.md: .*{named}"):
        render("make", **values)


def test_unknown_attribute_is_an_error(templates: Template) -> None:
    templates(make="{{ a.missing }}\n=== user ===\n")
    with pytest.raises(UndefinedError, match="missing"):
        render("make", a={})
    assert rendering._build_environment(None).undefined is StrictUndefined


def test_values_are_inserted_verbatim(templates: Template) -> None:
    templates(make="Rules.\n=== user ===\n{{ a }}")
    text = "<b> & {{ a }} {% if %}\n=== user ===\nend"
    assert render("make", a=text).messages == (Message("system", "Rules."), Message("user", text))


@pytest.mark.parametrize("tool", ["generate_code", "repair_code", "parse_specification"])
def test_shipped_templates_require_their_variables(tool: str) -> None:
    with pytest.raises(LookupError, match=f"{tool}.md"):
        render(tool)


REVIEW = "Review it.\n=== user ===\n{{ contract }}: {{ numbered_code }}"
VALUES = {
    "contract": "C",
    "doubtful_background": (),
    "numbered_code": "1 x",
    "diff": "",
    "findings": (),
}


class TestUserFolder:
    def test_template_of_the_folder_replaces_the_shipped_one(self, tmp_path: Path) -> None:
        (tmp_path / "review_code.md").write_text(REVIEW)
        (tmp_path / "notes.txt").write_text("{{ ignored }}")
        prompt = PromptTemplates.open(str(tmp_path)).render("review_code", **VALUES)
        assert prompt.messages == (Message("system", "Review it."), Message("user", "C: 1 x"))

    def test_variables_may_be_left_out_but_callers_give_all(self, tmp_path: Path) -> None:
        (tmp_path / "review_code.md").write_text("Rules.\n=== user ===\n{{ numbered_code }}")
        templates = PromptTemplates.open(str(tmp_path))
        assert templates.render("review_code", **VALUES).messages[1].text == "1 x"
        with pytest.raises(LookupError, match="contract"):
            templates.render("review_code", numbered_code="1 x")

    def test_templates_include_own_partials_and_others_are_shipped(self, tmp_path: Path) -> None:
        (tmp_path / "judge_test.md").write_text(
            "{% include '_own.md' %}\n=== user ===\n{{ claim }}"
        )
        (tmp_path / "_own.md").write_text("Own rules.")
        own = PromptTemplates.open(str(tmp_path))
        values = {"contract": "C", "test_source": "S", "claim": "why", "is_example": False}
        prompt = own.render("judge_test", **values)
        assert prompt.messages[0].text == "Own rules."
        keep = (KeptBehaviour(id="K1", text="All else stays."),)
        contract = Contract(
            module="m", summary="S", interface="def f(): ...", requirements=(), keep=keep
        )
        shown = render("judge_test", **{**values, "contract": contract}).messages[1].text
        assert "K1. All else stays." in shown
        values = {**VALUES, "contract": contract}
        assert own.render("review_code", **values) == render("review_code", **values)

    def test_copies_of_the_shipped_templates_are_accepted(self, tmp_path: Path) -> None:
        for path in SHIPPED.glob("*.md"):
            (tmp_path / path.name).write_text(path.read_text("utf-8"), "utf-8")
        assert PromptTemplates.open(str(tmp_path)).folder == tmp_path

    @pytest.mark.parametrize(
        ("name", "text", "said"),
        [
            (
                "review.md",
                REVIEW,
                r"review\.md is not a template; the templates are .*review_code\.md",
            ),
            ("review_code.md", REVIEW + "{{ tone }}", r"review_code\.md: unknown variable tone; "),
            ("review_code.md", "{{ numbered_code }}", "needs a line '=== user ==='"),
            ("review_code.md", "{% if %}", r"review_code\.md:1: Expected an expression"),
            ("review_code.md", REVIEW + "{% include 'x.md' %}", r"includes x\.md, which is no"),
            ("_contract.md", "{{ tone }}", "unknown variable tone"),
            ("notes.txt", "", r"holds no template"),
        ],
    )
    def test_unusable_template_is_one_line(
        self, name: str, text: str, said: str, tmp_path: Path
    ) -> None:
        (tmp_path / name).write_text(text)
        with pytest.raises(SettingsError, match=said) as caught:
            PromptTemplates.open(str(tmp_path))
        assert "\n" not in str(caught.value)

    def test_missing_folder_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(SettingsError, match="the folder is missing"):
            PromptTemplates.open(str(tmp_path / "none"))

    def test_unknown_attribute_is_an_error_when_rendered(self, tmp_path: Path) -> None:
        (tmp_path / "review_code.md").write_text(REVIEW.replace("contract", "contract.tone"))
        templates = PromptTemplates.open(str(tmp_path))
        with pytest.raises(SettingsError, match=r"review_code\.md: .*no attribute 'tone'"):
            templates.render("review_code", **VALUES)
