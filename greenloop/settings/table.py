"""Table of all settings, the source of options, variables, configuration keys and references."""

from pathlib import Path
from typing import Any, Final, Literal

from pydantic import SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from greenloop.configuration import (
    allow,
    allow_above,
    allow_list,
    allow_remote_models,
    allow_verified,
    setting,
)

_MB: Final[dict[str, Any]] = {"ge": 1, "le": 1 << 20}
_SHARE: Final[dict[str, Any]] = {"ge": 0, "le": 1, "project": allow_above}


class SettingsTable(BaseSettings):
    """All settings as fields, whose metadata is described in `Setting`."""

    model_config = SettingsConfigDict(
        env_prefix="GREENLOOP_",  # also keeps HOME, MODEL, … of the environment out
        env_file=".env",
        env_file_encoding="utf-8",
        extra="ignore",  # unknown keys of `.env`; `__init__` checks keywords
        frozen=True,
        env_ignore_empty=True,
        validate_by_name=True,
        validate_by_alias=True,
        alias_generator=lambda name: f"GREENLOOP_{name.removesuffix('_s').upper()}",
    )

    openai_api_key: SecretStr | None = setting(
        None,
        "Key for OpenAI, or for the server at OPENAI_BASE_URL.",
        section="Model",
        variable="OPENAI_API_KEY",
    )
    openai_base_url: str | None = setting(
        None,
        "Any OpenAI-compatible server: Ollama (http://127.0.0.1:11434/v1), vLLM, LM Studio, llama.cpp.",
        variable="OPENAI_BASE_URL",
    )
    ollama_host: str = setting(
        "http://127.0.0.1:11434",
        "Address of Ollama, which is used where no other model is configured.",
        variable="OLLAMA_HOST",
    )
    num_ctx: int = setting(
        32768,
        "Context length in tokens for a model of Ollama, which cuts off longer prompts.",
        ge=2048,
        le=1 << 20,
    )
    model: str | None = setting(
        None,
        "PROVIDER:NAME, such as openai:gpt-5.4; replay:FILE or replay:FOLDER for recorded answers; in heal also none.",
        metavar="MODEL",
        example="openai:gpt-5.4",
    )
    profile: Literal["auto", "small", "full"] = setting(
        "auto",
        "How much the model is asked for in one call: small = short prompts and no contract; auto = small "
        "if the model's name says that it has at most four billion parameters.",
        metavar="auto|small|full",
        is_saved=True,
    )
    samples: Literal["auto"] | int = setting(
        "auto",
        "Further samples of the code before a repair; auto = 3 without a contract, or 6 while examples fail; else 0.",
        metavar="N|auto",
        is_saved=True,
    )
    fallback_model: str | None = setting(
        None, "The model to use when the first one is stuck or does not answer.", metavar="MODEL"
    )
    models: dict[str, str] = setting(
        {}, "Short names of models, in a configuration file.", project=allow_remote_models
    )
    prompts: str | None = setting(
        None, "A folder with prompt templates that replace greenloop's.", metavar="DIR"
    )
    ask: Literal["terminal", "never"] | None = setting(
        None,
        "Whether to ask what the text leaves open; default: at a terminal.",
        metavar="terminal|never",
    )
    model_timeout_s: float = setting(300, "Seconds for one call of the model.", gt=0, project=allow)
    model_attempts: int = setting(6, "Number of attempts for one call.", ge=1, le=20)
    model_backoff_s: float = setting(
        1.0, "Seconds before the second attempt; the wait doubles with each attempt.", ge=0
    )
    max_repairs: int = setting(
        5,
        "Maximum number of repairs; 0 = none.",
        section="Budget",
        metavar="N",
        variable="MAX_REPAIR_ITERATIONS",
        ge=0,
        le=100,
    )
    max_tokens: int | None = setting(
        None,
        "Maximum number of tokens of a run, or in batch and eval of all runs together; checked before each call.",
        metavar="N",
        gt=0,
    )
    max_cost: float | None = setting(
        None,
        "Maximum cost in US dollars of a run, or in batch and eval of all runs together; checked before each call. "
        "The model's price has to be known.",
        metavar="USD",
        gt=0,
    )
    sandbox: str = setting(
        "auto",
        "auto, or a backend's name (bubblewrap, native, landlock, container, …); none: no isolation.",
        section="Sandbox",
        metavar="KIND",
    )
    timeout_s: float = setting(
        30,
        "Time limit of one test run, in seconds; the default is longer on a busy machine.",
        metavar="SECONDS",
        variable="EXECUTION_TIMEOUT_SECONDS",
        project=allow,
        gt=0,
        le=3600,
    )
    allow_package: str = setting(
        "",
        "A package that code and tests may also use: NAME or NAME==1.2.*; may be repeated.",
        metavar="NAME",
        key="allow-packages",
        project=allow,
        is_repeated=True,
    )
    allowed_packages: str | None = setting(
        None,
        "Packages that code and tests may use, in place of greenloop's list; none = the standard "
        "library only.",
        example="numpy==2.1.*,pandas",
        is_saved=True,
    )
    python: str | None = setting(
        None,
        "The interpreter or virtual environment that runs a project's tests. Default: the first of the "
        "activated environment, .venv or venv in the project or above it in the repository, conda's base, and "
        "greenloop's own.",
        metavar="PATH",
        project=allow,
        example=".venv",
    )
    env: dict[str, str] = setting(
        {}, "Environment variables of a project's tests, in a configuration file.", project=allow
    )
    container_engine: Literal["auto", "podman", "docker"] = setting(
        "auto", "The engine for the backend container."
    )
    container_image: str | None = setting(
        None,
        "The image for container, with Python 3.10 or newer; default: the official one of your "
        "version.",
        example="docker.io/library/python:3.11-slim",
    )
    cpu_s: int | None = setting(
        None,
        "CPU seconds of one process with all its threads; default: 2 more than the time limit.",
        variable="GREENLOOP_CPU_SECONDS",
        ge=1,
        le=36000,
    )
    memory_mb: int = setting(2048, "Address space of one process, in MB.", ge=64, le=1 << 20)
    total_memory_mb: int | None = setting(
        None,
        "Memory of all processes and the files that they write, in MB; default: that of one process.",
        ge=64,
        le=1 << 20,
    )
    processes: int = setting(64, "Processes and threads at once.", ge=4, le=4096)
    disk_mb: int = setting(64, "MB of all files in the working folder and in /tmp.", **_MB)
    inodes: int = setting(
        4096, "Number of files and folders in the working folder and in /tmp.", ge=64, le=10**7
    )
    file_mb: int = setting(64, "MB of one file.", **_MB)
    shared_memory_mb: int = setting(16, "MB of files in /dev/shm.", **_MB)
    open_files: int = setting(256, "Open files of one process.", ge=32, le=4096)
    output_kb: int = setting(
        4096,
        "KB of output after which the run is ended; the first and last 32 KB are kept.",
        ge=16,
        le=1 << 20,
    )
    require: Literal["verified", "passed"] | None = setting(
        None,
        "The verdict that counts as success. Default: verified in check, passed elsewhere.",
        section="Evidence",
        metavar="verified|passed",
        project=allow_verified,
    )
    mutants: Literal["all"] | int = setting(
        100,
        "Maximum number of mutants (small faults put into the code), or all; 0 = none.",
        metavar="N|all",
        project=allow_above,
    )
    hardening_rounds: int = setting(
        2,
        "Rounds in which the model adds tests against surviving mutants.",
        is_saved=True,
        ge=0,
        le=10,
    )
    peer: bool = setting(
        True,
        "Compare the code with a second implementation, written from the text; without it the verdict "
        "is at most passed.",
        is_flag=True,
    )
    min_mutation_score: float = setting(0.8, "Share of mutants that the tests notice.", **_SHARE)
    min_assertion_mutation: float = setting(
        0.5, "Share of tests that fail when an expected value is changed.", **_SHARE
    )
    min_line_coverage: float = setting(0.9, "Share of lines that the tests run.", **_SHARE)
    min_branch_coverage: float = setting(0.8, "Share of branches that the tests run.", **_SHARE)
    min_held_out_agreement: float = setting(1.0, "Share of held-out examples that agree.", **_SHARE)
    grading_s: float = setting(
        60,
        "Seconds for each piece of evidence.",
        variable="GREENLOOP_GRADING_SECONDS",
        key="grading-seconds",
        project=allow_above,
        gt=0,
        le=3600,
    )
    fence: tuple[str, ...] = setting(
        (), "Globs of files that change may touch, in a configuration file.", project=allow_list
    )
    home: Path = setting(Path(".greenloop"), "Folder of runs and batches.", section="Output")
