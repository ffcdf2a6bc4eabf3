"""Settings as keywords, for type checkers. Made by `python -m tests.support.references`."""

from pathlib import Path
from typing import Literal, TypedDict


class SettingsKeywords(TypedDict, total=False):
    """The fields of `Settings`."""

    openai_api_key: str | None
    openai_base_url: str | None
    ollama_host: str
    num_ctx: int
    model: str | None
    profile: Literal["auto", "small", "full"]
    samples: Literal["auto"] | int
    fallback_model: str | None
    models: dict[str, str]
    prompts: str | None
    ask: Literal["terminal", "never"] | None
    model_timeout_s: float
    model_attempts: int
    model_backoff_s: float
    max_repairs: int
    max_tokens: int | None
    max_cost: float | None
    sandbox: str
    timeout_s: float
    allow_package: str
    allowed_packages: str | None
    python: str | None
    env: dict[str, str]
    container_engine: Literal["auto", "podman", "docker"]
    container_image: str | None
    cpu_s: int | None
    memory_mb: int
    total_memory_mb: int | None
    processes: int
    disk_mb: int
    inodes: int
    file_mb: int
    shared_memory_mb: int
    open_files: int
    output_kb: int
    require: Literal["verified", "passed"] | None
    mutants: Literal["all"] | int
    hardening_rounds: int
    peer: bool
    min_mutation_score: float
    min_assertion_mutation: float
    min_line_coverage: float
    min_branch_coverage: float
    min_held_out_agreement: float
    grading_s: float
    fence: tuple[str, ...]
    home: str | Path
