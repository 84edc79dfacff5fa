"""One frame of one side by finite elements: pressure at equal load, force at equal pose, stress."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.contact.material import Elastic, Hardening, maximum_shear, von_mises
from kneewear.contact.pair import ContactPair
from kneewear.contact.resultant import Resultant
from kneewear.contact.solid import Solid
from kneewear.errors import InputDataError
from kneewear.evidence.fe_comparison.contact import BorderReachedError, ElasticSurface, PressedSolid
from kneewear.evidence.fe_comparison.insert_solid import ContactBox, insert_solid, rigid_body
from kneewear.evidence.fe_comparison.settings import FeComparisonSettings
from kneewear.geometry.grid import Bearing
from kneewear.geometry.surface import Surface

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)

# Margins of what may be touched around the foundation's contact, in elements; the next one at each
# border that contact reaches. Time and memory grow with the third power of the nodes inside.
_MARGINS = (1.0, 3.0, 8.0)
# Quantities of the FE comparison with their units; of the foundation those of `foundation_values`.
QUANTITIES = {
    "force_at_pose": "N",
    "max_pressure": "MPa",
    "middle_pressure": "MPa",
    "avg_pressure": "MPa",
    "contact_area": "mm2",
    "von_mises": "MPa",
    "von_mises_depth": "mm",
    "middle_von_mises": "MPa",
    "middle_von_mises_depth": "mm",
    "max_shear": "MPa",
    "max_shear_depth": "mm",
    "middle_shear": "MPa",
    "middle_shear_depth": "mm",
    "plastic_strain": "1",
}


@dataclass(frozen=True)
class SideAtFrame:
    """Condyle at a pose above its plateau, with the contact of the foundation.

    `plan` are the corners (x, z) of the plateau, mm, `pose` (6,) position, mm, and angles, rad, and
    `more_thickness` the thickness of the case above the nominal one, mm. `label` names it in
    messages. The load is the foundation's, unless another one is given, N.
    """

    label: str
    bearing: Bearing
    plan: tuple[Array, Array]
    condyle: Surface
    pose: Array
    pair: ContactPair
    contact: Resultant
    more_thickness: float
    given_load: float | None = None

    @property
    def load(self) -> float:
        """Vertical force on the plateau, N."""
        if self.given_load is not None:
            return self.given_load
        # The wrench is that on the femoral component.
        return float(self.contact.wrench[1])

    @property
    def box(self) -> ContactBox:
        """Plan of the foundation's contact."""
        return ContactBox.of(self.contact, self.pair.centre)


@dataclass(frozen=True)
class SolidFields:
    """Solid, its equilibrium under the foundation's load, and stresses at its nodes, MPa."""

    solid: Solid
    pressed: PressedSolid
    von_mises: Array
    max_shear: Array
    depth: Array  # of every node below the surface, mm


@dataclass(frozen=True)
class SideComparison:
    """Results of one side at one frame: fields of the fine mesh, and values of both meshes."""

    fields: SolidFields
    values: Mapping[str, float]
    coarse_values: Mapping[str, float]
    seconds: float

    def mesh_error(self, name: str) -> float:
        """Difference of the coarse mesh's value from the fine one's, % of the latter.

        NaN of a depth, which is that of a node.
        """
        fine, coarse = self.values[name], self.coarse_values[name]
        known = fine and QUANTITIES[name] != "mm"
        return 100.0 * abs(coarse / fine - 1.0) if known else float("nan")


def compute_side(
    side: SideAtFrame, material: Elastic, settings: FeComparisonSettings
) -> SideComparison:
    """Finite-element results of one side at one frame, on two meshes.

    InputDataError if the contact does not converge or reaches beyond what may be touched.
    """
    start = time.perf_counter()
    narrow = np.full((2, 2), _MARGINS[0])
    coarse, _, enough = _compute(side, material, settings, settings.elements.coarsening, narrow)
    fine, fields, _ = _compute(side, material, settings, 1.0, enough)
    seconds = time.perf_counter() - start
    found = SideComparison(fields, fine, coarse, seconds)
    logger.info(
        "%s: %s elements in %.1f s, peak pressure %.2f MPa with a mesh error of %.1f %%",
        side.label,
        " x ".join(map(str, fields.solid.elements)),
        seconds,
        fine["max_pressure"],
        found.mesh_error("max_pressure"),
    )
    return found


