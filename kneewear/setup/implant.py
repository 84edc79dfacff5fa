"""A study of an implant from its files: what they hold is recognised, and written as settings."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kneewear.base.assumptions import Assumption
from kneewear.base.files import read_settings_file
from kneewear.base.sides import SIDES
from kneewear.base.types import BODY_MASS, THICKNESS, is_file_name
from kneewear.errors import Finding, InputDataError, OutputFileError
from kneewear.geometry.dish import CONFORMING, Dish, find_dish
from kneewear.geometry.fit_search import FittingChoice, choose_fit
from kneewear.geometry.fitting import FitSettings
from kneewear.geometry.meshes import TriangleMesh, within_outline
from kneewear.geometry.noise import NOISY
from kneewear.geometry.segmentation import (
    MIN_FLAT,
    PlateauRegion,
    check_condyles,
    find_post,
    find_underside,
    segment_condyles,
    segment_plateaus,
)
from kneewear.geometry.settings import FIT_TOLERANCE
from kneewear.io.documents import save_text
from kneewear.io.result_files import digest_path
from kneewear.motion.history import FRICTION_BEARS
from kneewear.setup.curves import (
    BUILT_IN,
    ActivityText,
    Recordings,
    ignored_load_line,
    quoted_path,
    settings_path,
    write_activity,
)
from kneewear.setup.gait import agree_on_share
from kneewear.setup.placing import passes
from kneewear.setup.registration import is_registered
from kneewear.setup.shapes import RecognisedShapes, recognise_shapes
from kneewear.study.models import SET_UPS, remedy_of_conforming
from kneewear.study.shipped import shipped_folder

# Assumed of a sheet that does not show its underside: a usual least thickness (from memory), mm.
_ASSUMED_THICKNESS = 6.0
# A frame whose origin is this far below the bearing may have it on the underside, mm.
_UNDERSIDE_BELOW = (3.0, 25.0)
# Thickness that every design is simulated with, so that designs are compared at an equal one: a
# usual nominal thickness (from memory); and a difference that is none, mm.
_SHARED_THICKNESS = 8.0
_EQUAL_THICKNESS = 0.005
# Growths of a plateau onto its rounded rims that are tried, mm: contact that reaches a rim goes on.
_GROWTHS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
# One micrometre of distance changes the force by about one percent (docs/how-to/own-implant.md).
_PERCENT_PER_UM = 1.0
_CREEP_LAW = "strain"
# Lines of the block simulation of both plateaus, and of one, whose load is a share.
_MEDIAL_LATERAL = (
    "  medial_lateral: {:<12}# solved | held, where a bearing has no equilibrium of it\n"
)
_HELD = """\
  medial_share: 0.6           # of the load; 0.58 to 0.63 was measured in one total knee
  medial_lateral: held        # a single plateau may restore nothing
