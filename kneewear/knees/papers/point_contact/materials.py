"""Force laws of point contacts from the materials of their settings."""

from __future__ import annotations

import numpy as np

from kneewear.contact.hertz import contact_modulus
from kneewear.knees.contact.impact_laws import effective_radius, hertz_stiffness, hysteresis_factor
from kneewear.knees.contact.point import ImpactLaw
from kneewear.knees.papers.point_contact.settings import PointContactSettings
from kneewear.knees.settings.composed_knee import ElasticSettings


def impact_law(
    contact: PointContactSettings, radius: float, law: str, other: float = np.inf
) -> ImpactLaw:
    """Force law of spheres of given radii, mm, with the layer of a knee if it has one.

    A first layer lies between equal surfaces of its own material.
    """
    size = effective_radius(radius, other)
    base = hertz_stiffness(size, _modulus(contact.femur, contact.tibia))
    if contact.layer is None or contact.layer_thickness_mm is None:
        return ImpactLaw(base, hysteresis_factor(law, contact.restitution))
    layer = hertz_stiffness(size, _modulus(contact.layer, contact.layer))
    factor = hysteresis_factor(law, contact.restitution)
    return ImpactLaw(layer, factor, contact.layer_thickness_mm, base)


def _modulus(one: ElasticSettings, other: ElasticSettings) -> float:
    return contact_modulus(
        one.youngs_modulus_mpa, one.poisson_ratio, other.youngs_modulus_mpa, other.poisson_ratio
    )
