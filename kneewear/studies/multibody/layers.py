"""The elastic layer under the triangles of a mesh, of two bodies in contact taken as one."""

from __future__ import annotations

import numpy as np

from kneewear.contact.foundation import ElasticLayer, LargeStrain, SmallStrain, confined_modulus
from kneewear.geometry.distance_field import distances_to_mesh
from kneewear.geometry.meshes import TriangleMesh
from kneewear.settings.soft_tissue_knee import LayerSettings


def build_layer(
    settings: LayerSettings,
    surface: TriangleMesh,
    measured: tuple[TriangleMesh, TriangleMesh, TriangleMesh] | None,
) -> ElasticLayer:
    """Layer under the triangles of `surface`, with the thickness of the other body's layer added.

    Where the settings give no thickness, it is the distance of each triangle to the bone under it
    plus the mean one of the other body, between 1 and 10 mm each; `measured` are this bone, and
    surface and bone of the other body.
    """
    law = SmallStrain if settings.strain == "small" else LargeStrain
    modulus = confined_modulus(settings.youngs_modulus_mpa, settings.poisson_ratio)
    if measured is None:
        thickness = np.full(len(surface.faces), settings.thickness_mm)
        return ElasticLayer(law(modulus), thickness)
    bone, other, other_bone = measured
    own, added = (
        np.clip(np.abs(distances_to_mesh(under, mesh.vertices[mesh.faces].mean(axis=1))), 1.0, 10.0)
        for mesh, under in ((surface, bone), (other, other_bone))
    )
    return ElasticLayer(law(modulus), own + float(np.mean(added)))
