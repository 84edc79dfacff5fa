"""Underside of a scanned insert: what was removed from it, and bending of the whole insert."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.errors import Finding
from kneewear.geometry.meshes import TriangleMesh
from kneewear.models.retrieval.kriging import Drift
from kneewear.models.retrieval.scans import bearing_regions
from kneewear.models.retrieval.scar import Scar, find_scar
from kneewear.models.retrieval.settings import ScanSettings
from kneewear.models.retrieval.surfaces import Blocks, Raster, make_blocks

Array = NDArray[np.float64]

# Area of an underside over the plateaus', and part of it in the scan, at least.
_MIN_AREA = 0.5
_MIN_SCANNED = 0.5
# Bending that is reported: in standard deviations of each face and of both, mm, and difference of
# both faces over it.
_SEEN = 1.645
_SIGNIFICANT = 3.0
_BENT = 0.015
_ALIKE = 0.5
# Forms by which a face is bent: what is reached at half the length and width of the insert.
_FORMS = (
    "bow along anterior-posterior",
    "bow along medial-lateral",
    "twist",
)


@dataclass(frozen=True)
class Face:
    """Deviations of the bearing or the underside, outward, and the wear of it.

    `heights` (n, m) belong to the reference on the points of the raster, outward, mm.
    """

    blocks: Blocks
    scar: Scar
    heights: Array


def evaluate_underside(
    raster: Raster,
    scan: TriangleMesh,
    reference: TriangleMesh,
    plateaus: NDArray[np.int64],
    settings: ScanSettings,
) -> Face | None:
    """Evaluate the wear of the underside; None where scan or reference have none.

    Offset and inclination of the whole underside are free: what is removed everywhere alike is
    not wear of it, but a change of thickness.

    Parameters
    ----------
    raster, plateaus, settings
        As for the bearing.
    scan, reference : TriangleMesh
        The scan on the reference, mm.
    """
    unworn, found = (raster.heights(_turned_over(mesh)) for mesh in (reference, scan))
    if not np.isfinite(unworn).any():
        return None
    regions = np.where(np.isfinite(unworn), bearing_regions(raster, unworn, plateaus), -1)
    size = int((regions >= 0).sum())
    scanned = int(((regions >= 0) & np.isfinite(found)).sum())
    if size < _MIN_AREA * (plateaus >= 0).sum() or scanned < _MIN_SCANNED * size:
        return None
    blocks = make_blocks(raster, unworn, found, regions, settings.block_mm)
    return Face(blocks, find_scar(blocks, [Drift(blocks.rigid_drift())], settings), unworn)


def _turned_over(mesh: TriangleMesh) -> TriangleMesh:
    """Mirror image of a mesh across the plan: its underside faces up."""
    return TriangleMesh(
        mesh.vertices * [1.0, -1.0, 1.0], np.ascontiguousarray(np.asarray(mesh.faces)[:, ::-1])
    )


def deformation_table(bearing: Face, underside: Face) -> pd.DataFrame:
    """Bending of both faces and of the whole insert, and change of its thickness.

    Columns form, bearing_um, bearing_sd_um, underside_um, underside_sd_um, whole_um, whole_sd_um
    and alike: bending is upward at the ends of the insert, and is of the whole insert where both
    faces have it. Wear and tolerance are of one face each.
    """
    low, high = (getattr(bearing.blocks.points[:, [0, 2]], end)(axis=0) for end in ("min", "max"))
    fits = [_bending(face, sign, low, high) for face, sign in ((bearing, 1.0), (underside, -1.0))]
    (top, top_sd), (bottom, bottom_sd) = ((values, sd) for values, sd in fits)
    weights = np.array([top_sd, bottom_sd]) ** -2.0
    whole = (weights * [top, bottom]).sum(axis=0) / weights.sum(axis=0)
    whole_sd = weights.sum(axis=0) ** -0.5
    rows = []
    for number, form in enumerate(_FORMS, start=3):
        apart = abs(top[number] - bottom[number])
        clear = abs(whole[number]) > max(_SIGNIFICANT * whole_sd[number], _BENT)
        clear &= abs(top[number]) > _SEEN * top_sd[number]
        clear &= abs(bottom[number]) > _SEEN * bottom_sd[number]
        rows.append(
            {
                "form": form,
                "bearing_um": 1e3 * top[number],
                "bearing_sd_um": 1e3 * top_sd[number],
                "underside_um": 1e3 * bottom[number],
                "underside_sd_um": 1e3 * bottom_sd[number],
                "whole_um": 1e3 * whole[number],
                "whole_sd_um": 1e3 * whole_sd[number],
                "alike": bool(clear and apart < _ALIKE * abs(whole[number])),
            }
        )
    thickness = {
        "form": "change of thickness",
        "whole_um": 1e3 * (top[0] - bottom[0]),
        "whole_sd_um": 1e3 * float(np.hypot(top_sd[0], bottom_sd[0])),
        "alike": False,
    }
    return pd.DataFrame([*rows, thickness])


def _bending(face: Face, sign: float, low: Array, high: Array) -> tuple[Array, Array]:
    """Coefficients of offset, inclinations and bending of a face, mm, and standard deviations.

    Deviations are correlated over the length of the tolerance: so many squares count as one.
    """
    blocks, scar = face.blocks, face.scar
    used = ~scar.worn & np.isfinite(blocks.deviation)
    p, q = ((2.0 * blocks.points[used][:, [0, 2]] - low - high) / (high - low)).T
    terms = np.column_stack([np.ones_like(p), p, q, p**2, q**2, p * q])
    values = sign * blocks.deviation[used] / blocks.normals[used, 1]
    coefficients, *_ = np.linalg.lstsq(terms, values, rcond=None)
    variance = float(np.var(values - terms @ coefficients))
    square = sum(item.weight * item.length**2 for item in scar.fields)
    one = max(2.0 * np.pi * square / blocks.size**2, 1.0)
    covariance = np.linalg.pinv(terms.T @ terms) * variance * one
    return coefficients, np.sqrt(np.maximum(np.diag(covariance), 1e-12))


def judge_deformation(table: pd.DataFrame, file: str) -> tuple[Finding, ...]:
    """Findings about bending that both faces of a scan have."""
    remedy = (
        "It is part of the offset that is predicted from unworn surface, and no wear; compare a "
        "scan of the insert without its tray or clamps, or draw the worn areas."
    )
    return tuple(
        Finding(
            "retrieval.deformation",
            "warn",
            file,
            f"{row['form']} of {row['whole_um']:.0f} um of bearing and underside alike",
            "a rigid insert",
            remedy,
        )
        for row in table[table["alike"]].to_dict("records")
    )
