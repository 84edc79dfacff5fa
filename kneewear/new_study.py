"""A study of an implant from its files: what they hold is recognised, and written as settings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear import default_settings_file, default_study
from kneewear.activity.sources import build_activity
from kneewear.errors import InputDataError, OutputFileError
from kneewear.findings import Finding, Severity
from kneewear.geometry import mesh_checks
from kneewear.geometry.extraction import extract_condyles, extract_plateaus
from kneewear.geometry.fit_search import FittingChoice, choose_fit
from kneewear.geometry.meshes import (
    MM_PER_UNIT,
    TriangleMesh,
    joined,
    to_knee_axes,
    within_outline,
)
from kneewear.geometry.recognition import (
    Orientation,
    orient_implant,
    outward,
    recognise_form,
    recognise_unit,
    refuse_single_plateau,
    refuse_tray,
    refuse_turned,
)
from kneewear.geometry.segmentation import (
    CondyleRegion,
    PlateauRegion,
    find_post,
    find_underside,
    segment_condyles,
    segment_plateaus,
)
from kneewear.io.curves import read_columns
from kneewear.io.documents import save_table, save_text
from kneewear.io.mesh_formats import save_ply
from kneewear.io.shapes import load_shape
from kneewear.mechanics.coordinates import LEVER
from kneewear.mechanics.rotations import body_three_123, clinical_angles
from kneewear.settings.files import read_settings_file
from kneewear.settings.types import THICKNESS, is_file_name
from kneewear.sides import SIDES

Array = NDArray[np.float64]

# Assumed of a sheet that does not show its underside: a usual least thickness (from memory), mm.
_ASSUMED_THICKNESS = 6.0
# A frame whose origin is this far below the bearing may have it on the underside, mm.
_UNDERSIDE_BELOW = (3.0, 25.0)
# Growths of a plateau onto its rounded rims that are tried, mm: contact that reaches a rim goes on.
_GROWTHS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
# Sagittal radius of plateau over that of condyle below which the bearing decides the motion.
_CONFORMING = 1.45
# Half-lengths of the strip (x, height, z) in which a sagittal radius is measured, mm; least points.
_SAGITTAL, _FEWEST = (9.0, 4.0, 2.0), 10
# Half of the width of contact, over which a bearing must not end, mm.
_WIDE = 12.0
# A bearing whose lowest place is nearer than this to its end has its seat in the middle, mm.
_SLIDES = 2.0
# Distance of the middle between the plateaus from z = 0 beyond which a load line is stated, mm.
_OFF_MIDDLE = 0.5
# Part of its range to which a load rises where a stride begins, and the shortest stride, s.
_RISEN, _SHORTEST_STRIDE_S = 0.05, 0.4
# Usual penetration of a condyle, mm.
_USUAL_PENETRATION = 0.1
# One micrometre of distance changes the force by about one percent (docs/how-to/own-implant.md).
_PERCENT_PER_UM = 1.0
# Error in force above which a fit is doubtful, percent.
_DOUBTFUL_PERCENT = 3.0
_KINDS = {
    "percent": ("percent", "pct", "cycle"),
    "time_s": ("time",),
    "flexion": ("flex",),
    "varus": ("varus", "adduction", "valgus"),
    "rotation": ("rotation", "internal", "external"),
    "anterior_posterior": ("anterior", "posterior", "ap_"),
    "superior_inferior": ("superior", "inferior", "axial"),
    "medial_lateral": ("lateral", "medial", "ml_"),
}


@dataclass
class RecognisedShapes:
    """Insert and femoral component as recognised, and what was guessed.

    Meshes of `parts` are in mm and the axes of a right knee; `files`, `unit`, `axes` and `forms`
    are those of the settings.
    """

    knee: str
    files: dict[str, str]
    unit: str
    axes: dict[str, str]
    forms: dict[str, str]
    parts: dict[str, TriangleMesh]
    findings: list[Finding] = field(default_factory=list)

    def note(
        self, check: str, where: str, found: str, remedy: str = "", doubt: bool = False
    ) -> None:
        """Add what was guessed, with its evidence."""
        severity: Severity = "warn" if doubt else "note"
        self.findings.append(Finding(f"new.{check}", severity, where, found, "", remedy))

    @property
    def sheets(self) -> dict[str, TriangleMesh]:
        """Bearing sheets."""
        cutters = {"insert": extract_plateaus, "femoral": extract_condyles}
        return {
            name: cutters[name](part, self.files[name]).sheet
            if self.forms[name] == "solid"
            else part
            for name, part in self.parts.items()
        }


@dataclass(frozen=True)
class NewStudy:
    """Settings of a new study, and the findings of the guesses that it rests on."""

    settings: Path
    findings: tuple[Finding, ...]
    settles: bool  # whether position and rotation are free


def create_study(
    name: str,
    insert: Sequence[str],
    femoral: Sequence[str],
    *,
    motion: str | None = None,
    load: str | None = None,
    knee: str | None = None,
    thickness: float | None = None,
    grade: str | None = None,
) -> NewStudy:
    """Write the settings `NAME.yaml` of an implant, in the working directory.

    Parameters
    ----------
    name : str
        Name of the study and of its files.
    insert : sequence of str
        Files of the insert; several are one body.
    femoral : sequence of str
        Files of the femoral component; several are one body.
    motion, load : str, optional
        Curves of one cycle; without them the built-in gait is written as `NAME_gait.csv`.
    knee : {"right", "left"}, optional
        Side; without it that which asymmetric shapes show, or the right one.
    thickness : float, optional
        Least thickness of the insert, mm, where its file has no underside.
    grade : str, optional
        Grade of polyethylene, a name of `grades`; without it the conventional one is assumed.

    Returns
    -------
    NewStudy

    Raises
    ------
    InputDataError
        When the name is none of a file, a file is named twice, cannot be read, is no component of a
        knee, or shows no bearing.
    OutputFileError
        When the settings exist.
    """
    if not is_file_name(name):
        raise InputDataError(
            "NAME", f"'{name}'", "letters, digits, _ and -", "Choose another name."
        )
    for part, files in (("insert", insert), ("femoral", femoral)):
        twice = [one for number, one in enumerate(files) if one in files[:number]]
        if twice:
            found, remedy = f"{twice[0]} twice", "Name it once."
            raise InputDataError(f"--{part}", found, "each file once", remedy)
    file = Path(f"{name}.yaml")
    if file.exists():
        raise OutputFileError(file, "file exists", "Choose another name, or remove it.")
    if grade is not None and grade not in grades():
        found, remedy = f"grade '{grade}'", "Name one of them, and correct its constants later."
        raise InputDataError("--grade", found, f"one of {', '.join(grades())}", remedy)
    if load is not None and motion is None:
        raise InputDataError(load, "a load without a motion", "both", "Add --motion FILE.")
    if thickness is not None and THICKNESS.severity(thickness) == "refuse":
        remedy = "Give the least thickness in mm."
        raise InputDataError("--thickness", f"{thickness:g} mm", THICKNESS.possible, remedy)
    shapes = recognise_shapes(name, insert, femoral, knee)
    if thickness is not None and shapes.forms["insert"] == "solid":
        found, remedy = f"{thickness:g} mm for a solid insert", "Leave it out."
        raise InputDataError("--thickness", found, "none: its file has the underside", remedy)
    sheets = shapes.sheets
    grown = segment_plateaus(sheets["insert"], _GROWTHS)
    condyles, _ = segment_condyles(sheets["femoral"])
    chosen = choose_fit(sheets["insert"], sheets["femoral"], grown, condyles)
    plateaus = chosen.plateaus
    _note_regions(shapes, plateaus, chosen)
    underside, least = _underside(shapes, sheets["insert"], grown[0], thickness)
    dish = _sagittal_dish(shapes, sheets, plateaus, chosen.condyles)
    conforms = bool(dish.ratio < _CONFORMING)
    activity = _activity(name, shapes, motion, load, dish)
    material = _material(shapes, grade)
    text = _settings_text(
        name, shapes, plateaus, chosen, (underside, least), activity, material, dish
    )
    save_text(text, file)
    return NewStudy(file, tuple(shapes.findings), conforms)


def hold_medial_lateral(settings: Path) -> Finding:
    """Hold the medial-lateral position in settings that `create_study` wrote."""
    text = settings.read_text(encoding="utf-8")
    save_text(text.replace("  medial_lateral: solved ", "  medial_lateral: held   "), settings)
    return Finding(
        "new.medial_lateral", "warn", str(settings),
        "medial-lateral position held at the seat: no equilibrium was found with it free", "",
        "Look at the places of contact at borders: an edge of the condyle may press on the insert.",
    )  # fmt: skip


def recognise_shapes(
    name: str, insert: Sequence[str], femoral: Sequence[str], knee: str | None = None
) -> RecognisedShapes:
    """Unit, form, axes and side of an implant's files; copies are written where they differ.

    One block of settings has one unit and one pair of axes: several files of a component, and files
    with different units or axes, become `NAME_insert.ply` and `NAME_femoral.ply`.
    """
    named = {"insert": list(insert), "femoral": list(femoral)}
    findings: list[Finding] = []
    meshes: dict[str, TriangleMesh] = {}
    units: dict[str, str] = {}
    forms: dict[str, str] = {}
    for part, files in named.items():
        source = " + ".join(files)
        mesh = joined([load_shape(one) for one in files]) if files[1:] else load_shape(files[0])
        if mesh.is_cloud:
            found, expected = "a cloud of points", "triangles, which show where the outside is"
            remedy = "Mesh the points, or copy config/example_meshes.yaml and state axes yourself."
            raise InputDataError(source, found, expected, remedy, check="new.cloud")
        units[part], finding = recognise_unit(mesh, source)
        mesh = TriangleMesh(mesh.vertices * MM_PER_UNIT[units[part]], mesh.faces)
        mesh, turned = outward(mesh, source)
        if part == "insert":
            refuse_tray(mesh, source)
            refuse_single_plateau(mesh, source)
            refuse_turned(mesh, source)
        forms[part], form = recognise_form(mesh, source)
        findings += [finding, *turned, form]
        meshes[part] = mesh
    orientations = dict(
        zip(named, orient_implant(meshes["insert"], meshes["femoral"]), strict=True)
    )
    side, evidence = _side(meshes, orientations)
    shapes = RecognisedShapes(knee or side or "right", {}, "", {}, forms, {}, findings)
    _note_side(shapes, knee, side, evidence)
    axes = {part: one.words(shapes.knee) for part, one in orientations.items()}
    for part, words in axes.items():
        directions = ", ".join(f"+{axis} {word}" for axis, word in words.items())
        shapes.note("axes", " + ".join(named[part]), f"axes {directions}")
    shapes.parts = {
        part: to_knee_axes(mesh, "mm", axes[part], shapes.knee) for part, mesh in meshes.items()
    }
    mesh_checks.check_insert(shapes.parts["insert"], " + ".join(insert))
    mesh_checks.check_femoral(shapes.parts["femoral"], " + ".join(femoral))
    together = units["insert"] == units["femoral"] and axes["insert"] == axes["femoral"]
    single = len(insert) == len(femoral) == 1
    if together and single and not any(one.check == "new.normals" for one in findings):
        shapes.unit, shapes.axes = units["insert"], axes["insert"]
        shapes.files = {"insert": insert[0], "femoral": femoral[0]}
        return shapes
    shapes.unit, shapes.axes = "mm", Orientation(np.eye(3)).words(shapes.knee)
    for part, mesh in meshes.items():
        copy = Path(f"{name}_{part}.ply")
        save_ply(mesh.vertices @ orientations[part].matrix.T, mesh.faces, copy)
        shapes.files[part] = str(copy)
        shapes.note("copy", str(copy), f"{' + '.join(named[part])} in mm and common axes")
    return shapes


def _side(
    meshes: dict[str, TriangleMesh], orientations: dict[str, Orientation]
) -> tuple[str | None, str]:
    """Side that asymmetric shapes show, and how; None of symmetric ones."""
    checks = {"insert": mesh_checks.check_insert_side, "femoral": mesh_checks.check_femoral_side}
    possible = {}
    evidence = ""
    for knee in ("right", "left"):
        possible[knee] = True
        for part, check in checks.items():
            words = orientations[part].words(knee)
            try:
                check(to_knee_axes(meshes[part], "mm", words, knee), knee, part)
            except InputDataError as error:
                possible[knee] = False
                evidence = error.finding.found
    if possible["right"] == possible["left"]:
        return None, ""
    return ("right" if possible["right"] else "left"), evidence


def _note_side(
    shapes: RecognisedShapes, given: str | None, shown: str | None, evidence: str
) -> None:
    if given and shown and given != shown:
        shapes.note("side", "--knee", f"{given} was given; of it the shapes would have {evidence}",
                    "Check --knee.", doubt=True)  # fmt: skip
    elif given:
        shapes.note("side", "--knee", f"{given} knee, as given")
    elif shown:
        shapes.note("side", "shapes", f"{shown} knee: of the other one they would have {evidence}")
    else:
        found = "right knee assumed: the shapes are symmetric, and fit both knees"
        shapes.note("side", "shapes", found, "Name the side with --knee left if it is the left.",
                    doubt=True)  # fmt: skip


def _note_regions(
    shapes: RecognisedShapes, plateaus: Mapping[str, PlateauRegion], chosen: FittingChoice
) -> None:
    for side, region in plateaus.items():
        (x0, x1), (z0, z1) = region.x, region.z
        found = (
            f"{side} plateau of {region.area:.0f} mm2, x {x0:.1f} to {x1:.1f}, z {z0:.1f} to "
            f"{z1:.1f} mm, inclined below 55 deg and bent outward to no radius below 20 mm"
        )
        shapes.note("plateau", shapes.files["insert"], found)
        condyle = chosen.condyles[side]
        (z0, z1), (low, high) = condyle.z, condyle.angle_deg
        found = (
            f"{side} condyle, z {z0:.1f} to {z1:.1f} mm (notch to outer rim), angles {low:.0f} to "
            f"{high:.0f} deg"
        )
        shapes.note("condyle", shapes.files["femoral"], found)
    mean = 1e3 * max(one.mean_mm for one in chosen.qualities)
    wave = 1e3 * max(one.wave_mm for one in chosen.qualities)
    most = max(chosen.qualities, key=lambda one: one.max_mm)
    found = (
        f"surfaces follow the meshes within {mean:.2f} um on average, noise included, and "
        f"{1e3 * most.max_mm:.1f} um at most ({most.side} {most.component}); without noise within "
        f"{wave:.2f} um, about {_PERCENT_PER_UM * wave:.1f} % of the contact force"
    )
    shapes.note("fit", "implant.meshes", found, doubt=wave * _PERCENT_PER_UM > _DOUBTFUL_PERCENT)
    post = find_post(shapes.parts["insert"], plateaus)
    if post is not None:
        height, (x, z) = post
        found = (
            f"a post {height:.0f} mm above the plateaus at x {x:.0f}, z {z:.0f} mm: not simulated, "
            "nor is a cam of the femoral component"
        )
        shapes.note("post", shapes.files["insert"], found, doubt=True)


def _underside(
    shapes: RecognisedShapes,
    sheet: TriangleMesh,
    plateaus: Mapping[str, PlateauRegion],
    thickness: float | None,
) -> tuple[str, float]:
    """Line of settings of the underside, and the least thickness of the bearing, mm."""
    insert = shapes.files["insert"]
    bearing = np.concatenate(
        [within_outline(sheet, one.outline).vertices for one in plateaus.values()]
    )
    lowest = float(bearing[:, 1].min())
    if shapes.forms["insert"] == "solid":
        height, part = find_underside(shapes.parts["insert"])
        if part > 0.3:
            least = round(lowest - height, 2)
            found = f"flat underside at y {height:.2f} mm over {100 * part:.0f} % of the plan"
            shapes.note("underside", insert, f"{found}; least thickness {least:g} mm")
            return f"underside_mm: {height:.3f}", least
        from kneewear.geometry.thickness import thickness_above, underside_of_mesh  # noqa: PLC0415

        local = thickness_above(underside_of_mesh(shapes.parts["insert"]), bearing[::10])
        least = round(float(np.nanmin(local)), 2)
        shapes.note("underside", insert, f"shaped underside; least thickness {least:g} mm")
        return f"underside_mm: null\n    underside_mesh: {insert}", least
    low, high = _UNDERSIDE_BELOW
    if thickness is not None:
        shapes.note("underside", "--thickness", f"least thickness {thickness:g} mm, as given")
        return f"underside_mm: {lowest - thickness:.3f}", thickness
    if low < lowest < high:
        found = (
            f"a sheet without underside, {lowest:.2f} mm above the origin of its file: underside "
            "assumed there"
        )
        shapes.note("underside", insert, found, "Name another least thickness with --thickness.",
                    doubt=True)  # fmt: skip
        return "underside_mm: 0.0", round(lowest, 2)
    found = f"a sheet without underside: least thickness of {_ASSUMED_THICKNESS:g} mm assumed"
    shapes.note("underside", insert, found, "Name it with --thickness.", doubt=True)
    return f"underside_mm: {lowest - _ASSUMED_THICKNESS:.3f}", _ASSUMED_THICKNESS


@dataclass(frozen=True)
class Dish:
    """Sagittal shape of a bearing, mm."""

    ratio: float = np.inf  # radius of the dish over that of the condyle
    condyle: float = 30.0  # radius of the condyle
    room: float = np.inf  # from the lowest place to the nearer end of a bearing
    middle: float = 0.0  # between both plateaus, z in the insert's frame

    def kept_travel(self, travel: float) -> float:
        """Part of a travel, mm to either side, that leaves contact on the bearing, at most 1.

        The contact of a condyle of radius r in a dish of radius R moves by R/(R - r) times the
        condyle's way, and reaches sqrt(2 d r R/(R - r)) beyond its middle at a penetration d.
        """
        gain = self.ratio / (self.ratio - 1.0) if np.isfinite(self.ratio) else 1.0
        half = np.sqrt(2.0 * _USUAL_PENETRATION * self.condyle * gain)
        return float(np.clip((self.room - half) / (gain * travel), 0.2, 1.0))


def sagittal_arc(points: Array) -> tuple[float, float]:
    """Height of the centre and radius of the sagittal arc of a strip of points (n, 3), mm.

    Least squares of x^2 + y^2 = 2 a x + 2 b y + c + d z + e z^2 about the strip's middle: the last
    terms take up its coronal inclination and curvature.
    """
    middle = points.mean(axis=0)
    x, y, z = (points - middle).T
    columns = np.column_stack([x, y, np.ones_like(x), z, z**2])
    a, b, c, *_ = np.linalg.lstsq(columns, x**2 + y**2, rcond=None)[0]
    return float(middle[1] + 0.5 * b), float(np.sqrt(max(c + 0.25 * (a**2 + b**2), 0.0)))


def room_around(region: PlateauRegion) -> float:
    """Least distance of the outline in front of and behind the lowest place, mm.

    Over the width that contact takes, where the outline may be nearer.
    """
    x, z = region.outline.T
    other_x, other_z = np.roll(region.outline, -1, axis=0).T
    nearest = []
    for at in region.lowest[2] + np.linspace(-_WIDE, _WIDE, 9):
        crossed = (z - at) * (other_z - at) < 0.0
        part = (at - z[crossed]) / (other_z - z)[crossed]
        apart = x[crossed] + part * (other_x - x)[crossed] - region.lowest[0]
        if (apart < 0.0).any() and (apart > 0.0).any():
            nearest += [-apart[apart < 0.0].max(), apart[apart > 0.0].min()]
    return float(min(nearest, default=0.0))


def _sagittal_dish(
    shapes: RecognisedShapes,
    sheets: dict[str, TriangleMesh],
    plateaus: Mapping[str, PlateauRegion],
    condyles: Mapping[str, CondyleRegion],
) -> Dish:
    """Dish closest to its condyle; one that is hardly wider decides the motion."""
    dishes = []
    femoral = sheets["femoral"].vertices
    # Origins of both components are unrelated: middles between their sides belong together.
    middles = np.mean([np.mean(one.z) for one in condyles.values()])
    apart = middles - np.mean([one.lowest[2] for one in plateaus.values()])
    for region in plateaus.values():
        z = region.lowest[2] + apart
        # The whole window is on the bearing, also where that is lowest at its end.
        low, high = region.x[0] + _SAGITTAL[0], region.x[1] - _SAGITTAL[0]
        middle = np.array([np.clip(region.lowest[0], min(low, high), max(low, high)),
                           *region.lowest[1:]])  # fmt: skip
        near = np.abs(sheets["insert"].vertices - middle) < _SAGITTAL
        dish = sheets["insert"].vertices[near.all(axis=1)]
        sagittal = femoral[np.abs(femoral[:, 2] - z) < _SAGITTAL[2]]
        distal = sagittal[sagittal[:, 1] < sagittal[:, 1].min(initial=np.inf) + _SAGITTAL[1]]
        if len(dish) < _FEWEST or len(distal) < _FEWEST:
            continue
        (height, wide), (_, tight) = (sagittal_arc(one) for one in (dish, distal))
        # A plateau that is flat or bulges has no dish.
        ratio = max(wide / tight, 1.01) if height > region.lowest[1] else np.inf
        room = room_around(region)
        if room < _SLIDES:  # off a bearing that is lowest at its end: its seat is in the middle
            room = 0.5 * (region.x[1] - region.x[0])
        dishes.append(Dish(ratio, tight, float(room)))
    lines = [one.lowest[2] for one in plateaus.values()]
    closest = min(dishes, key=lambda one: one.ratio, default=Dish())
    found = replace(closest, middle=float(np.mean(lines)))
    way = "settled_ap_rotation" if found.ratio < _CONFORMING else "prescribed"
    text = f"sagittal radius of the plateaus {found.ratio:.2f} times that of the condyles: {way}"
    shapes.note("boundary_conditions", "activities", text)
    return found


def _activity(
    name: str, shapes: RecognisedShapes, motion: str | None, load: str | None, dish: Dish
) -> str:
    """Block of settings of the activity."""
    conforms = bool(dish.ratio < _CONFORMING)
    if motion is None:
        motion = load = f"{name}_gait.csv"
        gait = _built_in_gait()
        position, rotation = gait["femur_anterior_mm"], gait["tibial_external_rotation_deg"]
        turned = np.radians(np.abs(rotation - rotation.mean()).max()) * LEVER
        part = dish.kept_travel(float(np.abs(position - position.mean()).max() + turned))
        found = "the built-in gait; replace it by your own curves"
        if part < 1.0 and not conforms:
            part = float(f"{part:.2f}")
            for curve in (position, rotation):
                gait[curve.name] = (curve.mean() + part * (curve - curve.mean())).round(5)
            found = (
                f"the built-in gait with {part:g} of its travel and rotation, which keeps contact "
                "on this bearing; replace it by your own curves"
            )
        save_table(gait, motion)
        shapes.note("motion", motion, found)
    elif load is None:
        raise InputDataError(motion, "a motion without a load", "both", "Add --load FILE.")
    columns, duration = _motion_columns(motion, shapes)
    if conforms:
        columns.pop("anterior_posterior", None)
        columns.pop("rotation", None)
    listed = "".join(f'        {quantity}: "{column}"\n' for quantity, column in columns.items())
    clock = "percent" if "percent" in columns else "time_s"
    column, kind = _load_column(load, shapes)
    load_clock = columns[clock] if load == motion else _clock(load)[1]
    strides = _strides(load, load_clock, column) if clock == _clock(load)[0] == "time_s" else ()
    if strides:
        duration = float(f"{np.diff(strides).mean():.4g}")
        found = (
            f"{len(strides) - 1} strides of {duration:g} s on average, from where '{column}' rises"
        )
        shapes.note("strides", load, found)
    cut = f"      strides_s: [{', '.join(f'{one:.3f}' for one in strides)}]\n" if strides else ""
    way = "settled_ap_rotation" if conforms else "prescribed"
    line = ""
    if _states_line(dish):
        line = f"    control: {{load_line_mm: {dish.middle:.2f}}}  # mm; middle of the plateaus\n"
    # Where position is solved, the seat is where the search starts.
    zero = "    zero: {anterior_posterior: seat, superior_inferior: seat, medial_lateral: seat}\n"
    return f"""\
