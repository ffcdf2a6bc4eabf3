"""Loading of settings: options, environment, `.env`, files, defaults, in this precedence."""

import os
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar, Final

from pydantic import ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, InitSettingsSource, SettingsConfigDict
from typing_extensions import Unpack

from greenloop.configuration import (
    Setting,
    find_ignored_settings,
    find_project_source,
    read_project_settings,
    read_user_settings,
)
from greenloop.dependencies import PackageAllowlist
from greenloop.errors import SettingsError, simplify_message
from greenloop.records import Thresholds
from greenloop.settings.keywords import SettingsKeywords
from greenloop.settings.table import SettingsTable

_OTHER_VARIABLES: Final = ("GREENLOOP_TRACE_CONTENT",)


class Settings(SettingsTable):
    """All settings. Durations are in seconds, costs in US dollars.

    Raises:
        SettingsError: a keyword is no setting; in `load` also where a value is invalid.
    """

    def __init__(self, **values: Unpack[SettingsKeywords]) -> None:
        check_names(values)
        super().__init__(**values)

    @field_validator("mutants", "samples", mode="before")
    @classmethod
    def _validate_count(cls, value: object, info: ValidationInfo) -> object:
        word = "all" if info.field_name == "mutants" else "auto"
        if value == word or str(value).isdigit():
            return value
        raise ValueError(f"must be 0 or more, or {word}")

    @field_validator("allowed_packages", "allow_package")
    @classmethod
    def _validate_packages(cls, value: str | None) -> str | None:
        PackageAllowlist.parse(value)
        return value

    @field_validator("prompts")
    @classmethod
    def _make_prompts_absolute(cls, value: str | None) -> str | None:
        """Return an absolute path, which stays valid if a run is resumed from another folder."""
        return None if value is None else str(Path(value).absolute())

    @model_validator(mode="after")
    def _resolve_aliases(self) -> "Settings":
        """Replace the alias of a model by the model's name."""
        for field in ("model", "fallback_model"):
            if (name := getattr(self, field)) in self.models:
                object.__setattr__(self, field, self.models[name])
        return self

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], *sources: Any, **named: Any
    ) -> tuple[Any, ...]:
        """Return the sources by precedence: the project's file, then the user's file, come last."""
        table = list_settings()
        user = read_user_settings(table)
        defaults = {item.name: item.default for item in table}
        folder = getattr(settings_cls, "project_folder", Path())
        files = (read_project_settings(table, {**defaults, **user}, folder), user)
        above = (named[name] for name in ("init_settings", "env_settings", "dotenv_settings"))
        return (*above, *(InitSettingsSource(settings_cls, item) for item in files))

    @classmethod
    def load(cls, folder: Path | None = None, **flags: Any) -> "Settings":
        """Return the settings; `flags` (None: not given) override all other sources.

        The project's file and `.env` are read from `folder`, by default the working folder.
        Raises SettingsError: a value is invalid, or `.env` cannot be read.
        """
        given = {name: value for name, value in flags.items() if value is not None}
        try:
            return (_bind_folder(folder) if folder else cls)(**given)
        except ValidationError as error:
            raise SettingsError("; ".join(_describe_errors(error, given))) from None
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f".env cannot be read: {error}") from None

    @property
    def is_model_disabled(self) -> bool:
        """Return whether the user disabled the model."""
        return self.model == "none"

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return the values that no message may show."""
        return (self.openai_api_key.get_secret_value(),) if self.openai_api_key else ()

    @property
    def allow_list(self) -> PackageAllowlist:
        """Return the packages of `allowed_packages` and `allow_package`, for generated code."""
        return PackageAllowlist.parse(self.allowed_packages, self.allow_package)

    @property
    def thresholds(self) -> Thresholds:
        """Return the thresholds that evidence must reach for `verified`."""
        return Thresholds(
            held_out_agreement=self.min_held_out_agreement,
            mutation_score=self.min_mutation_score,
            assertion_mutation=self.min_assertion_mutation,
            line_coverage=self.min_line_coverage,
            branch_coverage=self.min_branch_coverage,
            seconds=self.grading_s,
        )


def list_settings() -> tuple[Setting, ...]:
    """Return all settings in the order of their declaration."""
    return tuple(
        item.json_schema_extra["setting"].bind(name, item)  # type: ignore[index, union-attr]
        for name, item in Settings.model_fields.items()
    )


def _bind_folder(folder: Path) -> type[Settings]:
    """Return a settings class that reads the files of `folder`, not of the working folder."""

    class BoundSettings(Settings):
        model_config = SettingsConfigDict(env_file=folder / ".env")
        project_folder: ClassVar[Path] = folder

    return BoundSettings


def check_names(names: Collection[str]) -> None:
    """Raise SettingsError for a name that is no setting; pydantic's own begin with `_`."""
    known = {item.name for item in list_settings()}
    variables = {item.variable for item in list_settings()}
    for name in names:
        if name not in known | variables and not name.startswith("_"):
            close = get_close_matches(name, known, 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise SettingsError(f"{name} is not a setting{hint}")


def find_ignored() -> Iterator[str]:
    """Yield a line for each setting of the environment or `.env` that is ignored."""
    yield from find_ignored_settings(list_settings(), _OTHER_VARIABLES)


def _describe_errors(error: ValidationError, flags: Collection[str]) -> Iterator[str]:
    """Yield each problem with the name of the option or variable, never the value of a secret."""
    for item in error.errors():
        name, value = str(item["loc"][0] if item["loc"] else "settings"), item.get("input")
        shown = f"{value:g}" if isinstance(value, float) else str(value)
        shown = "(not shown)" if "KEY" in name.upper() else shown
        yield f"{_name_source(name, value, shown, flags)} {simplify_message(item['msg'])}"


def _name_source(name: str, value: object, shown: str, flags: Collection[str]) -> str:
    """Return a value with the option, the line of a file or the variable that sets it."""
    table = list_settings()
    found = next((item for item in table if name in (item.name, item.variable)), None)
    if found and name in flags:
        return f"{found.option} {shown}"
    source = "" if name in os.environ or not found else find_project_source(table, found, value)
    return f"{source} = {shown}" if source else f"{name}={shown}"
