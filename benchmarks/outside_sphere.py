"""Sphere on a bonded polyethylene block by the finite elements of scikit-fem, a library not ours.

`python -m benchmarks.outside_sphere` prints docs/snapshot/records/outside_sphere.csv; it needs
scikit-fem (extra `peers`; the record is of 12.0.2). `benchmarks.outside` takes its errors. A rigid
sphere of 30 mm presses a block 8 mm high and 64 mm wide of rotational symmetry, elastic and with
the curve of config/evidence/fe_twin_yield.yaml. Mesh, quadratic elements and assembly are of the
library; the return to the yield surface, Newton's method and the penalty of the contact are
written here, with nothing of the project's solids.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy

YOUNG = 463.0  # MPa
POISSON = 0.46
BULK = YOUNG / (3.0 * (1.0 - 2.0 * POISSON))
SHEAR = YOUNG / (2.0 * (1.0 + POISSON))
PLASTIC_STRAIN = np.array([0.0, 0.00185, 0.00578, 0.01255, 0.02294, 0.03773, 0.07427, 0.12878])
YIELD_STRESS = np.array([5.0, 8.0, 11.0, 14.0, 17.0, 20.0, 25.0, 30.0])
RADIUS = 30.0  # mm, of the sphere
HEIGHT = 8.0  # mm, of the block
HALF_WIDTH = 32.0  # mm
FINE_WIDTH = 6.5  # mm with elements of the smallest size, from the axis
FINE_DEPTH = 2.0  # mm, from the surface
SIZE = 0.25  # mm
GROWTH = 1.25  # of elements beyond
PENALTY = 4e4  # MPa/mm: overlaps of at most 1.3 um
TOLERANCE = 1e-6  # unbalanced force, of the load
MAX_ITERATIONS = 60
# Components rr, yy, tt, ry (engineering shear strain).
VOLUME = np.array([1.0, 1.0, 1.0, 0.0])
DEVIATOR = np.diag([1.0, 1.0, 1.0, 0.5]) - np.outer(VOLUME, VOLUME) / 3.0
CASES = (  # load, N, and load steps; none is elastic
    (500.0, None),
    (500.0, 3),
    (1500.0, None),
    (1500.0, 3),
)


def main() -> None:
    """Print the record of all cases."""
    print(pd.DataFrame([press_sphere(load, steps) for load, steps in CASES]).to_csv(index=False))


def press_sphere(load: float, steps: int | None) -> dict[str, Any]:
    """Equilibrium under a load, N, that rises in steps; elastic without them."""
    block = Block()
    displacement, sinking = np.zeros(block.count), 0.1
    plastic, equivalent = np.zeros((4, *block.radius.shape)), np.zeros(block.radius.shape)
    for step in range(1, (steps or 1) + 1):
        part = load * step / (steps or 1)
        for _ in range(MAX_ITERATIONS):
            stress, tangent, plastic_after, equivalent_after = _return(
                block.strain(displacement), plastic, equivalent, steps is not None
            )
            pressure, normal, area = block.contact(displacement, sinking)
            change, deeper, unbalanced = block.step(stress, tangent, pressure, normal, part)
            displacement, sinking = displacement + change, sinking + deeper
            if unbalanced < TOLERANCE * part:
                break
        else:
            raise RuntimeError(f"no equilibrium under {part:g} N")
        plastic, equivalent = plastic_after, equivalent_after
    return {
        "load_n": load,
        "load_steps": steps or "elastic",
        "peak_pressure_mpa": round(float(pressure.max()), 2),
        "sinking_mm": round(sinking, 4),
        "contact_area_mm2": round(area, 1),
        "plastic_strain": round(float(equivalent.max()), 4),
    }


class Block:
    """Mesh of half a section, and what scikit-fem assembles on it."""

    def __init__(self) -> None:
        import skfem  # noqa: PLC0415

        self.fem = skfem
        x = _lines(FINE_WIDTH, HALF_WIDTH)
        y = np.sort(HEIGHT - _lines(FINE_DEPTH, HEIGHT))
        mesh = skfem.MeshQuad.init_tensor(x, y)
        element = skfem.ElementVector(skfem.ElementQuad2())
        top = mesh.facets_satisfying(lambda at: np.abs(at[1] - HEIGHT) < 1e-9)
        self.body = skfem.Basis(mesh, element, intorder=4)
        self.top = skfem.FacetBasis(mesh, element, facets=top, intorder=6)
        base = self.body.get_dofs(lambda at: np.abs(at[1]) < 1e-9).all()
        axis = self.body.get_dofs(lambda at: np.abs(at[0]) < 1e-9).all("u^1")
        self.count = self.body.N
        self.free = np.setdiff1d(np.arange(self.count), np.concatenate([base, axis]))
        self.radius = np.asarray(self.body.global_coordinates().value[0])

    def strain(self, displacement: np.ndarray) -> np.ndarray:
        """Strains (4, element, point) of displacements."""
        return _strain(self.body.interpolate(displacement), self.radius)

    def contact(
        self, displacement: np.ndarray, sinking: float
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Pressure, MPa, and outward normal of the sphere at the displaced surface; area, mm2."""
        at = self.top.global_coordinates().value + self.top.interpolate(displacement).value
        off = np.stack([at[0], at[1] - (HEIGHT - sinking + RADIUS)])
        distance = np.hypot(*off)
        pressure = PENALTY * np.maximum(RADIUS - distance, 0.0)
        ring = 2.0 * np.pi * self.top.global_coordinates().value[0] * self.top.dx
        return pressure, off / distance, float(ring[pressure > 0.0].sum())

    def step(
        self,
        stress: np.ndarray,
        tangent: np.ndarray,
        pressure: np.ndarray,
        normal: np.ndarray,
        load: float,
    ) -> tuple[np.ndarray, float, float]:
        """Newton step of displacements and sinking, and the largest unbalanced force, N."""
        fem, acting = self.fem, PENALTY * (pressure > 0.0)
        inside = fem.LinearForm(lambda v, w: _ring(w) * _sum(_strain(v, w.x[0]), w["stress"]))
        stiff = fem.BilinearForm(
            lambda u, v, w: (
                _ring(w)
                * np.einsum("i...,ij...,j...", _strain(v, w.x[0]), w["tangent"], _strain(u, w.x[0]))
            )
        )
        along = fem.LinearForm(lambda v, w: _ring(w) * w["size"] * _sum(v.value, w["normal"]))
        hold = fem.BilinearForm(
            lambda u, v, w: (
                _ring(w) * w["size"] * _sum(u.value, w["normal"]) * _sum(v.value, w["normal"])
            )
        )
        total = fem.Functional(lambda w: _ring(w) * w["size"])
        matrix = stiff.assemble(self.body, tangent=tangent)
        matrix = matrix + hold.assemble(self.top, size=acting, normal=normal)
        force = along.assemble(self.top, size=pressure, normal=normal)
        rest = force - inside.assemble(self.body, stress=stress)
        # The sphere's way down closes gaps by minus the vertical part of its normal.
        closing = -along.assemble(self.top, size=acting * normal[1], normal=normal)
        missing = load - total.assemble(self.top, size=-pressure * normal[1])
        own = total.assemble(self.top, size=acting * normal[1] ** 2)
        free = self.free
        factor = scipy.sparse.linalg.splu(matrix.tocsc()[free][:, free])
        by_rest, by_closing = factor.solve(rest[free]), factor.solve(closing[free])
        deeper = (missing + closing[free] @ by_rest) / (own - closing[free] @ by_closing)
        change = np.zeros(self.count)
        change[free] = by_rest + deeper * by_closing
        return change, float(deeper), float(max(np.abs(rest[free]).max(), abs(missing)))


