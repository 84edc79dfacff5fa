"""Bearing of a study on few elements, on which motions are tried: the verdict of check and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import xarray as xr

from kneewear.activity.activity import Activity
from kneewear.base.cases import Case, shallowest_case
from kneewear.geometry.fit_quality import GeometryRecord
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant_sources import build_implant, extract_bearings
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.meshes import TriangleMesh
from kneewear.geometry.settings import ImplantSettings, MeshImplant
from kneewear.geometry.table import tabulate_surface
from kneewear.motion.bearing_ends import Sheets, Simulate
from kneewear.motion.cases import simulate_cases
from kneewear.motion.placement import Placement, check_placement
from kneewear.motion.settings import SimulationSettings
from kneewear.study.files import load_activity
from kneewear.study.models import model_of, remedy_of_conforming
from kneewear.study.study import Study

# Elements per side: enough for pictures and for the placement of a motion.
ELEMENTS = (60, 45)
# Elements on which a motion is judged again whose contact ends at a border: contact at an edge of
# the condyle is narrower than one element in `ELEMENTS`. The share of the force there was 5.0 %
# in (60, 45), 0.25 % in (60, 64), 0.20 % in (60, 90) and 0.15 % in (120, 90) on subject DM.
_BORDER_ELEMENTS = (60, 90)


@dataclass(frozen=True)
class Trial:
    """Knee on few elements with what a trial needs of its study.

    `cases` are those in which contact is largest and the insert thinnest, none of a study whose
    cases have no activities; `sheets` the vertices of the bearings that were cut out of meshes.
    """

    study: Study
    knee: KneeModel
    record: GeometryRecord
    activities: tuple[Activity, ...]
    cases: tuple[Case, ...]
    sheets: Sheets | None

    def place(self, activity: Activity, advises: bool = True) -> Placement:
        """Check the placement of a motion on the bearing (`check_placement`).

        Unless it `advises`, smaller travels are not tried, which takes a part of the time.
        """
        return _place(
            self.knee,
            activity,
            self.cases,
            self.study.simulation,
            self.record,
            self.sheets,
            model_of(self.study).simulate_trial(self.study, simulate_cases),
            advises,
        )

    def holding_medial_lateral(self) -> Trial:
        """Return the trial with the medial-lateral position held."""
        held = self.study.simulation.model_copy(update={"medial_lateral": "held"})
        return replace(self, study=self.study.model_copy(update={"simulation": held}))


def build_trial(study: Study, root: str | Path, shapes: Mapping[str, TriangleMesh]) -> Trial:
    """Build the bearing of a study from its shapes, and its activities from their curves.

    InputDataError when an implant cannot be built from its files, or an activity from its curves.
    """
    implant, record = build_implant(study.implant, **shapes)
    nodes = (study.table.u_points, study.table.v_points)
    samples = {side: tabulate_surface(patch, *nodes) for side, patch in implant.femoral.items()}
    return Trial(
        study,
        KneeModel(implant, build_grid(implant, *ELEMENTS), samples),
        record,
        tuple(load_activity(study, name, root) for name in study.simulated_activities()),
        tried_cases(study.preflight_cases()),
        bearing_sheets(study.implant, shapes),
    )


def tried_cases(listed: Sequence[Case]) -> tuple[Case, ...]:
    """Return the heaviest case and the one that penetrates least, once if it is one; or none."""
    if not listed:
        return ()
    heaviest, shallowest = max(listed, key=lambda case: case.body_mass), shallowest_case(listed)
    return (heaviest,) if shallowest == heaviest else (heaviest, shallowest)


def bearing_sheets(implant: ImplantSettings, shapes: Mapping[str, TriangleMesh]) -> Sheets | None:
    """Vertices of bearings that were cut out of meshes, mm, where these may go on beyond windows.

    None of other implants, and of an insert with an outline: it is drawn where the bearing ends,
    whatever the mesh does beyond it.
    """
    if not isinstance(implant, MeshImplant):
        return None
    parts = extract_bearings(implant, shapes["insert_mesh"], shapes["femoral_mesh"])
    regions = implant.meshes.insert_region_mm.given
    return {
        (name, side): part.sheet.vertices
        for name, part in parts.items()
        for side in implant.sides
        if name == "femoral" or regions[side].outline is None
    }


def try_motion(
    implant: ImplantSettings,
    shapes: Mapping[str, TriangleMesh],
    knee: KneeModel,
    record: GeometryRecord,
    activity: Activity,
    cases: Sequence[Case],
    settings: SimulationSettings,
    study: Study | None = None,
) -> Placement:
    """Check the placement of a motion on a knee that was built, as `Trial.place` does.

    Parameters
    ----------
    implant : ImplantSettings
        Settings of the implant.
    shapes : mapping of str to TriangleMesh
        Its meshes as read from files; none of others.
    knee : KneeModel
        The knee on elements of any number.
    record : GeometryRecord
        Fit of its surfaces.
    activity : Activity
        The motion.
    cases : sequence of Case
        Those of `tried_cases`.
    settings : SimulationSettings
        Those of the study.
    study : Study, optional
        The study, where its model computes the contact of tried cases itself.

    Returns
    -------
    Placement
    """
    few = replace(knee, grid=build_grid(knee.implant, *ELEMENTS))
    sheets = bearing_sheets(implant, shapes)
    simulate = model_of(study).simulate_trial(study, simulate_cases) if study else simulate_cases
    return _place(few, activity, cases, settings, record, sheets, simulate)


def _once(simulate: Simulate) -> Simulate:
    """Simulation that returns the last history again for the same knee, motion and cases."""
    last: list[tuple[KneeModel, object, xr.Dataset]] = []

    def simulated(
        knee: KneeModel,
        activity: Activity,
        cases: Sequence[Case],
        settings: SimulationSettings,
        **options: Any,
    ) -> xr.Dataset:
        curves = (activity.percent, activity.translation, activity.rotation, activity.load)
        motion = tuple(curve.tobytes() for curve in curves)
        asked = (motion, tuple(cases), settings, options)
        if not last or last[0][0] is not knee or last[0][1] != asked:
            last[:] = [(knee, asked, simulate(knee, activity, cases, settings, **options))]
        return last[0][2]

    return simulated


def _place(
    knee: KneeModel,
    activity: Activity,
    cases: Sequence[Case],
    settings: SimulationSettings,
    record: GeometryRecord,
    sheets: Sheets | None,
    simulate: Simulate = simulate_cases,
    advises: bool = True,
) -> Placement:
    """Placement on the elements of a trial; on finer ones where contact ends at a border."""
    once = _once(simulate)
    if_moving = remedy_of_conforming() if simulate is simulate_cases else ""

    def on(tried: KneeModel, advises: bool) -> Placement:
        fit = record.fit_quality
        return check_placement(
            tried, activity, cases, settings, fit, sheets, once, advises, if_moving
        )

    coarse = on(knee, advises=False)
    if coarse.at_border:
        return on(replace(knee, grid=build_grid(knee.implant, *_BORDER_ELEMENTS)), advises)
    return on(knee, advises) if advises and coarse.verdict != "pass" else coarse