activities:
  gait: null                  # the built-in cycle is left out
  {name}_gait:
    source: file
    motion:
      file: {_as_yaml(motion)}
      convention: grood-suntay  # or opensim, iso14243-3:2014, signs ...: docs/how-to/own-motion.md
      columns:                # deg and mm
{listed}{cut}    load:
      file: {_as_yaml(load)}
      kind: {kind}
      columns: {{{_clock(load)[0]}: "{load_clock}", load: "{column}"}}
{"      body_mass_kg: 75        # kg; assumed" + chr(10) if kind == "axial_force_n" else ""}\
{"      load_range_body_weights: [0.25, 3.0]" + chr(10) if kind == "ground_reaction" else ""}\
    duration_s: {duration:g}
    closing_percent: 5        # of the cycle
    boundary_conditions: {way}  # prescribed | settled_ap_rotation | simulator
{line}{zero}"""


def _states_line(dish: Dish) -> bool:
    """Whether the load acts at a stated line: position settles, and z 0 is not in the middle."""
    return bool(dish.ratio < _CONFORMING and abs(dish.middle) >= _OFF_MIDDLE)


def _silenced(dish: Dish) -> str:
    """Silence of the usual range of a load line where the insert's origin is not in its middle."""
    if not _states_line(dish):
        return ""
    return """
checks:                       # the origin is beside the insert; the placement judges the load line
  silence: [activities.*.control.load_line_mm]
"""


