"""Base class of all events."""

from dataclasses import dataclass, field

from typing_extensions import dataclass_transform


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Event:
    """An event; each kind is a subclass, which becomes a frozen dataclass."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)
