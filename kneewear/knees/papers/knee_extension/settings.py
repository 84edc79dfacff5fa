"""Settings of the knee extension by the quadriceps."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from kneewear.base.faults import fault, fault_at
from kneewear.base.ranges import Range
from kneewear.base.types import (
    FLEXION,
    Ascending,
    FileName,
    Finite,
    Name,
    Positive,
    Removable,
    Settings,
    quantity,
)
from kneewear.knees.papers.point_contact.ranges import FALL, OUTPUT_STEP
from kneewear.knees.settings import aims
from kneewear.knees.settings.composed_knee import FoundationSettings, KneeSettings

FORCE = Range("N", 0.001, 1, 1e4, 1e5, "Ten body weights are 7500 N")
# Contacts, and the body whose triangles each has; the femur presses on them.
CONTACTS = {"tibiofemoral": "tibia", "patellofemoral": "patella"}
# Less is no extension of a knee, deg: the angle is in radians.
_MIN_EXTENSION = 5.0
_PATCH = Range("mm", 0.5, 1, 6, 10, "Condyles have radii of 20 mm")


class ForcingSettings(Settings):
    """Quadriceps forces over the flexion of the knee, linear between the angles, by case."""

    flexion_deg: Annotated[tuple[Finite, ...], Field(min_length=2), Ascending] = quantity(
        "Flexion of the knee, ascending.", FLEXION
    )
    force_n: Annotated[dict[Name, tuple[Positive, ...]], Removable, Field(min_length=1)] = quantity(
        "Quadriceps force at each of these, linear between, by case; null removes a case.", FORCE
    )

    @model_validator(mode="after")
    def _one_force_per_angle(self) -> ForcingSettings:
        for name, forces in self.force_n.items():
            if len(forces) != len(self.flexion_deg):
                raise fault(
                    f"force_n.{name}: {len(forces)} forces and {len(self.flexion_deg)} angles",
                    "one force per angle",
                    "Complete the lists.",
                )
        return self


class PatellarLigamentSettings(Settings):
    """One linear spring in place of bundles; its slack length gives a force ratio at the start."""

    bundles: Annotated[tuple[Name, ...], Field(min_length=1)] = Field(
        description="Bundles or ligaments of the table whose mean ends it has."
    )
    stiffness_n_per_mm: Positive = quantity(
        "Stiffness of the linear spring.",
        Range("N/mm", 1, 50, 5000, 1e5, "200 N/mm (Caruntu and Hefzy 2004)"),
    )
    force_ratio: Annotated[float, Field(gt=0, le=3)] = quantity(
        "Its tension over the quadriceps force at the start, which gives its slack length.",
        Range("1", 0.01, 0.3, 1.5, 3, "0.6 (Caruntu and Hefzy 2004)"),
    )


class PlateauSettings(Settings):
    """Two planes in place of the surface of the tibia, at its mean heights."""

    slope_deg: Finite = quantity(
        "Slope, posterior edge low.",
        Range("deg", -15, 0, 13, 20, "Plateaus slope by 4 to 13 deg (from memory)"),
    )


class PatchSettings(Settings):
    """Patches in place of meshes: contact and wrapping of the source."""

    femur_mm: Positive = quantity("Distance of corners on the femur.", _PATCH)
    patella_mm: Positive = quantity("Distance of corners on the patella.", _PATCH)
    tibia_mm: Positive = quantity("Distance of corners on the plateaus.", _PATCH)


class ExtensionSettings(Settings):
    """Dynamic extension: bundles, patellar ligament, forces of the quadriceps and times."""

    bundles: Annotated[dict[Name, tuple[Name, ...]], Removable, Field(min_length=1)] = Field(
        description=(
            "Bundles or ligaments of the table in place of which each bundle is; mean ends,"
            " sum of the stiffnesses and mean strain at zero coordinates; null removes a "
            "bundle."
        )
    )
    further_ligaments: FileName | None = Field(
        None,
        description="Table of bundles that are used as they are, in addition to `bundles`; null "
        "for none.",
    )
    plateaus: PlateauSettings | None = Field(
        None, description="Planar plateaus; null for the surface of the tibia."
    )
    patches: PatchSettings | None = Field(
        None,
        description="Coons patches through points of the surfaces: contact along preferred "
        "directions, and quadriceps that wrap on the femur in place of a wrap object; null for "
        "meshes. Needs `plateaus`, and small strain and one thickness of `layers`.",
    )
    patellar_ligament: PatellarLigamentSettings = Field(
        description="Linear spring between patella and tibia."
    )
    forcing: ForcingSettings = Field(description="Quadriceps forces over flexion.")
    last_flexion_deg: Finite = quantity("Flexion at which the motion ends.", FLEXION)
    longest_s: Positive = quantity("Time after which it ends at the latest.", FALL)
    output_step_s: Positive = quantity("Time between rows of tables.", OUTPUT_STEP)


class KneeExtensionSettings(KneeSettings):
    """Extension of a knee with patella by the quadriceps (Caruntu and Hefzy 2004)."""

    model: Literal["knee_extension"] = Field(description="Name of the model.")
    extension: ExtensionSettings = Field(description="Bundles and forces.")
    aims: tuple[str, ...] = Field((), description=aims.DESCRIPTION)

    @property
    def files(self) -> dict[str, str]:
        """Data files by name, as the settings give them."""
        further = self.extension.further_ligaments
        return super().files | ({} if further is None else {"further_ligaments": further})

    def contact(self, name: str) -> FoundationSettings:
        """Contact of tibia or patella with the femur."""
        found = self.contacts[name]
        if not isinstance(found, FoundationSettings):
            raise TypeError(f"contact {name} of kind {found.kind}")
        return found

    @property
    def surfaces(self) -> dict[str, str]:
        """Names of the bearing surfaces by body."""
        found = {"femur": self.contact("tibiofemoral").indenter}
        return found | {body: self.contact(name).elements for name, body in CONTACTS.items()}

    @model_validator(mode="after")
    def _is_composed(self) -> KneeExtensionSettings:
        """Require the bodies, contacts and tables of the source."""
        if self.ground != "femur" or self.moving != ("tibia", "patella"):
            found = f"{self.ground} at rest, {', '.join(self.moving)}"
            raise fault(found, "femur at rest, tibia, patella", "Correct the bodies.")
        if {name: one.kind for name, one in self.contacts.items()} != dict.fromkeys(
            CONTACTS, "foundation"
        ) or {name: self.contact(name).elements.split(".")[0] for name in CONTACTS} != CONTACTS:
            found = f"contacts {', '.join(self.contacts)}"
            expected = "foundations tibiofemoral and patellofemoral, on elements of these bodies"
            raise fault(found, expected, "Correct the contacts.")
        if set(self.ligaments) != {"ligaments"} or set(self.muscles) != {"quadriceps"}:
            found = f"tables {', '.join((*self.ligaments, *self.muscles))}"
            raise fault(found, "ligaments.ligaments and muscles.quadriceps", "Correct the names.")
        given = {"springs": self.springs, "joints": self.joints, "loads": self.loads}
        for name, one in given.items():
            if one:
                raise fault_at((name,), name, "the forces of `extension` alone", "Remove it.")
        for name in self.moving:
            mass = self.bodies[name].mass
            if mass is None or mass.inertia_kg_m2 is None:
                expected = "mass and inertia, for the motion"
                raise fault_at(("bodies", name, "mass"), f"{mass}", expected, "Give both.")
        return self

    @model_validator(mode="after")
    def _aims_are_printed(self) -> KneeExtensionSettings:
        aims.require_aims(self.aims, __package__)
        return self

    @model_validator(mode="after")
    def _extends(self) -> KneeExtensionSettings:
        layers = [self.contact(name).layer for name in CONTACTS]
        missing = {
            "extension.plateaus: null": self.extension.plateaus is None,
            "layer.thickness_mm: null": any(layer.thickness_mm is None for layer in layers),
            "layer.strain: large": any(one.strain != "small" for one in layers),
        }
        for found, wrong in missing.items():
            if wrong and self.extension.patches is not None:
                expected = "planar plateaus, one thickness and small strain with extension.patches"
                raise fault(found, expected, "Give them, or set extension.patches to null.")
        start = self.bodies["tibia"].start
        last = self.extension.last_flexion_deg
        if start is not None and not start[3] > last + _MIN_EXTENSION:
            raise fault(
                f"bodies.tibia.start: a flexion of {start[3]:g} deg",
                f"one at least {_MIN_EXTENSION:g} deg above extension.last_flexion_deg, {last:g}",
                "Start in flexion, in degrees.",
            )
        return self


SETTINGS = KneeExtensionSettings