def _built_in_gait() -> pd.DataFrame:
    """Curves of the default study's gait at 101 percent."""
    settings = default_study().activities["gait"]
    activity = build_activity("gait", settings, 100)
    angles = np.degrees(clinical_angles(body_three_123(activity.rotation)))
    table = pd.DataFrame(
        {
            "percent": activity.percent,
            "flexion_deg": angles[:, 0],
            "tibial_external_rotation_deg": angles[:, 2],
            "femur_anterior_mm": -activity.translation[:, 0],
            "load_body_weights": activity.load,
        }
    )
    last = table.iloc[:1].assign(percent=100.0)
    return pd.concat([table, last], ignore_index=True).round(5)


def _clock(file: str) -> tuple[str, str]:
    """Quantity and column of the position in the cycle."""
    for kind in ("percent", "time_s"):
        for column in read_columns(file).columns:
            if any(word in column.lower() for word in _KINDS[kind]):
                return kind, column
    found = f"columns {', '.join(read_columns(file).columns)}"
    raise InputDataError(file, found, "one of percent or time", "Name one 'percent' or 'time'.")


def _motion_columns(file: str, shapes: RecognisedShapes) -> tuple[dict[str, str], float]:
    """Columns of the motion by their names, and the duration of the cycle, s."""
    table = read_columns(file)
    kind, clock = _clock(file)
    columns = {kind: clock}
    for quantity in list(_KINDS)[2:]:
        for column in table.columns:
            named = any(word in column.lower() for word in _KINDS[quantity])
            if (
                named
                and column not in columns.values()
                and not column.lower().startswith(("raw", "min", "load", "gap"))
            ):
                columns[quantity] = column
                break
    if "flexion" not in columns:
        found = f"columns {', '.join(table.columns)}"
        raise InputDataError(file, found, "one of flexion", "Name it 'flexion_deg'.")
    duration = float(np.ptp(table[clock])) if kind == "time_s" else 1.1
    found = ", ".join(f"{quantity} in '{column}'" for quantity, column in columns.items())
    shapes.note("columns", file, f"{found}, by their names; signs of Grood and Suntay assumed",
                "Compare the motion on the inputs page.", doubt=True)  # fmt: skip
    if kind == "percent":
        shapes.note("duration", file, f"cycle of {duration:g} s assumed", "Correct duration_s.",
                    doubt=True)  # fmt: skip
    return columns, duration


