"""Contact of a knee frame, put on an insert of finite elements of scikit-fem, a library not ours.

`python -m benchmarks.outside_frame` prints docs/snapshot/records/outside_frame.csv; it needs
scikit-fem (extra `peers`; the record is of 12.0.2). `benchmarks.outside` takes its errors. The
frame is the medial side of the built-in bearing of 6 mm under 50 kg at 15 % of gait, a row of
tests/evidence/fe_comparison/yielding_frames.csv, elastic and with the curve of
config/evidence/fe_twin_yield.yaml in ten load steps.

The pressures of the layer are put on the insert, and its surface is deformed by the elements of the
library. If the layer is right, the deformed surface lies on the condyle where it is pressed, at the
height that the layer found, and not above it elsewhere: the gap left, over the overlap of condyle
and insert, is the error of the layer. Shapes and distances are of the project. Mesh, elements,
assembly and the return to the yield surface are not; no contact is solved here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy

from benchmarks.outside_sphere import BULK, PLASTIC_STRAIN, SHEAR, YIELD_STRESS, added_strain
from kneewear import default_settings_file
from kneewear.contact.material import Elastic, Hardening
from kneewear.contact.yielding import accelerated
from kneewear.evidence.fe_comparison.frames import SideAtFrame
from kneewear.evidence.fe_comparison.yielding import SideYielding
from kneewear.geometry.grid import bearing_of
from kneewear.geometry.knee import KneeModel
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion.evaluation import build_layers, build_pairs
from kneewear.study.inputs import exact_knee
from kneewear.study.settings import read_study

FRAMES = Path("tests/evidence/fe_comparison/yielding_frames.csv")
SETTINGS = Path("config/evidence/fe_twin_yield.yaml")
CASE = "6mm_50kg"
SIDE = "medial"
LOAD_STEPS = 10
SIZE = 1.3  # mm, of elements below the contact
BESIDE = 1.0  # mm of such elements around the contact
GROWTH = 1.7  # of elements beyond
LEVELS = (0.0, 0.4, 0.68, 0.87, 1.0)  # borders of elements from the base, of the thickness
TOLERANCE = 1e-4  # largest unbalanced force, of the load
MAX_ITERATIONS = 60
MEMORY = 6  # iterates that the next displacement is combined of
VOLUME = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
DEVIATOR = np.diag([1.0, 1.0, 1.0, 0.5, 0.5, 0.5]) - np.outer(VOLUME, VOLUME) / 3.0
ENGINEERING = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])


def main() -> None:
    """Print the record of the elastic and the yielding frame."""
    side, knee, thickness = read_frame()
    rows = [compare(side, knee, thickness, steps) for steps in (None, LOAD_STEPS)]
    print(pd.DataFrame(rows).to_csv(index=False))


def read_frame() -> tuple[SideAtFrame, KneeModel, float]:
    """The side at the pose and load of its row, its knee, and the thickness of the case, mm."""
    table = pd.read_csv(FRAMES, comment="#")
    chosen = table["case"].eq(CASE) & table["side"].eq(SIDE) & table["poses"].eq("comparison")
    row = table[chosen].iloc[0]
    settings = SETTINGS.parent / "fe_twin.yaml", SETTINGS
    exact = {"simulation": {"distance": "exact"}}
    study = read_study(*settings, exact, defaults=default_settings_file())
    knee, thickness = exact_knee(study), float(row["thickness_mm"])
    number = knee.grid.sides.index(SIDE)
    pairs = build_pairs(knee, study.simulation)
    layers = build_layers(knee.grid, pairs, thickness, study.simulation)
    pose = row[["x_mm", "y_mm", "z_mm", "x_rad", "y_rad", "z_rad"]].to_numpy(dtype=float)
    plan = knee.grid.centre[number][knee.grid.valid[number]][:, [0, 2]]
    contact = pairs[number].evaluate(body_three_123(pose[3:]), pose[:3], layers[number])
    side = SideAtFrame(
        label=CASE,
        bearing=bearing_of(knee.implant, SIDE),
        plan=(plan.min(axis=0), plan.max(axis=0)),
        condyle=knee.implant.femoral[SIDE],
        pose=pose,
        pair=pairs[number],
        contact=contact,
        more_thickness=thickness - knee.implant.nominal_thickness,
        given_load=float(row["load_n"]),
    )
    return side, knee, thickness


def compare(
    side: SideAtFrame, knee: KneeModel, thickness: float, steps: int | None
) -> dict[str, Any]:
    """Gap that the pressures of the layer leave on the outside insert; elastic without steps."""
    stress = tuple(YIELD_STRESS if steps else 1e6 * YIELD_STRESS)
    curve = Hardening(tuple(PLASTIC_STRAIN), stress)
    number = knee.grid.sides.index(SIDE)
    material = Elastic(463.0, 0.46)
    layer = SideYielding.of(side, knee.grid, number, thickness, material, curve)
    state, height, forces = layer.layer.fresh(), 0.0, []
    for step in range(1, (steps or 1) + 1):
        gap, descent = layer.gaps(height)
        part = side.load * step / (steps or 1)
        pressed = layer.layer.press(gap, descent, state, load=part)
        state, height = pressed.state, height + pressed.lift
        forces.append(pressed.force)
    insert = Insert(side)
    moved, strain = insert.deform(layer, forces, steps is not None)
    pressing = forces[-1] > 0.0
    surface = insert.on_surface(moved, layer.centre[:, [0, 2]])
    left, _ = insert.body(layer.centre + surface - [0.0, height, 0.0])
    overlap = -float(layer.gaps(height)[0].min())
    pressure = forces[-1] / knee.grid.area[number][tuple(layer.cells.T)]
    return {
        "load_n": round(side.load, 1),
        "load_steps": steps or "elastic",
        "layer_peak_mpa": round(float(pressure.max()), 2),
        "overlap_um": round(1e3 * overlap, 1),
        "gap_mean_um": round(
            1e3 * float(np.average(left[pressing], weights=forces[-1][pressing])), 2
        ),
        "gap_rms_um": round(1e3 * float(np.sqrt((left[pressing] ** 2).mean())), 2),
        "overlap_elsewhere_um": round(-1e3 * min(float(left[~pressing].min()), 0.0), 2),
        "layer_plastic_strain": round(float(pressed.state.equivalent.max()), 4),
        "plastic_strain": round(strain, 4),
    }


class Insert:
    """Mesh of the insert below one condyle, and what scikit-fem assembles on it."""

    def __init__(self, side: SideAtFrame) -> None:
        import skfem  # noqa: PLC0415
        from skfem.helpers import sym_grad  # noqa: PLC0415

        self.fem, self.sym_grad = skfem, sym_grad
        self.side, self.load = side, side.load
        low, high = side.plan
        lines = [
            _lines(low[a], high[a], side.box.low[a] - BESIDE, side.box.high[a] + BESIDE)
            for a in range(2)
        ]
        plain = skfem.MeshHex.init_tensor(lines[0], np.array(LEVELS), lines[1])
        x, part, z = plain.p
        top, thickness = self._column(np.column_stack([x, z]))
        mesh = skfem.MeshHex(np.array([x, top - (1.0 - part) * thickness, z]), plain.t)
        element = skfem.ElementVector(skfem.ElementHex2())
        upper = plain.facets_satisfying(lambda at: np.abs(at[1] - 1.0) < 1e-9)
        lower = plain.facets_satisfying(lambda at: np.abs(at[1]) < 1e-9)
        self.inside = skfem.Basis(mesh, element, intorder=4)
        self.top = skfem.FacetBasis(mesh, element, facets=upper, intorder=6)
        base = self.inside.get_dofs(lower).all()
        self.free = np.setdiff1d(np.arange(self.inside.N), base)
        form = skfem.BilinearForm(
            lambda u, v, w: np.einsum("i...,ij,j...", self._strain(v), ELASTIC, self._strain(u))
        )
        stiffness = form.assemble(self.inside).tocsc()[self.free][:, self.free]
        self.factor = scipy.sparse.linalg.splu(
            stiffness,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )

    def body(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Distance of the condyle, mm, and its outward normal."""
        pose, rotation = self.side.pose, body_three_123(self.side.pose[3:])
        _, _, distance, normal, _ = self.side.condyle.closest_points((points - pose[:3]) @ rotation)
        return distance, normal @ rotation.T

    def _column(self, plan: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Height of the surface and thickness below points of the plan, mm."""
        bearing = self.side.bearing
        points = bearing.surface.evaluate(*bearing.projection(plan))
        local = bearing.thickness(points) if callable(bearing.thickness) else bearing.thickness
        return points[:, 1], np.broadcast_to(local, len(points)) + self.side.more_thickness

    def _strain(self, field: Any) -> np.ndarray:
        """Components xx, yy, zz, xy, yz, zx with engineering shear."""
        full = self.sym_grad(field)
        shear = [2.0 * full[0, 1], 2.0 * full[1, 2], 2.0 * full[2, 0]]
        return np.stack([full[0, 0], full[1, 1], full[2, 2], *shear])

    def deform(
        self, layer: SideYielding, forces: list[np.ndarray], yields: bool
    ) -> tuple[np.ndarray, float]:
        """Displacement by forces on the elements of the layer, in turn; largest plastic strain."""
        fem, moved = self.fem, np.zeros(self.inside.N)
        inner = fem.LinearForm(lambda v, w: np.einsum("i...,i...", self._strain(v), w["stress"]))
        points = self.inside.dx.shape
        plastic, equivalent = np.zeros((6, *points)), np.zeros(points)
        for force in forces:
            outer, tried = self._traction(layer, force), []
            for _ in range(MAX_ITERATIONS):
                strain = self._strain(self.inside.interpolate(moved))
                stress, after, total = return_stress(strain, plastic, equivalent, yields)
                rest = (outer - inner.assemble(self.inside, stress=stress))[self.free]
                if np.abs(rest).max() < TOLERANCE * self.load:
                    break
                tried = [*tried[1 - MEMORY :], (moved[self.free], self.factor.solve(rest))]
                moved = moved.copy()
                moved[self.free] = accelerated(tried)
            else:
                raise RuntimeError("no equilibrium of the insert")
            plastic, equivalent = after, total
        return moved, float(equivalent.max())

    def _traction(self, layer: SideYielding, force: np.ndarray) -> np.ndarray:
        """Nodal forces of the pressures of the layer, along the normal of the condyle."""
        grid, number = layer.grid, layer.number
        pressure = np.zeros(grid.valid.shape[1:])
        pressure[tuple(layer.cells.T)] = force / grid.area[number][tuple(layer.cells.T)]
        centre = grid.centre[number]
        x, z = np.nanmean(centre[:, :, 0], axis=1), np.nanmean(centre[:, :, 2], axis=0)
        by_plan = scipy.interpolate.RegularGridInterpolator(
            (x, z), pressure, bounds_error=False, fill_value=0.0
        )
        at = self.top.global_coordinates().value
        own = by_plan(np.stack([at[0], at[2]], axis=-1))
        _, normal = self.body(at.reshape(3, -1).T)
        normal = normal.T.reshape(at.shape)
        push = self.fem.LinearForm(
            lambda v, w: w["size"] * np.einsum("i...,i...", v.value, w["normal"])
        )
        total = self.fem.Functional(lambda w: -w["size"] * w["normal"][1])
        # Interpolated pressures carry the load to some 0.1 %: scaled to the forces of the layer.
        _, descent = layer.gaps(0.0)
        scale = float(force @ descent) / total.assemble(self.top, size=own, normal=normal)
        return scale * push.assemble(self.top, size=own, normal=normal)

    def on_surface(self, moved: np.ndarray, plan: np.ndarray) -> np.ndarray:
        """Displacements (n, 3) of the surface at points of the plan, mm."""
        top, _ = self._column(plan)
        # Just below the surface, of which facets are chords.
        points = np.column_stack([plan[:, 0], top - 0.02, plan[:, 1]]).T
        values = self.inside.probes(points) @ moved
        return values.reshape(3, -1).T


def return_stress(
    strain: np.ndarray, plastic: np.ndarray, equivalent: np.ndarray, yields: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Stress and plastic strains after a radial return, as in `outside_sphere`."""
    shape = (6,) + (1,) * equivalent.ndim
    trial = 2.0 * SHEAR * np.einsum("ij,j...->i...", DEVIATOR, strain - plastic)
    twice = (ENGINEERING.reshape(shape) * trial**2).sum(axis=0)
    size = np.sqrt(1.5 * twice)
    more = added_strain(size, equivalent, yields)
    direction = trial / np.where(size > 0.0, size, 1.0)
    pressure = BULK * (strain - plastic)[:3].sum(axis=0)
    stress = trial - 3.0 * SHEAR * more * direction + pressure * VOLUME.reshape(shape)
    return stress, plastic + 1.5 * more * direction * ENGINEERING.reshape(shape), equivalent + more


def _lines(low: float, high: float, first: float, last: float) -> np.ndarray:
    """Borders of elements between two ends: of equal size from a first to a last place."""
    first, last = max(first, low), min(last, high)
    places = np.linspace(first, last, round((last - first) / SIZE) + 1).tolist()
    for end, at in ((low, 0), (high, -1)):
        step = SIZE
        while abs(places[at] - end) > 1e-9:
            step *= GROWTH
            rest = abs(end - places[at])
            to = end if rest < 1.5 * step else places[at] + np.sign(end - places[at]) * step
            places.insert(0 if at == 0 else len(places), float(to))
    return np.array(places)


ELASTIC = BULK * np.outer(VOLUME, VOLUME) + 2.0 * SHEAR * DEVIATOR

if __name__ == "__main__":
    main()
