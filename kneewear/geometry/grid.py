"""The element grid of the insert (Bei 2003, section 2.2.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kneewear.geometry.implant import SIDES, Implant
from kneewear.geometry.surface import Surface


@dataclass(frozen=True)
class ElementGrid:
    """Contact elements on the insert's bearing surfaces; the first axis is the side.

    Parameters
    ----------
    centre : array, shape (n_sides, n_rows, n_columns, 3)
        Element centres on the surface, insert frame, mm. Rows run along +x, columns along +z.
    normal, tangent_row, tangent_column : array, shape (n_sides, n_rows, n_columns, 3)
        Local frame: outward unit normal and the unit tangents nearest +x and +z.
    area : array, shape (n_sides, n_rows, n_columns)
        True surface area, mm2 (projected area divided by the vertical component of the normal).
    thickness : array, shape (n_sides, n_rows, n_columns)
        Local superior-inferior thickness of the nominal insert, mm.
    valid : bool array, shape (n_sides, n_rows, n_columns)
        False where the vertical line through the cell misses the surface; such cells carry nothing.
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
    """Project a regular rectangle of the plane y = 0 onto each plateau.

    Parameters
    ----------
    implant : Implant
        Implant; its plateaus carry the elements.
    rows, columns : int
        Number of elements along x and along z on each side.

    Returns
    -------
    ElementGrid
        Elements; cells whose centre misses the plateau (or its scanned sheet) are not valid.

    Notes
    -----
    The rectangle bounds the plateau's outline in the horizontal plane, its sides parallel to x and
    z. Each element is the piece of the tangent plane at its centre above its cell, so its area is
    the cell's divided by the vertical component of the normal (Bei 2003, section 2.2.2).

    Raises
    ------
    ValueError
        If an element is steeper than 80 deg or the insert is not above its underside.
    """
    shape = (len(SIDES), rows, columns)
    centre, normal = np.full((*shape, 3), np.nan), np.full((*shape, 3), np.nan)
    area, valid = np.zeros(shape), np.zeros(shape, dtype=bool)
    for number, side in enumerate(SIDES):
        surface = implant.insert[side]
        (x0, x1), (z0, z1) = _outline(surface)
        dx, dz = (x1 - x0) / rows, (z1 - z0) / columns
        x, z = np.meshgrid(
            x0 + dx * (np.arange(rows) + 0.5), z0 + dz * (np.arange(columns) + 0.5), indexing="ij"
        )
        u, v, hit = surface.drop_points(x.ravel(), z.ravel())
        inside = hit.reshape(rows, columns)
        if implant.coverage is not None:
            inside &= implant.coverage[side].contains(x, z)
        centre[number][inside] = surface.evaluate(u, v).reshape(rows, columns, 3)[inside]
        normal[number][inside] = surface.normal(u, v).reshape(rows, columns, 3)[inside]
        upward = normal[number][..., 1]
        if np.nanmin(upward) < np.cos(np.radians(80.0)):
            raise ValueError(f"the {side} plateau is steeper than 80 deg or faces down somewhere")
        area[number][inside] = (dx * dz / upward)[inside]
        valid[number] = inside
    thickness = centre[..., 1] - implant.underside
    if np.nanmin(thickness) <= 0.0:
        raise ValueError("the bearing surface lies below the insert's underside somewhere")
    tangent_row = _in_plane(np.array([1.0, 0.0, 0.0]), normal)
    return ElementGrid(
        centre=centre,
        normal=normal,
        tangent_row=tangent_row,
        tangent_column=np.cross(tangent_row, normal),
        area=area,
        thickness=thickness,
        valid=valid,
        nominal_thickness=implant.nominal_thickness,
        sides=SIDES,
    )


def _outline(surface: Surface) -> tuple[tuple[float, float], tuple[float, float]]:
    """Smallest x-z rectangle round a surface, from a dense sampling."""
    (u0, u1), (v0, v1) = surface.domain
    u, v = np.meshgrid(np.linspace(u0, u1, 201), np.linspace(v0, v1, 201), indexing="ij")
    points = surface.evaluate(u, v)
    x, z = points[..., 0], points[..., 2]
    return (float(x.min()), float(x.max())), (float(z.min()), float(z.max()))


def _in_plane(direction: NDArray[np.float64], normal: NDArray) -> NDArray[np.float64]:
    """Unit vectors nearest a direction in the planes across the normals."""
    tangent = direction - normal * (normal @ direction)[..., None]
    return tangent / np.linalg.norm(tangent, axis=-1, keepdims=True)