def _strides(file: str, clock: str, column: str) -> tuple[float, ...]:
    """Times at which a load rises from its least values, s: beginnings of strides, and an end.

    Empty with fewer than two strides.
    """
    table = read_columns(file)
    load = -table[column[1:]] if column.startswith("-") else table[column]
    time, force = (one.to_numpy(dtype=float) for one in (table[clock], load))
    limit = force.min() + _RISEN * np.ptp(force)
    before = np.flatnonzero((force[:-1] < limit) & (force[1:] >= limit))
    part = (limit - force[before]) / (force[before + 1] - force[before])
    found: list[float] = []
    for one in time[before] + part * np.diff(time)[before]:
        if not found or one - found[-1] > _SHORTEST_STRIDE_S:
            found.append(float(one))
    return tuple(found) if len(found) > 2 else ()


def _load_column(file: str, shapes: RecognisedShapes) -> tuple[str, str]:
    """Column of the load and its kind, by its size."""
    table = read_columns(file)
    words = ("axial_bw", "load", "axial", "force", "reaction", "grf", "fz", "fy")
    clock = _clock(file)[1]
    for word in words:
        for column in table.columns:
            if word in column.lower() and column != clock:
                sign = "" if table[column].mean() >= 0.0 else "-"
                largest = float(np.nanmax(np.abs(table[column])))
                kind = "axial_load" if largest < 15.0 else "axial_force_n"
                if "ground" in column.lower() or "grf" in column.lower():
                    kind = "ground_reaction"
                way = ", negative in compression" if sign else ""
                shapes.note("load", file, f"'{column}' up to {largest:.4g}{way}: {kind}")
                return sign + column, kind
    found = f"columns {', '.join(table.columns)}"
    raise InputDataError(file, found, "one of load or force", "Name it 'load_body_weights'.")


