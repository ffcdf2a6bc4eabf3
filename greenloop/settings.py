"""Settings: flags over environment over `.env` over defaults, in one typed object."""

import logging
import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, InitSettingsSource, SettingsConfigDict

from greenloop.configuration import (
    find_ignored_settings,
    find_project_source,
    read_project_settings,
    read_user_settings,
)
from greenloop.dependencies import PackageAllowlist
from greenloop.errors import SettingsError, simplify_message
from greenloop.records import Thresholds

_OTHER_VARIABLES: Final = ("GREENLOOP_TRACE_CONTENT",)
# Variables of 0.1.0: the variable and the field that replace each.
_RENAMED_SETTINGS: Final = {
    "GREENLOOP_MIN_SEALED_AGREEMENT": (
        "GREENLOOP_MIN_HELD_OUT_AGREEMENT",
        "min_held_out_agreement",
    ),
    "GREENLOOP_MIN_CONTROLLED": ("GREENLOOP_MIN_ASSERTION_MUTATION", "min_assertion_mutation"),
}


class Settings(BaseSettings):
    """All settings. Durations are in seconds, costs in US dollars.

    Raises:
        SettingsError: in `load`, where a value is invalid.
    """

    model_config = SettingsConfigDict(
        env_prefix="GREENLOOP_",  # also keeps HOME, MODEL, … of the environment out
        env_file=".env",
        env_file_encoding="utf-8",
        extra="ignore",
        frozen=True,
        env_ignore_empty=True,
        validate_by_name=True,
        validate_by_alias=True,
        alias_generator=lambda name: f"GREENLOOP_{name.upper()}",
    )

    model: str | None = None
    fallback_model: str | None = None
    openai_api_key: SecretStr | None = Field(None, validation_alias="OPENAI_API_KEY")
    openai_base_url: str | None = Field(None, validation_alias="OPENAI_BASE_URL")
    ollama_host: str = Field("http://127.0.0.1:11434", validation_alias="OLLAMA_HOST")
    num_ctx: int = Field(32768, ge=2048, le=1 << 20)
    model_timeout_s: float = Field(300, gt=0, validation_alias="GREENLOOP_MODEL_TIMEOUT")
    model_attempts: int = Field(6, ge=1, le=20)
    model_backoff_s: float = Field(1.0, ge=0, validation_alias="GREENLOOP_MODEL_BACKOFF")
    max_repairs: int = Field(5, ge=0, le=100, validation_alias="MAX_REPAIR_ITERATIONS")
    hardening_rounds: int = Field(2, ge=0, le=10)
    timeout_s: float = Field(30, gt=0, le=3600, validation_alias="EXECUTION_TIMEOUT_SECONDS")
    max_tokens: int | None = Field(None, gt=0)
    max_cost: float | None = Field(None, gt=0)
    sandbox: str = "auto"
    container_engine: Literal["auto", "podman", "docker"] = "auto"
    container_image: str | None = None
    require: Literal["verified", "passed"] = "passed"
    ask: Literal["terminal", "never"] | None = None
    home: Path = Path(".greenloop")
    cpu_s: int | None = Field(None, ge=1, le=36000, validation_alias="GREENLOOP_CPU_SECONDS")
    memory_mb: int = Field(2048, ge=64, le=1 << 20)
    total_memory_mb: int | None = Field(None, ge=64, le=1 << 20)
    processes: int = Field(64, ge=4, le=4096)
    disk_mb: int = Field(64, ge=1, le=1 << 20)
    inodes: int = Field(4096, ge=64, le=10**7)
    shared_memory_mb: int = Field(16, ge=1, le=1 << 20)
    open_files: int = Field(256, ge=32, le=4096)
    file_mb: int = Field(64, ge=1, le=1 << 20)
    output_kb: int = Field(4096, ge=16, le=1 << 20)
    allowed_packages: str | None = None
    allow_package: str = ""
    prompts: str | None = None
    peer: bool = True

    @field_validator("mutants", mode="before")
    @classmethod
    def _validate_mutant_count(cls, value: object) -> object:
        if value == "all" or str(value).isdigit():
            return value
        raise ValueError("must be 0 or more, or all")

    @field_validator("allowed_packages", "allow_package")
    @classmethod
    def _validate_packages(cls, value: str | None) -> str | None:
        PackageAllowlist.parse(value)
        return value

    @field_validator("prompts")
    @classmethod
    def _make_prompts_absolute(cls, value: str | None) -> str | None:
        """Keep the folder of a run that is resumed from another working folder."""
        return None if value is None else str(Path(value).absolute())

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return the values that no message may show."""
        return (self.openai_api_key.get_secret_value(),) if self.openai_api_key else ()

    @property
    def allow_list(self) -> PackageAllowlist:
        """Return the packages that generated code may use: the list, and those allowed in addition."""
        return PackageAllowlist.parse(self.allowed_packages, self.allow_package)

    mutants: Literal["all"] | int = 100
    min_held_out_agreement: float = Field(1.0, ge=0, le=1)
    min_mutation_score: float = Field(0.8, ge=0, le=1)
    min_assertion_mutation: float = Field(0.5, ge=0, le=1)
    min_isolated: float = Field(0.5, ge=0, le=1)
    min_line_coverage: float = Field(0.9, ge=0, le=1)
    min_branch_coverage: float = Field(0.8, ge=0, le=1)
    models: dict[str, str] = Field(default_factory=dict)
    fence: tuple[str, ...] = ()
    former_min_agreement: float | None = Field(
        None, validation_alias="GREENLOOP_MIN_SEALED_AGREEMENT", repr=False
    )
    former_min_controlled: float | None = Field(
        None, validation_alias="GREENLOOP_MIN_CONTROLLED", repr=False
    )
    grading_s: float = Field(60, gt=0, le=3600, validation_alias="GREENLOOP_GRADING_SECONDS")

    @model_validator(mode="after")
    def _resolve_aliases(self) -> "Settings":
        """Replace the alias of a model by the model's name."""
        for field in ("model", "fallback_model"):
            if (name := getattr(self, field)) in self.models:
                object.__setattr__(self, field, self.models[name])
        return self

    @model_validator(mode="before")
    @classmethod
    def _move_renamed_settings(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Use the names of 0.1.0, with a warning, where the new ones are not set."""
        moved = dict(values)
        for old, (new, field) in _RENAMED_SETTINGS.items():
            if old in moved:
                logging.getLogger(__name__).warning(
                    "%s is deprecated and will be removed: use %s", old, new
                )
                value = moved.pop(old)
                if not {new, field} & moved.keys():
                    moved[new] = value
        return moved

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], *sources: Any, **named: Any
    ) -> tuple[Any, ...]:
        """Put the project's file, and below it the user's, below the environment."""
        fields, user = cls.model_fields, read_user_settings()
        project = read_project_settings(lambda name: user.get(name, fields[name].default))
        files = (InitSettingsSource(settings_cls, item) for item in (project, user))
        above = (named[name] for name in ("init_settings", "env_settings", "dotenv_settings"))
        return (*above, *files)

    @classmethod
    def find_ignored(cls) -> Iterator[str]:
        """Yield a line for each setting of the environment or `.env` that is ignored."""
        variables = {
            f"GREENLOOP_{name}".upper(): str(item.validation_alias or item.alias)
            for name, item in cls.model_fields.items()
        }
        others = (*variables.values(), *_OTHER_VARIABLES)
        yield from find_ignored_settings({**variables, **{name: name for name in others}})

    @property
    def thresholds(self) -> Thresholds:
        """Return what evidence must reach for `verified`."""
        return Thresholds(
            held_out_agreement=self.min_held_out_agreement,
            mutation_score=self.min_mutation_score,
            assertion_mutation=self.min_assertion_mutation,
            isolated=self.min_isolated,
            line_coverage=self.min_line_coverage,
            branch_coverage=self.min_branch_coverage,
            seconds=self.grading_s,
        )

    @classmethod
    def load(cls, **flags: Any) -> "Settings":
        """Return the settings, with `flags` (None means not given) over everything else.

        Raises:
            SettingsError: a value is invalid, or `.env` cannot be read.
        """
        given = {name: value for name, value in flags.items() if value is not None}
        try:
            return cls(**given)
        except ValidationError as error:
            raise SettingsError("; ".join(_describe_errors(error, given))) from None
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f".env cannot be read: {error}") from None


def _describe_errors(error: ValidationError, flags: Collection[str]) -> Iterator[str]:
    """Yield each problem with the name of the option or variable, never the value of a secret."""
    for item in error.errors():
        name, value = str(item["loc"][0] if item["loc"] else "settings"), item.get("input")
        shown = f"{value:g}" if isinstance(value, float) else str(value)
        shown = "(not shown)" if "KEY" in name.upper() else shown
        yield f"{_name_source(name, value, shown, flags)} {simplify_message(item['msg'])}"


def _name_source(name: str, value: object, shown: str, flags: Collection[str]) -> str:
    """Return a value with the option, the line of a file or the variable that sets it."""
    if name in flags:
        return f"{get_option_name(name)} {shown}"
    aliases = {str(item.validation_alias): key for key, item in Settings.model_fields.items()}
    source = "" if name in os.environ else find_project_source(aliases.get(name, name), value)
    return f"{source} = {shown}" if source else f"{name}={shown}"


def get_option_name(field: str) -> str:
    """Return the command-line option of a setting."""
    return f"--{field.removesuffix('_s').replace('_', '-')}"
