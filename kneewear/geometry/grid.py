"""The element grid of the insert (Bei 2003, section 2.2.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry.coverage import bounding_rectangle, cover_cells, patch_coverage
from kneewear.geometry.implant import SIDES, Implant
from kneewear.geometry.layers import layer_thickness
from kneewear.geometry.underside import thickness_above

# Cells covered less than this carry nothing: together they hold under 1e-7 of a plateau.
_LEAST_FRACTION = 1e-6
# mm; the polygon that stands for a patch's border strays by 1e-5 mm.
_BORDER_MISS = 1e-3


@dataclass(frozen=True)
class ElementGrid:
    """Contact elements on the insert's bearing surfaces; the first axis is the side.

    Parameters
    ----------
    centre : array, shape (n_sides, n_rows, n_columns, 3)
        Element centres on the surface, insert frame, mm, above the middle of what their cells
        cover. Rows run along +x (or the turned rectangle's side nearest it), columns along +z.
    normal, tangent_row, tangent_column : array, shape (n_sides, n_rows, n_columns, 3)
        Local frame: outward unit normal and the unit tangents nearest +x and +z.
    area : array, shape (n_sides, n_rows, n_columns)
        True surface area, mm2 (covered projected area divided by the vertical component of the
        normal).
    thickness : array, shape (n_sides, n_rows, n_columns)
        Local superior-inferior thickness of the nominal insert, mm; of a natural knee that of the
        cartilage, the shortest way to the bone.
    valid : bool array, shape (n_sides, n_rows, n_columns)
        False where the surface covers nothing of the cell; such cells carry nothing.
    covered : array, shape (n_sides, n_rows, n_columns)
        Covered part of each cell, 0 to 1.
    corners : array, shape (n_sides, n_rows + 1, n_columns + 1, 2)
        Corners of the cells in the plane y = 0: x and z, mm.
    nominal_thickness : float
        Nominal minimum thickness of the insert, mm. A case of thickness t has the local thickness
        `thickness + t - nominal_thickness`.
    sides : tuple of str
        Names along the first axis: ("medial", "lateral").
    """

    centre: NDArray[np.float64]
    normal: NDArray[np.float64]
    tangent_row: NDArray[np.float64]
    tangent_column: NDArray[np.float64]
    area: NDArray[np.float64]
    thickness: NDArray[np.float64]
    valid: NDArray[np.bool_]
    covered: NDArray[np.float64]
    corners: NDArray[np.float64]
    nominal_thickness: float
    sides: tuple[str, ...]

    def case_thickness(self, thickness: float) -> NDArray[np.float64]:
        """Local thickness of an insert of another nominal thickness.

        Parameters
        ----------
        thickness : float
            Minimum insert thickness of the case, mm.

        Returns
        -------
        array, shape (n_sides, n_rows, n_columns)
            Local thickness, mm; NaN where the grid carries nothing.

        Raises
        ------
        ValueError
            If the thickness is not positive everywhere on the grid.
        """
        local = self.thickness + (thickness - self.nominal_thickness)
        smallest = float(np.min(local[self.valid]))
        if smallest <= 0.0:
            raise ValueError(
                f"an insert of {thickness:g} mm would be {smallest:.3g} mm thick at its thinnest "
                "element; choose a larger thickness or a smaller insert region"
            )
        return np.where(self.valid, local, np.nan)


def build_grid(implant: Implant, rows: int, columns: int) -> ElementGrid:
    """Project a rectangle of the plane y = 0 onto each plateau.

    Parameters
    ----------
    implant : Implant
        Implant or natural knee; its plateaus carry the elements.
    rows, columns : int
        Number of elements along x and along z on each side.

    Returns
    -------
    ElementGrid
        Elements; cells that cover nothing of the plateau (or of its scanned sheet) are not valid.

    Notes
    -----
    The rectangle is the smallest one round the plateau's outline in the horizontal plane, turned
    only where that saves area. An element is the piece of the tangent plane above the covered part
    of its cell, so its area is the covered part divided by the vertical component of the normal
    (Bei 2003, section 2.2.2). Its centre lies above the middle of the covered part.

    Raises
    ------
    ValueError
        If an element is steeper than 80 deg, the insert is not above its underside, or the
        underside ends under the bearing.
    """
    sides = [_plateau(implant, side, rows, columns) for side in SIDES]
    parts = {name: np.stack([side[name] for side in sides]) for name in sides[0]}
    tangent_row = _in_plane(np.array([1.0, 0.0, 0.0]), parts["normal"])
    return ElementGrid(
        **parts,
        tangent_row=tangent_row,
        tangent_column=np.cross(tangent_row, parts["normal"]),
        nominal_thickness=implant.nominal_thickness,
        sides=SIDES,
    )


def _plateau(implant: Implant, side: str, rows: int, columns: int) -> dict[str, NDArray]:
    """Elements of one side, all arrays of shape (rows, columns, ...)."""
    surface = implant.insert[side]
    coverage = patch_coverage(surface) if implant.coverage is None else implant.coverage[side]
    rectangle = bounding_rectangle(coverage, rows, columns)
    fraction, plan = cover_cells(coverage, rectangle)
    u, v, _ = surface.drop_points(*plan.reshape(-1, 2).T)
    found = surface.evaluate(u, v).reshape(rows, columns, 3)
    # The middle of a sliver may miss a curved border by a hair; the border itself then serves.
    missed = np.linalg.norm(found[..., [0, 2]] - plan, axis=-1)
    valid = (fraction > _LEAST_FRACTION) & (missed < _BORDER_MISS)
    centre = np.where(valid[..., None], found, np.nan)
    normal = np.where(valid[..., None], surface.normal(u, v).reshape(rows, columns, 3), np.nan)
    if np.nanmin(normal[..., 1]) < np.cos(np.radians(80.0)):
        raise ValueError(f"the {side} plateau is steeper than 80 deg or faces down somewhere")
    thickness = _thickness(implant, side, centre, valid)
    lost = valid & np.isnan(thickness)
    if (lost & (fraction == 1.0)).any():
        raise ValueError(
            f"the insert's underside ends under the {side} bearing: {int(lost.sum())} elements "
            "have nothing below them"
        )
    valid &= ~lost
    if (thickness[valid] <= 0.0).any():
        raise ValueError("the bearing surface lies below the insert's underside somewhere")
    fraction = np.where(valid, fraction, 0.0)
    with np.errstate(invalid="ignore"):
        area = np.where(valid, rectangle.cell_area * fraction / normal[..., 1], 0.0)
    return {
        "centre": np.where(valid[..., None], centre, np.nan),
        "normal": np.where(valid[..., None], normal, np.nan),
        "area": area,
        "thickness": np.where(valid, thickness, np.nan),
        "valid": valid,
        "covered": fraction,
        "corners": rectangle.corners,
    }


def _thickness(
    implant: Implant, side: str, centre: NDArray[np.float64], valid: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Local thickness under each element: straight down, or through the cartilage to the bone."""
    thickness = np.full(valid.shape, np.nan)
    points = centre[valid]
    layer = implant.insert_layer
    if layer is not None:
        thickness[valid] = layer_thickness(points, layer.bone[side], layer.limits)
    else:
        thickness[valid] = thickness_above(implant.underside, points)
    return thickness


def _in_plane(direction: NDArray[np.float64], normal: NDArray) -> NDArray[np.float64]:
    """Unit vectors nearest a direction in the planes across the normals."""
    tangent = direction - normal * (normal @ direction)[..., None]
    return tangent / np.linalg.norm(tangent, axis=-1, keepdims=True)