def _return(
    strain: np.ndarray, plastic: np.ndarray, equivalent: np.ndarray, yields: bool
) -> tuple[np.ndarray, ...]:
    """Stress, its tangent, and plastic strains after a radial return."""
    shape = (1,) * equivalent.ndim
    trial = 2.0 * SHEAR * np.einsum("ij,j...->i...", DEVIATOR, strain - plastic)
    size = np.sqrt(1.5 * (_sum(trial, trial) + trial[3] ** 2))
    flows = (size > _curve(equivalent)[0]) & yields
    more = added_strain(size, equivalent, yields)
    slope = _curve(equivalent + more)[1]
    whole = np.where(size > 0.0, size, 1.0)
    kept, direction = 1.0 - 3.0 * SHEAR * more / whole, trial / whole
    pressure = BULK * (strain - plastic)[:3].sum(axis=0)
    stress = kept * trial + pressure * VOLUME.reshape(4, *shape)
    turned = 9.0 * SHEAR**2 * (more / whole - 1.0 / (3.0 * SHEAR + slope))
    tangent = (
        BULK * np.outer(VOLUME, VOLUME).reshape(4, 4, *shape)
        + 2.0 * SHEAR * kept * DEVIATOR.reshape(4, 4, *shape)
        + np.where(flows, turned, 0.0) * np.einsum("i...,j...->ij...", direction, direction)
    )
    engineering = np.array([1.0, 1.0, 1.0, 2.0]).reshape(4, *shape)
    return stress, tangent, plastic + 1.5 * more * direction * engineering, equivalent + more


def added_strain(size: np.ndarray, equivalent: np.ndarray, yields: bool) -> np.ndarray:
    """Equivalent plastic strain that a trial stress, MPa, adds until it is on the curve."""
    flows = (size > _curve(equivalent)[0]) & yields
    more = np.zeros_like(size)
    for _ in range(PLASTIC_STRAIN.size + 2):
        level, slope = _curve(equivalent + more)
        newton = more + (size - 3.0 * SHEAR * more - level) / (3.0 * SHEAR + slope)
        more = np.where(flows, np.maximum(newton, 0.0), 0.0)
    return more


def _curve(strain: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Yield stress, MPa, and its slope."""
    slopes = np.append(np.diff(YIELD_STRESS) / np.diff(PLASTIC_STRAIN), 0.0)
    piece = np.searchsorted(PLASTIC_STRAIN, strain, side="right") - 1
    piece = np.clip(piece, 0, slopes.size - 1)
    return YIELD_STRESS[piece] + slopes[piece] * (strain - PLASTIC_STRAIN[piece]), slopes[piece]


def _strain(field: Any, radius: np.ndarray) -> np.ndarray:
    slope = field.grad
    around = field.value[0] / radius
    return np.stack([slope[0, 0], slope[1, 1], around, slope[0, 1] + slope[1, 0]])


def _ring(place: Any) -> np.ndarray:
    return 2.0 * np.pi * place.x[0]


def _sum(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.einsum("i...,i...", first, second)


def _lines(fine: float, end: float) -> np.ndarray:
    """Distances of borders of elements from one end: equal at first, growing after."""
    places: Sequence[float] = np.arange(0.0, fine + 1e-9, SIZE).tolist()
    step, found = SIZE, list(places)
    while found[-1] < end - 1e-9:
        step = min(GROWTH * step, end / 12.0)
        found.append(min(found[-1] + step, end))
    if found[-1] - found[-2] < 0.3 * step:
        found.pop(-2)
    return np.array(found)


if __name__ == "__main__":
    main()
