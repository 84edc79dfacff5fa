"""The insert, and the cartilage of a natural femur, as elastic layers of the contact pairs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kneewear.contact.foundation import (
    MATERIALS,
    LargeStrain,
    Layer,
    PressureLaw,
    SmallStrain,
    ThreeParameter,
    ThreeParameterMaterial,
    confined_modulus,
)
from kneewear.contact.pair import ContactPair
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.implant import Implant
from kneewear.geometry.table import SurfaceTable
from kneewear.geometry.thickness import joint_thickness, with_layer_thickness
from kneewear.settings.simulation import SimulationSettings


def choose_pressure_law(settings: SimulationSettings) -> PressureLaw:
    """Pressure law of `settings.pressure_law`."""
    chosen, poisson_ratio = settings.pressure_law, settings.poisson_ratio
    cap = math.inf if chosen.cap_mpa is None else chosen.cap_mpa
    if chosen.material == "linear":
        modulus = confined_modulus(settings.youngs_modulus_mpa, poisson_ratio)
        law = LargeStrain if chosen.strain == "large" else SmallStrain
        return law(modulus, cap)
    own = chosen.own_material
    material = (
        MATERIALS[chosen.material]
        if own is None
        else ThreeParameterMaterial(own.exponent, own.reference_strain, own.reference_pressure_mpa)
    )
    return ThreeParameter(material, poisson_ratio, chosen.nonlinear_form, chosen.strain, cap)


def build_layers(
    grid: ElementGrid, pairs: Sequence[ContactPair], thickness: float, settings: SimulationSettings
) -> tuple[Layer, ...]:
    """Elastic layer under the elements of each pair, one per side of the grid.

    `thickness` is the minimum insert thickness of the case, mm, to which the settings add their
    offset. ValueError if the local thickness is not positive everywhere on the grid.
    """
    local = grid.case_thickness(thickness + settings.pressure_law.thickness_offset_mm)
    law = choose_pressure_law(settings)
    return tuple(Layer(law, local[side].ravel()[pair.index]) for side, pair in enumerate(pairs))


def femoral_layers(
    implant: Implant, samples: Mapping[str, SurfaceTable]
) -> dict[str, SurfaceTable]:
    """Samples of the femoral surfaces with the thickness of their layers; none if rigid."""
    layer = implant.femoral_layer
    if layer is None:
        return {}
    return {
        side: with_layer_thickness(table, layer.bone[side], layer.limits)
        for side, table in samples.items()
    }


def add_femoral_layers(
    moving: Mapping[str, SurfaceTable],
    pairs: Mapping[str, ContactPair],
    layers: Sequence[Layer],
    translation: NDArray[np.float64],
    rotation: NDArray[np.float64],
) -> tuple[Layer, ...]:
    """Layers of each side with those of `femoral_layers` that face them at a pose.

    Each element has the thickness under it plus that of the cartilage at the nearest point of the
    femur: layers of one material act as one (Bei 2003, section 2.2.2).
    """
    joined = []
    for (side, pair), layer in zip(pairs.items(), layers, strict=True):
        u, v, *_ = pair.indenter.closest_points((pair.centre - translation) @ rotation)
        joined.append(
            replace(layer, thickness=joint_thickness(layer.thickness, moving[side], u, v))
        )
    return tuple(joined)
