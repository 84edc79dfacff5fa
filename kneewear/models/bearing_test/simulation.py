"""Contact over a period of a test, and wear over its length."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from kneewear.base.cases import WHOLE, Case, Output
from kneewear.base.schemas import CONTACT
from kneewear.contact.pair import ContactPair
from kneewear.contact.search import FEW_POSES
from kneewear.errors import InputDataError
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.meshes import TriangleMesh
from kneewear.geometry.table import tabulate_surface
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.loads import Frame, Load
from kneewear.mechanics.rotations import angles_123
from kneewear.models.bearing_test.bearings import TestBearing, build_bearing
from kneewear.models.bearing_test.motions import ball_rotations, loads, patellar_cycle, planar_poses
from kneewear.models.bearing_test.settings import (
    AnatomicButton,
    BallInSocket,
    BearingTest,
    FittedButton,
    PatellarMotion,
)
from kneewear.motion.coupling import refuse_steep
from kneewear.motion.cycle import (
    CycleBoundaryConditions,
    CycleSolution,
    contact_histories,
    evaluate_cycle,
)
from kneewear.motion.evaluation import build_layers
from kneewear.motion.history import case_coordinates, failure_attribute
from kneewear.motion.settings import SimulationSettings
from kneewear.motion.static import solve_static
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.laws import choose_wear_law, frictional_work, over_histories
from kneewear.wear.settings import WearSettings
from kneewear.wear.summary import border_pressure, damage_area, damage_volume

Array = NDArray[np.float64]

# Name of the activity and of the life of a test.
TEST = "test"
SECONDS_PER_MONTH = 86_400.0 * 365.25 / 12.0
MM3_PER_N_M_FROM_MM3_PER_N_MM = 1.0e3
# Start of the search for equilibrium, mm below touching.
_START = 0.01

# Results of a test, in the order of tables.
OUTPUTS = (
    Output(WHOLE, "wear_rate", "mm3/10^6"),
    Output(WHOLE, "mass_rate", "mg/10^6"),
    Output(WHOLE, "test_wear_factor", "mm3/(N m)"),
    Output(WHOLE, "max_wear_depth", "mm"),
    Output(WHOLE, "mark_area", "mm2"),
    Output(WHOLE, "mark_diameter", "mm"),
    Output(WHOLE, "max_pressure", "MPa"),
    Output(WHOLE, "mean_pressure", "MPa"),
    Output(WHOLE, "cross_shear", "1"),
    Output(WHOLE, "sliding", "mm"),
    Output(WHOLE, "loaded_part", "1"),
    Output(WHOLE, "border_pressure", "MPa"),
)


@dataclass(frozen=True)
class BearingContact:
    """Contact of a test, on fresh or worn elements.

    Parameters
    ----------
    test : BearingTest
        Bearing, motion and load.
    settings : SimulationSettings
        Material, and model of contact.
    curves : DataFrame, optional
        Columns of the file of the motion by their quantities, where it is from a file.
    meshes : mapping of str to TriangleMesh, optional
        Surfaces by the names of `BearingTest.shapes`, of a bearing from files.

    Notes
    -----
    The polyethylene is fixed and the metal moves. The load acts along -y, or inclined to the axis
    of a ball and socket; the height, or the position of a ball, is in equilibrium at every frame.
    That of a button is in line with its middle where the tilt is in equilibrium.
    """

    test: BearingTest
    settings: SimulationSettings
    curves: pd.DataFrame | None = None
    meshes: Mapping[str, TriangleMesh] | None = None

    @cached_property
    def _patella(self) -> tuple[Array, Array]:
        """Poses and forces of a patella; ValueError without its curves."""
        motion = self.test.motion
        if self.curves is None or not isinstance(motion, PatellarMotion):
            raise ValueError("the curves of a patella are needed")
        poses, force = patellar_cycle(self.curves, motion, self.test.frames)
        if force.min() <= 0.0:
            raise InputDataError(
                motion.file,
                f"a force of {force.min():.3g} N at {100.0 * force.argmin() / force.size:.3g} %",
                "a force above zero at every frame",
                "Correct the force of the quadriceps, or force_ratio.",
            )
        return poses, force

    @cached_property
    def load(self) -> Array:
        """Load of each frame, N."""
        load = self.test.load
        return self._patella[1] if load is None else loads(load, self.test.frames)

    @cached_property
    def free(self) -> list[str]:
        """Coordinates in equilibrium."""
        if isinstance(self.test.bearing, BallInSocket):
            return ["x", "y", "z"]
        motion, free = self.test.motion, ["y"]
        if isinstance(motion, PatellarMotion):
            free += ["z"] if motion.columns.lateral_mm is None else []
            free += ["theta_1"] if self._tilts else []
        return free

    @cached_property
    def _tilts(self) -> bool:
        """True if the tilt of a button on two flanks is solved because none is given."""
        motion = self.test.motion
        carried = isinstance(self.test.bearing, AnatomicButton | FittedButton)
        return carried and isinstance(motion, PatellarMotion) and motion.columns.varus is None

    @cached_property
    def poses(self) -> Array:
        """Prescribed poses (frame, 6), mm and rad; free coordinates are zero."""
        test = self.test
        if isinstance(test.bearing, BallInSocket):
            angles = angles_123(ball_rotations(test.motion, test.frames))  # type: ignore[arg-type]
            return np.hstack([np.zeros((test.frames, 3)), angles])
        if isinstance(test.motion, PatellarMotion):
            return self._patella[0]
        return planar_poses(test.motion, test.bearing, test.frames)

    @cached_property
    def direction(self) -> Array:
        """Direction of the load in the frame of the polyethylene, shape (frame, 3)."""
        bearing = self.test.bearing
        incline = math.radians(getattr(bearing, "inclination_deg", 0.0))
        steady = np.array([math.sin(incline), -math.cos(incline), 0.0])
        load = self.test.load
        if isinstance(bearing, BallInSocket) and load is not None and load.fixed_to == "metal":
            turned: Array = ball_rotations(self.test.motion, self.test.frames) @ steady  # type: ignore[arg-type]
            return turned
        return np.tile(steady, (self.test.frames, 1))

    @cached_property
    def bearing(self) -> TestBearing:
        """Elements of the fresh polyethylene, and the metal."""
        planar = not isinstance(self.test.bearing, BallInSocket)
        path = self.poses[:, [0, 2]] if planar else np.zeros((0, 2))
        return build_bearing(self.test, self.settings, path, float(self.load.max()), self.meshes)

    @cached_property
    def _pair(self) -> ContactPair:
        metal = self.bearing.indenter
        table = tabulate_surface(metal, 61, 61)
        return ContactPair(self.bearing.grid, 0, metal, table, map_share=FEW_POSES)

    @cached_property
    def fresh(self) -> xr.Dataset:
        """Contact over a period on the fresh polyethylene."""
        return self(self.bearing.grid)

    def __call__(self, grid: ElementGrid, _: xr.Dataset | None = None) -> xr.Dataset:
        """Contact over a period on some elements: a dataset of the schema CONTACT of one case.

        ConvergenceError if a frame has no equilibrium, InputDataError if a coupled layer is pressed
        on slopes that it does not represent.
        """
        test = self.test
        pair = self._pair.with_grid(grid, 0)
        thickness = test.bearing.thickness_mm
        layers = build_layers(
            grid, (pair,), thickness, self.settings, is_unbounded=self.bearing.is_unbounded
        )
        free = self.free
        force = self.load[:, None] * self.direction
        coordinates = self.poses.copy()
        start = np.zeros(6)
        if isinstance(test.bearing, BallInSocket):
            start[:3] = (_START - self.bearing.height) * self.direction[0]
        else:
            start[1] = self.bearing.height - _START
        line: Frame = "fixed" if self._tilts else "moving"
        held = np.isin(COORDINATES, free)
        residual = np.zeros(test.frames)
        wrenches = np.zeros((test.frames, 6))
        for frame, pose in enumerate(coordinates):
            pose[:] = np.where(held, start, pose)
            found = solve_static(
                (pair,),
                layers,
                (pose[:3].copy(), pose[3:].copy()),
                free,
                loads=(Load(force=force[frame], point_frame=line),),
                tolerance=self.settings.tolerance,
                frame=frame,
            )
            pose[:] = start = np.concatenate([found.translation, found.rotation])
            residual[frame] = found.residual
            wrenches[frame] = found.contacts[0].wrench
        solution = CycleSolution(
            CycleBoundaryConditions(coordinates, test.period_s, free, (Load(force=force),)),
            coordinates,
            self.load,
            np.zeros(test.frames),
            np.zeros(test.frames),
            wrenches,
            np.zeros((test.frames, 6)),
            residual,
            0,
        )
        contacts = evaluate_cycle((pair,), layers, solution)
        arrays = contact_histories((pair,), grid, solution, contacts)
        if self.settings.contact != "foundation":
            refuse_steep(grid, arrays["pressure"], f"bearing of shape {test.bearing.shape}")
        case = Case(TEST, thickness, 0.0)
        return CONTACT.dataset(
            {
                **case_coordinates([case]),
                "percent": 100.0 * np.arange(test.frames) / test.frames,
                "time": test.period_s * np.arange(test.frames) / test.frames,
                "side": grid.sides,
                **{name: array[None] for name, array in arrays.items()},
            },
            leading=("case", "frame"),
            activity=TEST,
            analysis="quasi_static",
            **failure_attribute([]),
        )


def settings_of_test(test: BearingTest, wear: WearSettings) -> WearSettings:
    """Wear settings with the length and the life of a test, and its ratio of the wear factor."""
    # A law with a memory has the effect of the order of directions itself.
    remembers = over_histories(choose_wear_law(wear)).memory_mm > 0.0
    ratio = 1.0 if remembers else test.factor_ratio
    months = test.million_cycles * 1e6 * test.period_s / SECONDS_PER_MONTH
    return wear.model_copy(
        update={
            "lives": {TEST: {TEST: 1.0}},
            "blocks": test.blocks,
            "mixing": "linear",
            "months": months,
            "cycles_per_year": 12e6 * test.million_cycles / months,
            "wear_factor_mm3_per_n_m": wear.wear_factor_mm3_per_n_m * ratio,
        }
    )


@dataclass(frozen=True)
class TestWear:
    """Damage maps of a test, its numbers by quantity, and elements of the fresh polyethylene."""

    __test__ = False  # no test for pytest

    maps: xr.Dataset
    values: dict[str, float]
    grid: ElementGrid

    @property
    def dataset(self) -> xr.Dataset:
        """Wear depth (mm) and largest pressure (MPa) of the elements, and their corners (mm)."""
        element = ("row", "column")
        return xr.Dataset(
            {
                "wear_depth": (element, self.maps.wear_depth.values[0, 0, 0], {"units": "mm"}),
                "max_pressure": (element, self.maps.max_pressure.values[0, 0, 0], {"units": "MPa"}),
                "corners": (
                    ("row_edge", "column_edge", "plan"),
                    self.grid.corners[0],
                    {"units": "mm"},
                ),
            }
        )


def wear_of_test(contact: BearingContact, wear: WearSettings) -> TestWear:
    """Wear at the end of a test, by the wear law and the updates of the surface of the settings.

    Values are those of `OUTPUTS`: rates are per million periods, `test_wear_factor` is the volume
    over the integral of pressure times sliding over the elements (load times sliding of small
    contacts), mm3/(N m), `sliding` the same integral of a period over the mean load, `mark_area`
    that of all elements ever loaded and `mark_diameter` the diameter of a circle of this area,
    `mean_pressure` the mean over the frames of load over contact area, `cross_shear` the mean ratio
    of the frictional work, `loaded_part` the mean part of the period that loaded elements are in
    contact, weighted by their frictional work: 1 of a stationary contact.
    """
    test, grid, history = contact.test, contact.bearing.grid, contact.fresh
    settings = settings_of_test(test, wear)
    maps = accumulate_wear({TEST: history}, grid, settings, resimulate=contact)
    area = grid.area[0]
    depth = maps.wear_depth.values[0, 0, 0]
    pressure, slip = history.pressure.values[0, :, 0], history.slip.values[0, :, 0]
    work, across = frictional_work(pressure, slip)
    total = float(np.sum(work * area))
    volume = damage_volume(depth, area)
    mark = damage_area(maps.damage_depth.values[0, 0, 0], maps.max_pressure.values[0, 0, 0], area)
    loaded = np.sum((pressure > 0.0).mean(axis=0) * work * area)
    rate = volume / test.million_cycles
    touching = history["contact_area"].values[0, :, 0]
    values = {
        "wear_rate": rate,
        "mass_rate": rate * wear.density_mg_per_mm3,
        "test_wear_factor": rate / 1e6 / total * MM3_PER_N_M_FROM_MM3_PER_N_MM,
        "max_wear_depth": float(depth.max()),
        "mark_area": mark,
        "mark_diameter": math.sqrt(4.0 * mark / math.pi),
        "max_pressure": float(maps.max_pressure.values.max()),
        "mean_pressure": float(np.mean(history["load"].values[0] / touching)),
        "cross_shear": float(np.sum(across * area) / total),
        "sliding": total / float(np.mean(history["load"].values)),
        "loaded_part": float(loaded / total),
        "border_pressure": border_pressure(maps.max_pressure.values[0, 0, 0], grid.valid[0]),
    }
    return TestWear(maps, values, grid)