def foundation_values(side: SideAtFrame) -> dict[str, float]:
    """The foundation's values of those quantities of the FE comparison that it has."""
    contact = side.contact
    loaded = contact.pressure > 0.0
    middle = side.box.in_middle(side.pair.centre[contact.element[loaded]][:, 2])
    return {
        "force_at_pose": side.load,
        "max_pressure": float(contact.pressure.max()),
        "middle_pressure": float(contact.pressure[loaded][middle].max()),
        "avg_pressure": float(contact.avg_pressure),
        "contact_area": float(contact.contact_area),
    }


def _compute(
    side: SideAtFrame,
    material: Elastic,
    settings: FeComparisonSettings,
    factor: float,
    margins: Array,
) -> tuple[dict[str, float], SolidFields, Array]:
    """Values and fields on a mesh whose elements are `factor` times as large, and its margins.

    `margins` (2, 2), of each border as of `insert_solid`, are the first to be tried.
    """
    body = rigid_body(side.condyle, side.pose)
    while True:
        solid, touchable = insert_solid(
            side.bearing,
            side.plan,
            side.box,
            side.more_thickness,
            settings.elements,
            factor,
            margins,
        )
        surface = ElasticSurface(solid, material, touchable)
        try:
            posed = surface.press(body)
            loaded = _pressed(surface, side, settings)
        except BorderReachedError as error:
            reason = str(error)
            if margins[error.borders].max() >= _MARGINS[-1]:
                break
            following = np.searchsorted(_MARGINS, margins, side="right")
            margins = np.where(error.borders, np.take(_MARGINS, following, mode="clip"), margins)
        except RuntimeError as error:
            reason = str(error)
            break
        else:
            fields = _fields(solid, loaded)
            values = {"force_at_pose": -float(posed.force[1])} | _values(fields, side.box)
            return values, fields, margins
    raise InputDataError(
        f"finite elements of {side.label}",
        reason,
        "an equilibrium of the insert under this condyle",
        "Change fe_comparison.elements or fe_comparison.frames_percent.",
    )


def _pressed(
    surface: ElasticSurface, side: SideAtFrame, settings: FeComparisonSettings
) -> PressedSolid:
    """Equilibrium under the foundation's load, elastic or elastic-plastic."""
    body, curve = rigid_body(side.condyle, side.pose), settings.plasticity
    if curve is None:
        return surface.press(body, side.load)
    hardening = Hardening(curve.plastic_strain, curve.yield_stress_mpa)
    return surface.press_plastic(body, hardening, side.load, curve.load_steps)


def _fields(solid: Solid, pressed: PressedSolid) -> SolidFields:
    stress = solid.at_nodes(pressed.stress)
    depth = solid.nodes[:, :, -1:, 1] - solid.nodes[..., 1]
    return SolidFields(solid, pressed, von_mises(stress), maximum_shear(stress), depth)


def _values(fields: SolidFields, box: ContactBox) -> dict[str, float]:
    """Values at equal load of `QUANTITIES`."""
    pressed, solid = fields.pressed, fields.solid
    pressure, area = pressed.pressure, pressed.area
    loaded = pressure > 0.0
    middle = box.in_middle(solid.nodes[:, :, -1, 2])
    touched = float(area[loaded].sum())
    values = {
        "max_pressure": float(pressure.max()),
        "middle_pressure": float(pressure[middle].max()),
        "avg_pressure": float((pressure * area).sum()) / touched,
        "contact_area": touched,
        "plastic_strain": float(pressed.plastic_strain.max()),
    }
    for name, stress, inner in (
        ("von_mises", fields.von_mises, "middle_von_mises"),
        ("max_shear", fields.max_shear, "middle_shear"),
    ):
        for key, own in ((name, stress), (inner, np.where(middle[..., None], stress, 0.0))):
            at = np.unravel_index(int(own.argmax()), own.shape)
            values[key] = float(own[at])
            values[f"{key}_depth"] = float(fields.depth[at])
    return values