def grades() -> dict[str, dict[str, Any]]:
    """Settings of each grade of polyethylene, with the wear law that its factor belongs to."""
    content = read_settings_file(default_settings_file().with_name("polyethylene.yaml")).content
    law = content["wear"]["wear_law"]
    return {
        name: {**block, "wear": {"wear_law": law, **block["wear"]}}
        for name, block in content["variables"]["polyethylene"]["blocks"].items()
    }


def _material(shapes: RecognisedShapes, grade: str | None) -> tuple[str, str]:
    """Lines of the blocks simulation and wear for a grade of polyethylene."""
    known = grades()
    name = grade or next(iter(known))
    wear = known[name]["wear"]
    text = (
        f"polyethylene: {name}, with its {wear['wear_law']} law and a wear factor of "
        f"{wear['wear_factor_mm3_per_n_m']:.3g} mm3/(N m); creep of Lee and "
        "Pienkowski (1998) under the largest pressure of a cycle, over the whole thickness: an "
        "upper estimate"
    )
    remedy = "" if grade else "Name the grade with --grade, or set the constants of yours."
    shapes.note("grade", "wear", text, remedy, doubt=grade is None)
    blocks = known[name]["simulation"], wear
    first, second = (
        "".join(f"  {key}: {value}\n" for key, value in block.items()) for block in blocks
    )
    return first, f"  polyethylene: {name}\n{second}"


