"""A natural knee: cartilage and subchondral surfaces, and the layers between them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from kneewear.errors import InputDataError
from kneewear.geometry.fit_quality import FitQuality
from kneewear.geometry.fitting import FitSettings, fit_condyle, fit_plateau
from kneewear.geometry.implant import Implant, Layer
from kneewear.geometry.meshes import TriangleMesh, condyle_axis, sheet_coverage, to_knee_axes
from kneewear.geometry.surface import Surface
from kneewear.settings.implant import AxesSettings, FemoralRegions, InsertRegions
from kneewear.sides import SIDES

# Cartilage that stands off its bone by more than this on average, mm, is not that bone's: healthy
# cartilage of the knee is 1 to 6 mm thick.
_GREATEST_MEAN_THICKNESS = 8.0


@dataclass(frozen=True)
class KneeMeshes:
    """The four sheets of a natural knee, as read from file.

    Parameters
    ----------
    femoral_cartilage, femoral_bone, tibial_cartilage, tibial_bone : TriangleMesh
        Contact surface and subchondral surface of both bodies, normals out of the bone.
    names : tuple of str
        Names of the four for messages.
    """

    femoral_cartilage: TriangleMesh
    femoral_bone: TriangleMesh
    tibial_cartilage: TriangleMesh
    tibial_bone: TriangleMesh
    names: tuple[str, str, str, str] = (
        "femoral cartilage",
        "femoral bone",
        "tibial cartilage",
        "tibial bone",
    )

    @property
    def sheets(self) -> tuple[TriangleMesh, ...]:
        """The four in the order of their names."""
        return (
            self.femoral_cartilage,
            self.femoral_bone,
            self.tibial_cartilage,
            self.tibial_bone,
        )


@dataclass(frozen=True)
class KneeFit:
    """How the sheets of a natural knee are read and fitted.

    Parameters
    ----------
    unit : str
        Unit of length of the meshes, "m" or "mm".
    axes : AxesSettings
        Anatomical directions of their axes.
    knee : str
        "right" or "left".
    tibial_regions, femoral_regions : InsertRegions and FemoralRegions
        Windows in mm and knee axes over which plateaus and condyles are fitted. A plateau's patch
        goes on smoothly where its window reaches beyond the cartilage; elements do not.
    fit : FitSettings
        Knots, smoothing and tolerance, of cartilage and bone alike.
    tibial_limits, femoral_limits : pair of float
        Least and greatest thickness of the layers, mm.
    """

    unit: str
    axes: AxesSettings
    knee: str
    tibial_regions: InsertRegions
    femoral_regions: FemoralRegions
    fit: FitSettings
    tibial_limits: tuple[float, float]
    femoral_limits: tuple[float, float]


def build_natural_knee(
    meshes: KneeMeshes, settings: KneeFit, name: str
) -> tuple[Implant, list[FitQuality]]:
    """Natural knee from meshes of its cartilage and subchondral surfaces.

    Parameters
    ----------
    meshes : KneeMeshes
        The four sheets.
    settings : KneeFit
        How to read and fit them.
    name : str
        Name shown in tables and figures.

    Returns
    -------
    Implant
        With both layers, as a right knee. Its nominal thickness is the least of the tibial layer.
    list of FitQuality
        One for each of the eight patches; components are "insert", "femoral", "insert_bone" and
        "femoral_bone".

    Raises
    ------
    InputDataError
        If a sheet cannot be fitted within the tolerance, or cartilage lies inside its bone or far
        off it.
    """
    axes = settings.axes.model_dump()
    converted = [
        to_knee_axes(mesh, settings.unit, axes, settings.knee, source)
        for mesh, source in zip(meshes.sheets, meshes.names, strict=True)
    ]
    of_femur = dict(zip(("femoral", "femoral_bone"), converted[:2], strict=True))
    of_tibia = dict(zip(("insert", "insert_bone"), converted[2:], strict=True))
    source = dict(zip((*of_femur, *of_tibia), meshes.names, strict=True))
    patches, quality = {}, []
    for body, mesh in of_tibia.items():
        patches[body], found = _fit_plateaus(mesh, settings, source[body])
        quality += [replace(one, component=body) for one in found]
    # One axis for both sheets, or the radial direction would differ between them.
    axis = _axis(of_femur["femoral"], settings.femoral_regions)
    for body, mesh in of_femur.items():
        patches[body], found = _fit_condyles(mesh, axis, settings, source[body])
        quality += [replace(one, component=body) for one in found]
    for body in ("insert", "femoral"):
        _check_layer(patches[body], patches[f"{body}_bone"], source[body])
    regions = settings.tibial_regions
    windows = {side: getattr(regions, side) for side in SIDES}
    knee = Implant(
        name=name,
        femoral=patches["femoral"],
        insert=patches["insert"],
        underside=np.nan,
        nominal_thickness=settings.tibial_limits[0],
        left=settings.knee == "left",
        coverage={s: sheet_coverage(of_tibia["insert"], w.x, w.z) for s, w in windows.items()},
        femoral_layer=Layer(patches["femoral_bone"], settings.femoral_limits),
        insert_layer=Layer(patches["insert_bone"], settings.tibial_limits),
    )
    return knee, quality


def _fit_plateaus(
    mesh: TriangleMesh, settings: KneeFit, source: str
) -> tuple[dict[str, Surface], list[FitQuality]]:
    """Patches of both plateaus through one sheet."""
    windows = {side: getattr(settings.tibial_regions, side) for side in SIDES}
    fits = {
        side: fit_plateau(mesh, window.x, window.z, settings.fit, (source, side))
        for side, window in windows.items()
    }
    return {side: fit[0] for side, fit in fits.items()}, [fit[1] for fit in fits.values()]


def _fit_condyles(
    mesh: TriangleMesh, axis: tuple[float, float], settings: KneeFit, source: str
) -> tuple[dict[str, Surface], list[FitQuality]]:
    """Patches of both condyles through one sheet."""
    fits = {}
    for side in SIDES:
        part = getattr(settings.femoral_regions, side)
        angles = (math.radians(part.angle_deg[0]), math.radians(part.angle_deg[1]))
        fits[side] = fit_condyle(mesh, axis, angles, part.z, settings.fit, (source, side))
    return {side: fit[0] for side, fit in fits.items()}, [fit[1] for fit in fits.values()]


def _axis(mesh: TriangleMesh, regions: FemoralRegions) -> tuple[float, float]:
    """Axis of the condyles between the limits of their regions."""
    limits = [abs(z) for side in SIDES for z in getattr(regions, side).z]
    return condyle_axis(mesh, (min(limits), max(limits)))


def _check_layer(cartilage: dict[str, Surface], bone: dict[str, Surface], source: str) -> None:
    """Refuse cartilage whose middle lies inside its bone or far off it."""
    for side, surface in cartilage.items():
        (u0, u1), (v0, v1) = surface.domain
        u, v = np.meshgrid(*(np.linspace(0.25, 0.75, 21) for _ in range(2)), indexing="ij")
        points = surface.evaluate(u0 + (u1 - u0) * u, v0 + (v1 - v0) * v).reshape(-1, 3)
        mean = float(bone[side].closest_points(points)[2].mean())
        if not 0.0 < mean < _GREATEST_MEAN_THICKNESS:
            raise InputDataError(
                source,
                f"{side} cartilage {mean:.2f} mm above its bone in the middle",
                f"cartilage on its own bone, up to {_GREATEST_MEAN_THICKNESS:g} mm thick",
                "Check that cartilage and subchondral surface are not exchanged and share one "
                "frame.",
            )
