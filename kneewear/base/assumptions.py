"""Assumptions of a study: guesses that `kneewear new` wrote, until the user confirms them.

They are the block `assumed` of the settings. An entry is confirmed by deleting it, and lapses when
the setting that it is about has another value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from kneewear.base.ranges import Range
from kneewear.base.types import Finite, Name, Settings, quantity
from kneewear.errors import Finding


class Assumption(Settings):
    """A guess, or something that was left out."""

    name: Name = Field(description="Name, by which findings are counted.")
    key: str = Field(description="Path of the setting that it is about.")
    value: str | bool | Finite | tuple[Finite, ...] = quantity(
        "Value of that setting; with another one the assumption lapses.",
        Range.unlimited("1", "The setting has a range of its own"),
    )
    covers: tuple[str, ...] = Field(
        (),
        description="Paths of further settings that the assumption states; like that setting they "
        "have no warning of their own while it applies.",
    )
    found: str = Field(description="Assumption, with its evidence.")
    remedy: str = Field("", description="Advice on what to do where it is wrong.")

    def finding(self) -> Finding:
        """Return the assumption as a warning."""
        where = f"key {self.key}"
        return Finding(f"assumed.{self.name}", "warn", where, self.found, "", self.remedy)

    def states(self, path: str) -> bool:
        """True if the assumption is about the setting of a path, or about a block it is in."""
        return any(f"{path}.".startswith(f"{key}.") for key in (self.key, *self.covers))


def unconfirmed(settings: Mapping[str, Any]) -> tuple[Assumption, ...]:
    """Return the assumptions that still apply.

    Parameters
    ----------
    settings : mapping
        Settings of a study as plain builtins.

    Returns
    -------
    tuple of Assumption
        Without those whose setting has another value than assumed, or is absent.
    """
    listed = map(Assumption.model_validate, settings.get("assumed", ()))
    return tuple(entry for entry in listed if _value_at(settings, entry.key) == _plain(entry.value))


def _value_at(settings: Any, key: str) -> Any:
    """Value at a path of keys and numbers of list entries; None where there is none."""
    for step in key.split("."):
        if isinstance(settings, Sequence) and step.isdigit() and int(step) < len(settings):
            settings = settings[int(step)]
        else:
            settings = settings.get(step) if isinstance(settings, Mapping) else None
    return _plain(settings)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