def _as_yaml(file: str) -> str:
    """Path of a file as written in the settings, quoted where YAML needs it."""
    path = Path(file).expanduser()
    text = path.as_posix() if path.is_absolute() else Path(os.path.normpath(path)).as_posix()
    return f'"{text}"'


def _settings_text(
    name: str,
    shapes: RecognisedShapes,
    plateaus: Mapping[str, PlateauRegion],
    chosen: FittingChoice,
    underside: tuple[str, float],
    activity: str,
    material: tuple[str, str],
    dish: Dish,
) -> str:
    """Commented settings."""
    line, least = underside
    fit = chosen.settings

    def pair(limits: tuple[float, float]) -> str:
        return f"[{limits[0]:.1f}, {limits[1]:.1f}]"

    regions = ""
    for side in SIDES:
        region = plateaus[side]
        corners = ", ".join(f"[{x:.1f}, {z:.1f}]" for x, z in region.outline)
        regions += (
            f"      {side}:\n        x: {pair(region.x)}\n        z: {pair(region.z)}\n"
            f"        outline: [{corners}]\n"
        )
    femoral = "".join(
        f"      {side}: {{z: {pair(chosen.condyles[side].z)}, "
        f"angle_deg: {pair(chosen.condyles[side].angle_deg)}}}\n"
        for side in SIDES
    )
    axes = ", ".join(f"{axis}: {word}" for axis, word in shapes.axes.items())
    guesses = "\n".join(f"#   {one.text()}" for one in shapes.findings)
    knots = f"{{along: {fit.knot_spacing_along:g}, across: {fit.knot_spacing_across:g}}}"
    return f"""\
# Written by `kneewear new`. What was recognised, and by what; correct what is wrong:
{guesses}

study: {name}
data_folder: .                # files are named from the folder of this file
accuracy: draft               # draft | standard | fine: within 3, 1 or 0.3 % of converged values

implant:
  source: meshes
  name: "{name}"
  knee: {shapes.knee}
  nominal_thickness_mm: {least:g}   # mm; least thickness of the bearing as meshed
  meshes:
    insert: {_as_yaml(shapes.files["insert"])}
    femoral: {_as_yaml(shapes.files["femoral"])}
    insert_form: {shapes.forms["insert"]}
    femoral_form: {shapes.forms["femoral"]}
    unit: {shapes.unit}
    axes: {{{axes}}}
    {line}
    insert_region_mm:         # x posterior, z medial; corners [x, z] of the bearing's outline
{regions}    femoral_region_mm:        # mm and deg about the condyles' axis, 0 distal
{femoral}    knot_spacing_mm: {knots}
    smoothing_length_mm: {fit.smoothing_length:g}
    tolerance_mm: {fit.tolerance:g}
    mean_tolerance_mm: {fit.mean_tolerance:g}  # a micrometre is about 1 % of force
    wave_tolerance_mm: auto

{activity}
variables:                    # every combination is a case
  thickness_mm: [{least:g}, {least + 2:g}]   # mm
  body_mass_kg: [60, 90]      # kg

simulation:
  medial_lateral: solved      # solved | held, where a bearing has no equilibrium of it
{material[0]}
wear:                         # constants of a grade, with sources: config/polyethylene.yaml
{material[1]}  creep_law: strain           # Lee and Pienkowski (1998): an upper estimate
  lives:
    gait: null
    {name}_gait: {{{name}_gait: 1.0}}

report:
  compare_with_published: false  # the published tables are of another implant
  spread: {{blocks: 1}}         # 4: also with a surface that follows its wear, which takes minutes
{_silenced(dish)}"""
