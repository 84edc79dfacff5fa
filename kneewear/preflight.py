"""Page that shows the inputs of a study before it is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from kneewear.errors import InputDataError
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant_sources import build_implant, extract_bearings, window_axis
from kneewear.geometry.meshes import TriangleMesh
from kneewear.io.documents import save_figures, save_text
from kneewear.io.study_inputs import load_activity, load_shapes
from kneewear.report.bodies import APART, Pose, draw_preflight, poses_of
from kneewear.report.maps import draw_windows
from kneewear.report.page import render_page
from kneewear.settings.base import Study
from kneewear.settings.static import StaticStudy

# Elements per side: enough for pictures.
ELEMENTS = (60, 45)


def write_preflight(
    study: Study, root: str | Path, notes: Sequence[str] = ()
) -> tuple[Path, tuple[str, ...]]:
    """Draw implant, axes, first contact, thickness and motion of a study whose files were checked.

    `notes` are the warnings of that check. Returns the page, `results/<study>/inputs/index.html`,
    with the figures in the same folder, and warnings about poses off the insert. Raises
    InputDataError when the implant cannot be built from its files, or an activity from its curves.
    """
    shapes = load_shapes(study, root)
    folder = Path(root) / "results" / study.study / "inputs"
    folder.mkdir(parents=True, exist_ok=True)
    windows = _windows(study, shapes)
    save_figures(windows, folder)
    try:
        implant, record = build_implant(study.implant, **shapes)
    except InputDataError as error:
        for name in windows:
            error.add_note(f"Look at {folder / name}.png")
        raise
    grid = build_grid(implant, *ELEMENTS)
    activities = [load_activity(study, name, root) for name in study.simulated_activities()]
    poses = [pose for one in activities for pose in poses_of(one)] or _static_poses(study)
    figures, table = draw_preflight(implant, grid, poses, activities)
    save_figures(figures, folder)
    worst = max(fit.row()["max_mm"] for fit in record.fit_quality)
    apart = table.loc[table["touches"] == APART, "pose"]
    warnings = [f"Pose '{pose}': {APART}. Check zero and signs of the motion." for pose in apart]
    remarks = [
        *warnings,
        *notes,
        f"Surfaces deviate from their source by up to {1e3 * worst:.2g} µm.",
        *(f"{one.name}: {note}" for one in activities for note in one.notes),
    ]
    pictures = {name: (folder / f"{name}.svg").read_bytes() for name in windows | figures}
    page = render_page(
        "preflight",
        study.model_dump(mode="json"),
        {"first_contacts": table},
        pictures,
        notes=remarks,
    )
    save_text(page, folder / "index.html")
    return folder / "index.html", tuple(warnings)


def _windows(study: Study, shapes: Mapping[str, TriangleMesh]) -> dict[str, Figure]:
    """Figure of the bearings extracted from meshes; none of other implants."""
    meshes = study.implant.meshes
    if study.implant.source != "meshes" or meshes is None:
        return {}
    parts = extract_bearings(study.implant, shapes["insert_mesh"], shapes["femoral_mesh"])
    insert, femoral = parts["insert"].sheet, parts["femoral"].sheet
    return {"windows": draw_windows(meshes, insert, femoral, window_axis(meshes, femoral))}


def _static_poses(study: Study) -> list[Pose]:
    """Initial poses of a static study."""
    if not isinstance(study, StaticStudy):
        return []
    static = study.static
    turn = static.tibial_external_rotation_deg
    return [
        Pose(
            f"{flexion:g} deg, {posterior:g} mm posterior",
            np.radians([0.0, turn, -flexion]),
            np.array([posterior, 0.0, static.medial_mm]),
        )
        for flexion in static.flexion_deg
        for posterior in static.posterior_mm
    ]
