"""Page that shows the inputs of a study before it is run."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kneewear import __version__, default_settings_file
from kneewear.activity.activity import Activity
from kneewear.activity.directions import describe_activity, direction_lines
from kneewear.activity.settings import (
    FileActivity,
    IsoMotion,
    ParametricActivity,
    parse_activity,
    prescribes_motion,
)
from kneewear.base.cases import centre_case
from kneewear.base.findings import Reported, Verdict
from kneewear.errors import ConvergenceError, Finding, InputDataError
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant_sources import extract_bearings, window_axis
from kneewear.geometry.knee import KneeModel, build_distance_tables
from kneewear.geometry.meshes import TriangleMesh
from kneewear.geometry.settings import MeshImplant
from kneewear.io.documents import save_figures, save_table, save_text
from kneewear.mechanics.coordinates import coordinate_numbers
from kneewear.motion.cases import simulate_cases
from kneewear.motion.dwell_pose import (
    DwellPose,
    above_the_middle,
    find_dwell_pose,
    refer_to_dwell_pose,
)
from kneewear.motion.evaluation import build_pairs, exact_distances
from kneewear.motion.placement import Placement
from kneewear.motion.press import NAMED, Pressed
from kneewear.motion.sign_check import check_signs
from kneewear.motion.signs import SignTrial, doubtful_signs
from kneewear.report.bodies import APART, Pose, draw_preflight, draw_signs, poses_of
from kneewear.report.derived import Tables
from kneewear.report.maps import draw_windows
from kneewear.report.page import render_page
from kneewear.report.regions import tabulate_heights
from kneewear.report.specification import load_page
from kneewear.report.summary import build_summary, read_verdict
from kneewear.report.understood import (
    activity_tables,
    tabulate_columns,
    understood_shapes,
    unused_columns,
)
from kneewear.report.understood_figures import draw_directions, draw_shapes
from kneewear.study.files import (
    activity_files,
    count_cases,
    design_studies,
    directions_are_stated,
    given_poses,
    load_shapes,
    mesh_files,
)
from kneewear.study.settings import read_settings
from kneewear.study.study import Study
from kneewear.study.trials import build_trial

# Enough for the signs of a motion.
SIGN_ELEMENTS = (24, 18)
# Curves of a built-in activity that are its motion.
_MOTION_CURVES = ("flexion_deg", "tibial_external_rotation_deg", "femur_posterior_mm")


class Preflight(NamedTuple):
    """The page of the inputs, and what was found of each motion on the bearing."""

    page: Path
    placements: tuple[Placement, ...]
    warnings: tuple[Finding, ...]  # of poses, signs and distances
    verdict: Verdict
    understood: tuple[str, ...]  # in short


def write_preflights(study: Study, root: str | Path, notes: Sequence[Finding]) -> list[Preflight]:
    """Draw implant, axes, first contact, thickness and motion of a study whose files were checked.

    Every motion is tried on the bearing: coordinates that are free are settled before the component
    is drawn. `notes` are the findings of the check of the files. The page is
    `results/<study>/inputs/index.html`, with the figures in the same folder; of several designs
    each has one in a folder `inputs/<design>`. Raises InputDataError when an implant cannot be
    built from its files, or an activity from its curves.
    """
    return [_write_preflight(one, root, folder, notes) for one, folder in _designs(study)]


def _write_preflight(
    study: Study, root: str | Path, folder: Path, notes: Sequence[Finding]
) -> Preflight:
    """Page of one design."""
    folder.mkdir(parents=True, exist_ok=True)
    shapes = load_shapes(study, root)
    windows, tables, _ = _windows(study, shapes)
    save_figures(windows, folder)
    trial = build_trial(study, root, shapes)
    knee, record, listed = trial.knee, trial.record, trial.cases
    implant = knee.implant
    placements = tuple(map(trial.place, trial.activities)) if listed else ()
    tables |= activity_tables(trial.activities)
    files = {name: activity_files(study, name, root) for name in study.simulated_activities()}
    columns = tabulate_columns(study.model_dump(mode="json"), files)
    tables["understood_columns"] = columns
    understood = _understood(study, trial.activities, columns)
    shown: dict[str, Figure] = {"understood_shapes": draw_shapes(implant)}
    shown |= {f"understood_motion_{one.name}": draw_directions(one) for one in trial.activities}
    save_figures(shown, folder)
    settled = [placement.settled for placement in placements] or [None] * len(trial.activities)
    activities = [
        _at_dwell_pose(activity, knee, study, pose)
        for activity, pose in zip(trial.activities, settled, strict=True)
    ]
    poses = _settled_poses(placements, activities) or _press_poses(study, knee, root)
    figures, table = draw_preflight(implant, knee.grid, poses, activities)
    save_figures(figures, folder)
    worst = max(fit.row()["max_mm"] for fit in record.fit_quality)
    apart = table.loc[table["touches"] == APART, "pose"]
    remedy = "Check zero and signs of the motion."
    warnings = [
        Finding("pose.apart", "warn", f"pose '{pose}'", APART, "", remedy) for pose in apart
    ]
    if listed and study.reads_distance_tables:
        tabled = replace(knee, distance_tables=build_distance_tables(implant, study.table))
        exact = exact_distances(tabled, study.simulation).values()
        if exact:
            warnings += [
                *exact,
                *_expected_times(tabled, activities, study, count_cases(study, root)),
            ]
    for one in activities:
        trials = _sign_trials(one, knee, study, root)
        doubt = doubtful_signs(trials, one.name) if trials else None
        if doubt:
            warnings.append(doubt)
            signs = {f"signs_{one.name}": draw_signs(trials)}
            save_figures(signs, folder)
            figures |= signs
    findings = [*warnings, *notes]
    deviation = f"surfaces deviate from their source by up to {1e3 * worst:.2g} µm"
    findings.append(Finding("", "note", study.implant.name, deviation, "", ""))
    findings += [
        Finding("", "note", one.name, note.rstrip("."), "", "")
        for one in activities
        for note in one.notes
    ]
    figures = windows | shown | figures
    pictures = {name: (folder / f"{name}.svg").read_bytes() for name in figures}
    tables["first_contacts"] = table
    if placements:
        tables["placement"] = pd.concat(
            [placement.table for placement in placements], ignore_index=True
        )
        save_table(tables["placement"], folder / "placement.csv")
    verdict = _write_page(study, folder, tables, pictures, findings)
    return Preflight(folder / "index.html", placements, tuple(warnings), verdict, understood)


def _understood(
    study: Study, activities: Sequence[Activity], columns: pd.DataFrame
) -> tuple[str, ...]:
    """Return what was understood of shapes, motion and columns, as lines for a terminal."""
    lines = []
    for shape in understood_shapes(study.model_dump(mode="json")).to_dict("records"):
        lines.append(
            f"{shape['component']} {shape['file']}: {shape['form']}, {shape['unit']}, "
            f"{shape['axes']}; {shape['bearings']}"
        )
    for activity in activities:
        first, *phases = direction_lines(describe_activity(activity))
        lines += [f"{activity.name}: {first}", *(f"  {phase}" for phase in phases)]
    return (*lines, *unused_columns(columns))


def _write_page(
    study: Study,
    folder: Path,
    tables: Mapping[str, pd.DataFrame],
    pictures: Mapping[str, bytes],
    findings: Sequence[Finding],
) -> Verdict:
    """Write the page of what could be drawn, and return its verdict."""
    shown = Tables(tables, study.model_dump(mode="json"))
    page = load_page("preflight")
    summary = build_summary("preflight", page, shown, list(map(Reported, findings)), __version__)
    save_text(render_page(page, summary, shown, pictures), folder / "index.html")
    return read_verdict(summary)


def _sign_trials(
    activity: Activity, knee: KneeModel, study: Study, root: str | Path
) -> tuple[SignTrial, ...]:
    """Trials of the signs of a motion; none of the motion of the default study, or of forces."""
    settings = study.simulated_activities()[activity.name]
    if isinstance(settings, ParametricActivity):
        if _is_built_in(settings):
            return ()
    elif not prescribes_motion(settings):
        return ()
    # Directions show on few elements.
    coarse = replace(knee, grid=build_grid(knee.implant, *SIGN_ELEMENTS))
    exact = study.simulation.model_copy(update={"distance": "exact"})
    motion = settings.motion if isinstance(settings, FileActivity) else None
    reference = motion.reference_posterior_mm if isinstance(motion, IsoMotion) else None
    stated = directions_are_stated(study, activity.name, root)
    case = study.preflight_cases()[0]
    return check_signs(coarse, activity, case, exact, reference, stated)


def _is_built_in(settings: ParametricActivity) -> bool:
    """True if the motion is one of the default study, whose signs a test tries."""
    blocks = read_settings(default_settings_file())["activities"].values()
    return any(
        all(getattr(settings, key) == getattr(own, key) for key in _MOTION_CURVES)
        for own in map(parse_activity, blocks)
        if not isinstance(own, FileActivity)
    )


def _expected_times(
    knee: KneeModel, activities: Sequence[Activity], study: Study, count: int
) -> list[Finding]:
    """Time of all cases with exact distances, from one case by each analysis; none if it fails."""
    cases = study.preflight_cases()
    case = cases[centre_case(cases)]
    coarse = replace(knee, grid=build_grid(knee.implant, *SIGN_ELEMENTS))
    fine, other = study.grid, study.coarse_grid
    knee = replace(
        knee,
        grid=build_grid(knee.implant, fine.rows, fine.columns),
        coarse_grid=build_grid(knee.implant, other.rows, other.columns),
    )
    found = {}
    for analysis in dict.fromkeys((study.simulation.analysis, "quasi_static")):
        chosen = {"analysis": analysis, "distance": "exact"}
        settings = study.simulation.model_copy(update=chosen)
        try:
            with suppress(ConvergenceError):  # loads or compiles the kernels
                simulate_cases(coarse, activities[0], [case], settings, holding_level=logging.INFO)
            start = time.perf_counter()
            for activity in activities:
                simulate_cases(knee, activity, [case], settings, holding_level=logging.INFO)
            found[analysis] = time.perf_counter() - start
        except ConvergenceError:
            return []
    remedy = "Measured on one case; samples of uncertain constants and figures come on top."
    return [
        Finding(
            "study.time",
            "warn",
            f"simulation.analysis: {name}",
            f"{count} cases take about {count * each / 60:.2g} min of one core, {each:.2g} s each",
            "",
            remedy,
        )
        for name, each in found.items()
    ]


def _at_dwell_pose(
    activity: Activity, knee: KneeModel, study: Study, settled: DwellPose | None
) -> Activity:
    """The activity at its dwell pose, or as given where there is no dwell pose.

    The dwell pose of the trial is taken where it settled; its frames leave out a part of a degree
    at the ends of the flexion.
    """
    try:
        return refer_to_dwell_pose(activity, knee, study.simulation, settled)
    except ConvergenceError:
        return activity


def _settled_poses(placements: Sequence[Placement], activities: Sequence[Activity]) -> list[Pose]:
    """Poses of the motions, settled where there is an equilibrium."""
    poses = []
    for placement, activity in zip(placements, activities, strict=False):
        settled = zip(placement.percent, placement.poses, strict=True)
        poses += [
            Pose(f"{activity.name}, {percent:.0f} %", pose[3:], pose[:3])
            for percent, pose in settled
        ] or poses_of(activity)
    return poses


def remove_page(study: Study) -> None:
    """Remove the pages of earlier settings, which would be taken for those of the present ones."""
    for _, folder in _designs(study):
        (folder / "index.html").unlink(missing_ok=True)


def note_windows(error: InputDataError, study: Study, root: str | Path) -> None:
    """Write a page of the windows over the meshes that a fault is about, and name it in the fault.

    Regions can be drawn on it.
    """
    for one, folder in _designs(study):
        files = mesh_files(one, root).values()
        if not any(Path(file).name in str(error) for file in files):
            continue
        with suppress(InputDataError):
            windows, tables, extent = _windows(one, load_shapes(one, root))
            folder.mkdir(parents=True, exist_ok=True)
            save_figures(windows, folder)
            if windows:
                pictures = {"windows": (folder / "windows.svg").read_bytes()}
                _write_page(one, folder, tables, pictures, [error.finding])
                error.add_note(f"{extent} Look at {folder / 'index.html'}")


def _designs(study: Study) -> list[tuple[Study, Path]]:
    """Study of each design, and the folder of its page; none of a model without an implant."""
    if not study.has_knee:
        return []
    folder = Path("results", study.study, "inputs")
    several = design_studies(study)
    return [(one, folder / (name if len(several) > 1 else "")) for name, one in several.items()]


def _windows(
    study: Study, shapes: Mapping[str, TriangleMesh]
) -> tuple[dict[str, Figure], dict[str, pd.DataFrame], str]:
    """Figure, heights and extent of the bearings extracted from meshes; none of other implants."""
    if not isinstance(study.implant, MeshImplant):
        return {}, {}, ""
    meshes = study.implant.meshes
    parts = extract_bearings(study.implant, shapes["insert_mesh"], shapes["femoral_mesh"])
    insert, femoral = parts["insert"].sheet, parts["femoral"].sheet
    (left, _, low), (right, _, high) = insert.vertices.min(axis=0), insert.vertices.max(axis=0)
    extent = (
        f"In the axes of the windows the insert extends over x {left:.0f} to {right:.0f} and z "
        f"{low:.0f} to {high:.0f} mm, the femoral component over z "
        f"{femoral.vertices[:, 2].min():.0f} to {femoral.vertices[:, 2].max():.0f} mm."
    )
    figure = draw_windows(meshes, insert, femoral, window_axis(meshes, femoral))
    return {"windows": figure}, {"insert_heights": tabulate_heights(insert)}, extent


def _press_poses(study: Study, knee: KneeModel, root: str | Path) -> list[Pose]:
    """Given or first poses of a study of model press, one for each flexion and position."""
    given = given_poses(study, root)
    if given is not None:
        return [Pose(f"pose {n}", pose[3:], pose[:3]) for n, pose in enumerate(given, 1)]
    poses: dict[str, Pose] = {}
    for one in study.pressed_studies():
        press = one.press
        name = f"{press.flexion_deg:g} deg"
        if press.posterior_mm is not None:
            name += f", {press.posterior_mm:g} mm posterior"
        if name not in poses:
            pose = _first_pose(one, knee)
            poses[name] = Pose(name, pose[3:], pose[:3])
    return list(poses.values())


def _first_pose(study: Pressed, knee: KneeModel) -> NDArray[np.float64]:
    """Pose with the condyles above the middle of the plateaus; or the one that is given.

    The latter with the free coordinates of the dwell pose, if there is one.
    """
    press = study.press
    flexion, turn = np.radians([press.flexion_deg, press.tibial_external_rotation_deg])
    if press.posterior_mm is None or press.medial_mm is None:
        exact = study.simulation.model_copy(update={"distance": "exact"})
        return above_the_middle(build_pairs(knee, exact), flexion, turn)
    pose = np.array([press.posterior_mm, 0.0, press.medial_mm, 0.0, turn, -flexion])
    with suppress(ConvergenceError):
        free = coordinate_numbers([NAMED[name] for name in press.free])
        pose[free] = find_dwell_pose(knee, np.array([flexion]), study.simulation).at(flexion)[free]
    return pose
