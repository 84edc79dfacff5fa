"""Studies of several designs: the implant of the settings, and variants of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, model_validator

from kneewear.settings.base import Study
from kneewear.settings.cases import merged
from kneewear.settings.faults import fault, fault_at
from kneewear.settings.types import Name, Removable

# Name of the only design of a study that names none.
ONLY = "design"


class DesignStudy(Study):
    """Study that tests designs without an activity, each as the implant alone."""

    designs: Annotated[dict[Name, dict[str, Any]], Removable] = Field(default_factory=dict)

    @property
    @abstractmethod
    def flexions_deg(self) -> tuple[float, ...]:
        """Flexion angles that are tested, deg."""

    @property
    def reads_distance_tables(self) -> bool:
        """No: few poses are evaluated, at exact distances."""
        return False

    @model_validator(mode="after")
    def _is_of_implants(self) -> Self:
        if self.implant.source == "natural":
            raise fault(
                f"implant.source: natural in a study of kind {self.kind}",
                "an implant; the layers of a natural knee depend on the pose",
                "Set kind to static, as config/natural_knee.yaml does.",
            )
        return self

    @model_validator(mode="after")
    def _designs_are_possible(self) -> Self:
        settings = self.model_dump(mode="json") if self.designs else {}
        for name, changes in self.designs.items():
            try:
                type(self).model_validate(_variant(settings, changes))
            except ValidationError as error:
                first = error.errors()[0]
                at = tuple(first["loc"])[1:] if first["loc"][:1] == ("implant",) else ()
                raise fault_at(
                    ("designs", name, *at),
                    f"a change after which {'.'.join(map(str, first['loc']))} is refused",
                    first["msg"],
                    "Give keys of the block implant, with possible values.",
                ) from None
        return self

    def variants(self) -> dict[str, Study]:
        """One study of a single design for each design, by its name."""
        if not self.designs:
            return {ONLY: self}
        settings = self.model_dump(mode="json")
        return {
            name: type(self).model_validate(_variant(settings, changes))
            for name, changes in self.designs.items()
        }


def _variant(settings: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of one design as a study of its own."""
    return {**settings, "implant": merged(settings["implant"], changes), "designs": {}}
