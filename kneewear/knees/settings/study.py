"""Settings of multibody studies: knees that find their own motion.

A knee is composed by its settings; models of papers are replications.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import hypot
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union

from pydantic import Field

from kneewear.knees.replications import (
    MULTIBODY_MODELS,
    is_replication,
    replication,
    replication_room,
)
from kneewear.knees.settings.composed_knee import ComposedKneeSettings
from kneewear.study.study import Study

# Each model has a property `files`.
if TYPE_CHECKING:
    MultibodyModel = Any
else:
    _REPLICATIONS = (replication(name, "settings").SETTINGS for name in MULTIBODY_MODELS)
    MultibodyModel = Annotated[
        Union[(ComposedKneeSettings, *_REPLICATIONS)],
        Field(discriminator="model"),
    ]


class MultibodyStudy(Study):
    """A knee whose motion follows from contact, ligaments, muscles and loads."""

    model: Literal["multibody"] = Field(description="Knees of several bodies.")
    has_knee: ClassVar[bool] = False
    multibody: MultibodyModel

    @property
    def model_files(self) -> Mapping[str, str]:
        """Data files of the knee by name, as the settings give them."""
        return dict(self.multibody.files)

    @property
    def loaded_packages(self) -> tuple[str, ...]:
        """Package of the model of another group, if the study has one."""
        name = self.multibody.model
        return (replication_room(name),) if is_replication(name) else ()

    def combined_values(self) -> Iterator[tuple[str, tuple[str, ...], float]]:
        """Yield how far a hinge points laterally."""
        yield from super().combined_values()
        hinge = getattr(self.multibody, "hinge", None)
        if hinge is not None:
            at = ("multibody", "hinge", "direction")
            yield "settings.hinge", at, -hinge.direction[2] / hypot(*hinge.direction)