"""
# A dish whose restoring force is below friction up to this distance from its lowest line holds no
# condyle, mm: positions that are solved wander from element to element (docs/limits.md).
_UNDECIDED = 3.0
# Error in force above which a fit is doubtful, percent.
_DOUBTFUL_PERCENT = 3.0
# Errors of the integration move wear by up to 0.2 % on shallow dishes with the tolerance of
# config/defaults.yaml, and by 0.002 % with this one: wear does not depend on how files are written.
_INTEGRATION = "  forward: {relative_tolerance: 1.0e-6}  # of 0.1 mm of penetration\n"


class Added(NamedTuple):
    """Text of a model: lines of the block `simulation` on its analysis, and further blocks."""

    simulation: str = _INTEGRATION
    blocks: str = ""


@dataclass(frozen=True)
class NewStudy:
    """Settings of a new study, the evidence they rest on, and what was assumed."""

    settings: Path
    findings: tuple[Finding, ...]
    assumed: tuple[Assumption, ...]
    settles: bool  # whether position and rotation are free
    holds: bool  # whether the medial-lateral position is held


def create_study(  # noqa: PLR0913 - one for each option of the command
    name: str,
    insert: Sequence[str],
    femoral: Sequence[str],
    *,
    motion: str | None = None,
    load: str | None = None,
    knee: str | None = None,
    side: str | None = None,
    thickness: float | None = None,
    grade: str | None = None,
    columns: Sequence[str] = (),
    body_mass: float | None = None,
    gait_share: float | None = None,
    set_up: str | None = None,
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
        Curves of one cycle; without them the built-in gait is written as `built_in_gait.csv`, and
        all designs of the folder take the same share of its travel. The load `BUILT_IN` is the one
        of that gait, as an assumption.
    knee : {"right", "left"}, optional
        Side; without it that which asymmetric shapes show, or the right one.
    side : {"medial", "lateral"}, optional
        Side of a single plateau; without it the insert has both.
    thickness : float, optional
        Least thickness of the insert, mm, where its file has no underside.
    grade : str, optional
        Grade of polyethylene, a name of `grades`; without it the conventional one is assumed.
    columns : sequence of str
        `TITLE=MEANING`, what columns are whose titles do not say it.
    body_mass : float, optional
        Body mass that forces in N belong to, kg; the middle case.
    gait_share : float, optional
        Share of the travel and rotation of the built-in gait, for this design alone.
    set_up : str, optional
        What the insert does, of `kneewear.study.models.SET_UPS`; without it, it is fixed.

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
    if motion is not None and load is None:
        remedy = f"Add --load FILE, or --load {BUILT_IN} if nothing was measured."
        raise InputDataError(motion, "a motion without a load", "both", remedy)
    if body_mass is not None and BODY_MASS.severity(body_mass) == "refuse":
        remedy = "Give the body mass in kg."
        raise InputDataError("--body-mass", f"{body_mass:g} kg", BODY_MASS.possible, remedy)
    if gait_share is not None and (motion is not None or not 0.0 < gait_share <= 1.0):
        found = f"{gait_share:g}" if motion is None else "a share with curves of your own"
        remedy = "Leave it out, or give a share of the built-in gait."
        raise InputDataError("--gait-share", found, "above 0, up to 1, without --motion", remedy)
    if thickness is not None and THICKNESS.severity(thickness) == "refuse":
        remedy = "Give the least thickness in mm."
        raise InputDataError("--thickness", f"{thickness:g} mm", THICKNESS.possible, remedy)
    sides = SIDES if side is None else (side,)
    shapes = recognise_shapes(
        name,
        insert,
        femoral,
        knee,
        sides,
        lambda shapes: (
            motion is not None and is_registered(shapes, motion, columns, f"activities.{name}_gait")
        ),
    )
    with _removed_if_refused(shapes.copies):
        if thickness is not None and shapes.forms["insert"] == "solid":
            found, remedy = f"{thickness:g} mm for a solid insert", "Leave it out."
            raise InputDataError("--thickness", found, "none: its file has the underside", remedy)
        sheets = shapes.sheets
        grown = segment_plateaus(sheets["insert"], _GROWTHS, sides)
        condyles, _ = segment_condyles(sheets["femoral"], sides)
        check_condyles(condyles, shapes.files["femoral"])
        chosen = choose_fit(sheets["insert"], sheets["femoral"], grown, condyles)
        plateaus = chosen.plateaus
        _note_regions(shapes, plateaus, chosen)
        underside, least = _underside(shapes, sheets["insert"], grown[0], thickness)
        dish = find_dish(sheets["insert"], sheets["femoral"], plateaus, chosen.condyles)
        added = _added(shapes, dish, set_up)
        given = Recordings(motion, load, tuple(columns), body_mass)
        follower = set_up if set_up is not None and SET_UPS[set_up].follows_motion else None
        activity = write_activity(name, shapes, given, dish, gait_share, follower)
        material = _material(shapes, grade)

        write = partial(
            _write_settings, file, name, plateaus, chosen, (underside, least), material, dish, added
        )
        shapes, activity, is_held = _followed_or_solved(write, file, shapes, activity)
        holds = is_held or dish.single
        agreed = agree_on_share(file)
        if not (agreed.has_equilibrium or holds or activity.settles):
            shapes.assumed.insert(0, hold_medial_lateral(file))
            held = agreed.trial.holding_medial_lateral() if agreed.trial else None
            holds, agreed = True, agree_on_share(file, held)
        findings = (*shapes.findings, *agreed.findings)
        return NewStudy(file, findings, tuple(shapes.assumed), activity.settles, holds)


def _write_settings(
    file: Path,
    name: str,
    plateaus: Mapping[str, PlateauRegion],
    chosen: FittingChoice,
    underside: tuple[str, float],
    material: tuple[str, str],
    dish: Dish,
    added: Added,
    shapes: RecognisedShapes,
    activity: ActivityText,
) -> bool:
    """Write the settings; True if the medial-lateral position is held, which is an assumption."""
    is_held = _is_held(shapes, activity, dish)
    if is_held:
        shapes.assumed.append(_held(_restored_by(dish)))
    text = _settings_text(
        name, shapes, plateaus, chosen, underside, activity, material, dish, added, is_held
    )
    save_text(text, file)
    return is_held


def _followed_or_solved(
    write: Callable[[RecognisedShapes, ActivityText], bool],
    file: Path,
    shapes: RecognisedShapes,
    activity: ActivityText,
) -> tuple[RecognisedShapes, ActivityText, bool]:
    """Write settings that follow the file where that passes; True if medial-lateral is held.

    The room that radii leave for a motion is an estimate: a trial of the motion decides.
    """
    if activity.has_little_room:
        shown, followed = activity.followed(shapes)
        is_held = write(shown, followed)
        if passes(file):
            return shown, followed, is_held
    return shapes, activity, write(shapes, activity)


def _is_held(shapes: RecognisedShapes, activity: ActivityText, dish: Dish) -> bool:
    """True if the medial-lateral position of a prescribed motion has no equilibrium to be solved.

    Friction bears a condyle that is `_UNDECIDED` from the lowest line of its dish.
    """
    decides = activity.settles or shapes.is_registered or dish.single
    return not decides and dish.restoring < FRICTION_BEARS / _UNDECIDED


def _added(shapes: RecognisedShapes, dish: Dish, set_up: str | None) -> Added:
    """Text that a model adds to the settings; none of a fixed insert."""
    if set_up is not None:
        added: Added = SET_UPS[set_up].write(shapes, dish)
        return added
    remedy = remedy_of_conforming()
    if remedy and dish.single and dish.ratio < CONFORMING:
        shapes.assume(
            "fixed",
            "model",
            "wear",
            "the insert is fixed on its tray, though its dish holds the condyle as that of a "
            "meniscal bearing does",
            f"{remedy[:1].upper()}{remedy[1:]}.",
        )
    return Added()


@contextmanager
def _removed_if_refused(copies: Sequence[Path]) -> Iterator[None]:
    """Remove copies of shapes whose settings are not written."""
    try:
        yield
    except BaseException:
        for file in copies:
            file.unlink(missing_ok=True)
            digest_path(file).unlink(missing_ok=True)
        raise


def _held(reason: tuple[str, str]) -> Assumption:
    """Assumption of a medial-lateral position that is held, for a reason and with a remedy."""
    why, remedy = reason
    return Assumption(
        name="medial_lateral",
        key="simulation.medial_lateral",
        value="held",
        found=f"medial-lateral position held at the dwell pose: {why}",
        remedy=remedy,
    )


def _restored_by(dish: Dish) -> tuple[str, str]:
    """Reason for which a flat dish holds no condyle, and the remedy."""
    return (
        f"1 mm beside the lowest line the dishes restore {100 * dish.restoring:.1f} % of the load, "
        f"less than the friction of polyethylene, {100 * FRICTION_BEARS:g} % and more",
        "Set it to solved if soft tissue or friction do not hold it: wear then needs "
        "simulation.analysis: quasi_static, and accuracy: standard or fine.",
    )


def hold_medial_lateral(settings: Path) -> Assumption:
    """Hold the medial-lateral position in settings that `create_study` wrote."""
    held = _held(
        (
            "no equilibrium was found with it free",
            "Look at contact at borders: an edge of the condyle may press on the insert.",
        )
    )
    text = settings.read_text(encoding="utf-8")
    text = text.replace(_MEDIAL_LATERAL.format("solved"), _MEDIAL_LATERAL.format("held"))
    start = text.index("assumed:")
    end = text.index("\n", start) + 1
    save_text(f"{text[:end]}{_assumed_block([held])}\n{text[end:]}", settings)
    return held


def _note_regions(
    shapes: RecognisedShapes, plateaus: Mapping[str, PlateauRegion], chosen: FittingChoice
) -> None:
    for side, region in plateaus.items():
        (x0, x1), (z0, z1) = region.x, region.z
        found = (
            f"{side} plateau of {region.area:.0f} mm2, x {x0:.1f} to {x1:.1f}, z {z0:.1f} to "
            f"{z1:.1f} mm; steeper than 55 deg or rounded below a radius of 20 mm are left out"
        )
        shapes.note("plateau", shapes.files["insert"], found)
        condyle = chosen.condyles[side]
        (z0, z1), (low, high) = condyle.z, condyle.angle_deg
        found = (
            f"{side} condyle, z {z0:.1f} to {z1:.1f} mm (notch to outer rim), angles {low:.0f} to "
            f"{high:.0f} deg"
        )
        shapes.note("condyle", shapes.files["femoral"], found)
    for component, noise in chosen.noise.items():
        if noise > NOISY:
            found = (
                f"noise of about {1e3 * noise:.0f} um, as in a scan; surfaces are smoothed for it"
            )
            shapes.note("noise", shapes.files[component], found)
    mean = 1e3 * max(quality.mean_mm for quality in chosen.qualities)
    wave = 1e3 * max(quality.largest_wave() for quality in chosen.qualities)
    most = max(chosen.qualities, key=lambda one: one.max_mm)
    found = (
        f"surfaces differ from the meshes by {mean:.2f} um on average, noise included, and by "
        f"{1e3 * most.max_mm:.1f} um at most ({most.side} {most.component}); their waves of up to "
        f"{wave:.2f} um change the contact force by about {_PERCENT_PER_UM * wave:.1f} %"
    )
    shapes.note("fit", "implant.meshes", found, doubt=wave * _PERCENT_PER_UM > _DOUBTFUL_PERCENT)
    post = find_post(shapes.parts["insert"], plateaus)
    if post is not None:
        height, (x, z) = post
        shapes.assume(
            "post",
            "implant.meshes.insert",
            settings_path(shapes.files["insert"]),
            f"a post {height:.0f} mm above the plateaus at x {x:.0f}, z {z:.0f} mm: neither it nor "
            "a cam of the femoral component is simulated",
            "Beyond the flexion at which they meet, the results are of another implant.",
        )


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
        if part >= MIN_FLAT:
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
        least, line = round(lowest, 2), "underside_mm: 0.0"
        found = f"least thickness {least:g} mm: the origin of a sheet's file is on the underside"
    else:
        least, line = _ASSUMED_THICKNESS, f"underside_mm: {lowest - _ASSUMED_THICKNESS:.3f}"
        found = f"least thickness {least:g} mm of a sheet without underside"
    remedy = "Set it up again with --thickness."
    shapes.assume("thickness", "implant.nominal_thickness_mm", least, found, remedy)
    return line, least


def grades() -> dict[str, dict[str, Any]]:
    """Settings of each grade of polyethylene, with the wear law that its factor belongs to."""
    content = read_settings_file(shipped_folder() / "evidence" / "polyethylene.yaml").content
    law = content["wear"]["wear_law"]
    return {
        name: {**block, "wear": {"wear_law": law, **block["wear"]}}
        for name, block in content["variables"]["polyethylene"]["blocks"].items()
    }


def _thicknesses(least: float) -> str:
    """Thicknesses of the cases, mm: as meshed, and one that all designs share."""
    other = _SHARED_THICKNESS
    if abs(least - other) < _EQUAL_THICKNESS:
        other += 2.0
    return f"{least:g}, {other:g}"


def _material(shapes: RecognisedShapes, grade: str | None) -> tuple[str, str]:
    """Lines of the blocks simulation and wear for a grade of polyethylene."""
    known = grades()
    name = grade or next(iter(known))
    wear = known[name]["wear"]
    text = (
        f"polyethylene: {name}, with its {wear['wear_law']} law and a wear factor of "
        f"{wear['wear_factor_mm3_per_n_m']:.3g} mm3/(N m)"
    )
    if grade is None:
        remedy = "Set the constants of yours, or set it up again with --grade."
        shapes.assume("grade", "wear.polyethylene", name, text, remedy)
    else:
        shapes.note("grade", "--grade", text)
    shapes.assume(
        "creep",
        "wear.creep_law",
        _CREEP_LAW,
        "creep of Lee and Pienkowski (1998) under the largest pressure of a cycle, over the whole "
        "thickness: an upper estimate",
        "Compare wear alone, or set a creep law and constant of your material.",
    )
    blocks = known[name]["simulation"], wear
    first, second = (
        "".join(f"  {key}: {value}\n" for key, value in block.items()) for block in blocks
    )
    return first, f"  polyethylene: {name}\n{second}"


def _assumed_block(assumed: Sequence[Assumption]) -> str:
    """Entries of the block `assumed`, one a line."""
    fields = [entry.model_dump(mode="json", exclude_defaults=True) for entry in assumed]
    lines = [
        ", ".join(f"{key}: {json.dumps(text)}" for key, text in entry.items()) for entry in fields
    ]
    return "\n".join(f"  - {{{line}}}" for line in lines)


def ignored_tolerances(fit: FitSettings) -> dict[str, str]:
    """Keys of tolerances above the usual range, which the noise of a scan needs, and the reason."""
    tolerances = {"tolerance_mm": fit.tolerance, "mean_tolerance_mm": fit.mean_tolerance}
    return {
        f"implant.meshes.{key}": "what the noise of the scan needs"
        for key, tolerance in tolerances.items()
        if FIT_TOLERANCE.severity(tolerance) == "warn"
    }


def ignored_block(reasons: Mapping[str, str]) -> str:
    """Block `checks` that leaves out warnings of keys that were chosen, each for its reason."""
    if not reasons:
        return ""
    lines = "".join(f"    - {key}  # {reason}\n" for key, reason in reasons.items())
    return f"\nchecks:\n  ignore:\n{lines}"


def _settings_text(
    name: str,
    shapes: RecognisedShapes,
    plateaus: Mapping[str, PlateauRegion],
    chosen: FittingChoice,
    underside: tuple[str, float],
    activity: ActivityText,
    material: tuple[str, str],
    dish: Dish,
    added: Added,
    is_held: bool,
) -> str:
    """Commented settings."""
    line, least = underside
    fit = chosen.settings

    def pair(limits: tuple[float, float]) -> str:
        return f"[{limits[0]:.3f}, {limits[1]:.3f}]"

    regions = ""
    for side, region in plateaus.items():
        corners = ", ".join(f"[{x:.3f}, {z:.3f}]" for x, z in region.outline)
        regions += (
            f"      {side}:\n        x: {pair(region.x)}\n        z: {pair(region.z)}\n"
            f"        outline: [{corners}]\n"
        )
    femoral = "".join(
        f"      {side}: {{z: {pair(chosen.condyles[side].z)}, "
        f"angle_deg: {pair(chosen.condyles[side].angle_deg)}}}\n"
        for side in plateaus
    )
    bearings, share = "", _MEDIAL_LATERAL.format("held" if is_held else "solved")
    if len(plateaus) == 1:
        bearings, share = f"  bearings: [{', '.join(plateaus)}]\n", _HELD
    axes = ", ".join(f"{axis}: {word}" for axis, word in shapes.axes.items())
    evidence = "\n".join(f"#   {finding.text()}" for finding in shapes.findings)
    masses = ", ".join(f"{mass:g}" for mass in activity.body_masses)
    knots = f"{{along: {fit.knot_spacing_along:g}, across: {fit.knot_spacing_across:g}}}"
    ignored = {**ignored_load_line(dish, activity.settles), **ignored_tolerances(fit)}
    return f"""\
