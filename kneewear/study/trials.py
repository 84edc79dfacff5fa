"""Bearing of a study on few elements, on which motions are tried before a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.base.cases import Case, shallowest_case
from kneewear.geometry.fit_quality import GeometryRecord
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant_sources import build_implant, extract_bearings
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.meshes import TriangleMesh
from kneewear.geometry.settings import MeshImplant
from kneewear.geometry.table import tabulate_surface
from kneewear.motion.placement import Placement, check_placement
from kneewear.study.files import load_activity
from kneewear.study.study import Study

# Elements per side: enough for pictures and for the placement of a motion.
ELEMENTS = (60, 45)


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
    sheets: Mapping[tuple[str, str], NDArray[np.float64]] | None

    def place(self, activity: Activity) -> Placement:
        """Check the placement of a motion on the bearing (`check_placement`)."""
        return check_placement(
            self.knee,
            activity,
            self.cases,
            self.study.simulation,
            self.record.fit_quality,
            self.sheets,
        )


def build_trial(study: Study, root: str | Path, shapes: Mapping[str, TriangleMesh]) -> Trial:
    """Build the bearing of a study from its shapes, and its activities from their curves.

    InputDataError when an implant cannot be built from its files, or an activity from its curves.
    """
    implant, record = build_implant(study.implant, **shapes)
    nodes = (study.table.u_points, study.table.v_points)
    samples = {side: tabulate_surface(patch, *nodes) for side, patch in implant.femoral.items()}
    sheets = None
    if isinstance(study.implant, MeshImplant):
        parts = extract_bearings(study.implant, shapes["insert_mesh"], shapes["femoral_mesh"])
        regions = study.implant.meshes.insert_region_mm.given
        sheets = {
            (name, side): part.sheet.vertices
            for name, part in parts.items()
            for side in study.implant.sides
            # An outline is drawn where the bearing ends, whatever the mesh does beyond it.
            if name == "femoral" or regions[side].outline is None
        }
    listed = study.preflight_cases()
    heaviest = [max(listed, key=lambda case: case.body_mass)] if listed else []
    return Trial(
        study,
        KneeModel(implant, build_grid(implant, *ELEMENTS), samples),
        record,
        tuple(load_activity(study, name, root) for name in study.simulated_activities()),
        (*heaviest, shallowest_case(listed)) if listed else (),
        sheets,
    )