# Written by `kneewear new`. What was recognised, and by what; correct what is wrong:
{evidence}

study: {name}
assumed:                      # delete an entry to confirm it, or correct the setting of its key
{_assumed_block(shapes.assumed)}
data_folder: .                # files are named from the folder of this file
accuracy: draft               # draft | standard | fine: within 3, 1 or 0.3 % of converged values

implant:
  source: meshes
  name: "{name}"
  knee: {shapes.knee}
{bearings}  nominal_thickness_mm: {least:g}   # mm; least thickness of the bearing as meshed
  meshes:
    insert: {quoted_path(shapes.files["insert"])}
    femoral: {quoted_path(shapes.files["femoral"])}
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
    wave_tolerance_mm: {"null" if chosen.scanned else "auto"}

{activity.block}
variables:                    # every combination is a case
  thickness_mm: [{_thicknesses(least)}]   # mm; as meshed, and {_SHARED_THICKNESS:g} in all designs
  body_mass_kg: [{masses}]      # kg

simulation:
{share}{added.simulation}{material[0]}
wear:                         # constants of a grade: config/evidence/polyethylene.yaml
{material[1]}  creep_law: {_CREEP_LAW}           # Lee and Pienkowski (1998): an upper estimate
  lives:
    gait: null
    {name}_gait: {{{name}_gait: 1.0}}

report:
  compare_with_published: false  # the published tables are of another implant
  spread: {{blocks: 1}}         # 4: also with a surface that follows its wear, which takes minutes
{ignored_block(ignored)}{added.blocks}"""
