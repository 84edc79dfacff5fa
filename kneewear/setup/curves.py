"""Activity of a new study: own curves, columns by their names, or the built-in gait."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kneewear.activity.conventions import POSE, femoral_pose
from kneewear.activity.settings import (
    ClinicalMotion,
    MotionSettings,
    MotionSigns,
    OpenSimMotion,
)
from kneewear.activity.standards import COLUMNS
from kneewear.errors import InputDataError
from kneewear.geometry.dish import Dish
from kneewear.io.column_names import PLUG_IN_GAIT, describe
from kneewear.io.curves import read_curves
from kneewear.mechanics.coordinates import CHARACTERISTIC_LENGTH
from kneewear.setup.columns import (
    EXAMPLES,
    LoadChoice,
    Recording,
    assume_cycle,
    check_one_side,
    check_units,
    find_driven,
    find_flexion,
    find_load,
    find_opensim,
    find_start,
    has_rate,
    missing,
    parse_columns,
    read_recording,
    require_clock,
    single,
)
from kneewear.setup.force_control import (
    FORCES,
    check_is_in_newtons,
    control_block,
    is_force_controlled,
)
from kneewear.setup.gait import share_line, write_built_in_gait
from kneewear.setup.shapes import RecognisedShapes

# Coordinates that a motion drives, and those that contact decides.
_DRIVEN = ("rotation", "anterior_posterior")
_SOLVED = ("varus", "superior_inferior", "medial_lateral")
# Boundary conditions of a measured motion, and their line of settings.
_FOLLOWS = "prescribed"
_SOLVES = "settled_ap_rotation"
_CONDITIONS = f"    boundary_conditions: {{}}  # {_FOLLOWS} | {_SOLVES} | simulator"
# Assumption that measured coordinates are not used.
CONDITIONS_ASSUMED = "boundary_conditions"
# Distance of the middle between the plateaus from z = 0 beyond which a load line is stated, mm.
_OFF_MIDDLE = 0.5
# Load of a measured motion that comes without one.
BUILT_IN = "built-in"
# Part of its range to which a load rises where a stride begins, and the shortest stride, s.
_RISEN = 0.05
_SHORTEST_STRIDE_S = 0.4
# Seconds of a cycle that nothing states.
_USUAL_DURATION_S = 1.1
# Body mass that nothing states, and its distance to the other cases, kg.
_USUAL_BODY_MASS_KG = 75.0
_BODY_MASS_STEP_KG = 15.0
_USUAL_BODY_MASSES_KG = (60.0, 90.0)
# Range that a ground reaction is scaled to, body weights (Bei 2003, section 4.2.1).
_SCALED_TO = (0.25, 3.0)


@dataclass(frozen=True)
class Recordings:
    """Data of an activity that the user gives: files, names of columns, and the body mass, kg."""

    motion: str | None = None
    load: str | None = None
    columns: tuple[str, ...] = ()
    body_mass: float | None = None


@dataclass(frozen=True)
class ActivityText:
    """Settings of an activity: its block, body masses of the cases (kg), and what is free.

    `has_little_room` is True where a measured motion is solved only because of the room that the
    radii of the bearing leave it, which is an estimate.
    """

    block: str
    body_masses: tuple[float, ...]
    settles: bool  # position and rotation are solved
    has_little_room: bool = False

    def followed(self, shapes: RecognisedShapes) -> tuple[RecognisedShapes, ActivityText]:
        """Shapes and settings of the same activity with position and rotation prescribed."""
        kept = [line for line in self.block.splitlines() if "control: {load_line_mm" not in line]
        block = "\n".join(kept).replace(_CONDITIONS.format(_SOLVES), _CONDITIONS.format(_FOLLOWS))
        text = f"curves of the file pass the check of their placement: {_FOLLOWS}"
        findings = [
            replace(one, found=text) if one.check == f"new.{CONDITIONS_ASSUMED}" else one
            for one in shapes.findings
        ]
        assumed = [one for one in shapes.assumed if one.name != CONDITIONS_ASSUMED]
        shown = replace(shapes, findings=findings, assumed=assumed)
        return shown, replace(self, block=f"{block}\n", settles=False)


def write_activity(
    name: str,
    shapes: RecognisedShapes,
    given: Recordings,
    dish: Dish,
    share: float | None = None,
    follower: str | None = None,
) -> ActivityText:
    """Settings of the activity: own curves, or a share of the built-in gait, written as a file.

    `follower` is the option of a model that needs a prescribed motion. InputDataError, with the
    option that says what a column is, where titles do not say it.
    """
    if given.motion is None:
        motion = load = _write_gait(name, shapes)
        prescribes = not dish.conforms or follower is not None
    else:
        motion, prescribes = given.motion, True
        load = _write_load(name, shapes) if given.load == BUILT_IN else given.load or motion
    block = f"activities.{name}_gait"
    renamed = parse_columns(given.columns, (motion, load))
    recorded = read_recording(motion, shapes.knee, renamed)
    forces = recorded if load == motion else read_recording(load, shapes.knee, renamed)
    for recording in () if shapes.is_side_known else (recorded, forces):
        check_one_side(recording)
    if forces is recorded:
        (recorded,) = assume_cycle((recorded,), _USUAL_DURATION_S)
        forces = recorded
    else:
        recorded, forces = assume_cycle((recorded, forces), _USUAL_DURATION_S)
    clock, clock_title = require_clock(recorded)
    columns = {clock: recorded.key(clock_title)}
    convention, coordinates = _coordinates(recorded)
    columns |= coordinates
    systems = {name.system for name in recorded.names.values()}
    if PLUG_IN_GAIT in systems:
        shapes.assume(
            "signs",
            f"{block}.motion.convention",
            convention,
            "signs of Plug-in Gait (from memory): flexion, varus and internal rotation positive",
            "Compare the motion on the inputs page; turn a sign by a minus before its column.",
        )
    if follower is None:
        way = _boundary_conditions(shapes, block, recorded, columns, convention, dish, prescribes)
    else:
        way = _FOLLOWS
        _require_motion(recorded, columns, follower)
    invented = given.motion is None and way == "prescribed"
    scale = share_line(share) if invented else ""
    listed = "".join(f"        {key}: {_quoted(value)}\n" for key, value in columns.items())
    force_clock, force_title = require_clock(forces)
    force = find_load(forces)
    if is_force_controlled(columns):
        check_is_in_newtons(forces, force)
    strides: tuple[float, ...] = ()
    if clock == force_clock == "time_s" and not recorded.assumed_rate:
        strides = _strides(forces, forces.key(force_title), force)
    duration = _duration(shapes, block, (recorded, forces), strides)
    cut = f"      strides_s: [{', '.join(f'{time:.3f}' for time in strides)}]\n" if strides else ""
    line = f"{_CONDITIONS.format(way)}\n"
    if way == "force":
        line = control_block(shapes, block, columns, dish.middle)
    if way == "settled_ap_rotation" and _states_line(dish):
        line += f"    control: {{load_line_mm: {dish.middle:.2f}}}  # mm; middle of the plateaus\n"
    named = {force_clock: forces.key(force_title), **force.columns}
    loads = ", ".join(f"{key}: {_quoted(value)}" for key, value in named.items())
    stated = forces.table.body_mass_kg or recorded.table.body_mass_kg
    scaling, masses = _scaling(shapes, block, force.kind, given.body_mass, stated)
    shapes.note("load", load, force.text)
    # Where position is solved, the dwell pose is where the search starts.
    translations = "anterior_posterior", "superior_inferior", "medial_lateral"
    origin = "file" if shapes.is_registered else "dwell_pose"
    zero = f"    zero: {{{', '.join(f'{axis}: {origin}' for axis in translations)}}}\n"
    text = f"""\
activities:
  gait: null                  # the built-in cycle is left out
  {name}_gait:
    source: file
    motion:
      file: {quoted_path(motion)}
{_convention_text(recorded, convention)}{scale}      columns:  # a minus turns the sign
{listed}{cut}    load:
      file: {quoted_path(load)}
      kind: {force.kind}
      columns: {{{loads}}}
{scaling}    duration_s: {duration:g}
    closing_percent: 5        # of the cycle
{line}{zero}"""
    little = any(one.name == CONDITIONS_ASSUMED for one in shapes.assumed) and all(
        part in columns for part in _DRIVEN
    )
    return ActivityText(text, masses, way in (_SOLVES, "force"), little)


def _write_gait(name: str, shapes: RecognisedShapes) -> str:
    """Write the built-in gait, and return its file."""
    file = write_built_in_gait()
    text = (
        "an invented gait, the built-in one, with the part of its travel that motion.scale states"
    )
    block, remedy = f"activities.{name}_gait.motion", "Replace it by curves of your own."
    key, scale = f"{block}.file", f"{block}.scale"
    shapes.assume("gait", key, settings_path(file), text, remedy, scale)
    return file


def _write_load(name: str, shapes: RecognisedShapes) -> str:
    """Write the built-in gait for the sake of its load, and return its file."""
    file = write_built_in_gait()
    text = "an invented load, the one of the built-in gait, at the same percent of the cycle"
    key, remedy = f"activities.{name}_gait.load.file", "Replace it by a load of your own."
    shapes.assume("load", key, settings_path(file), text, remedy)
    return file


def _kept_travel(dish: Dish, position: NDArray[np.float64], rotation: NDArray[np.float64]) -> float:
    """Part of a motion (mm and deg) that leaves contact on the bearing, at most 1."""
    turned = np.radians(np.abs(rotation - rotation.mean()).max()) * CHARACTERISTIC_LENGTH
    return dish.kept_travel(float(np.abs(position - position.mean()).max() + turned))


def _coordinates(recorded: Recording) -> tuple[str, dict[str, str]]:
    """Convention of a motion, and the names of its columns in the settings."""
    coordinates = find_opensim(recorded)
    if coordinates is not None:
        return "opensim", coordinates
    check_units(recorded, POSE)
    flexion = find_flexion(recorded)
    if flexion is None:
        raise missing(recorded, "a column of flexion", "flexion")
    columns = {"flexion": flexion}
    template = set(COLUMNS["displacement"].values()) <= set(recorded.names)
    moved = {part: single(recorded, part) for part in _DRIVEN}
    driven = [
        part if moved[part] or not single(recorded, FORCES[part]) else FORCES[part]
        for part in _DRIVEN
    ]
    columns |= find_driven(recorded, driven)
    for quantity in () if template else _SOLVED:
        key = find_start(recorded, quantity)
        if key is not None:
            columns[quantity] = key
    named = (*POSE, *FORCES.values())
    columns = {quantity: columns[quantity] for quantity in named if quantity in columns}
    return ("iso14243-3:2014" if template else "grood-suntay"), columns


def _convention_text(recorded: Recording, convention: str) -> str:
    """Lines of settings of a convention."""
    text = f"      convention: {convention}\n"
    if convention.startswith("iso"):
        signs = ", ".join(f"{name}: 1" for name in MotionSigns.model_fields)
        text += f"      signs: {{{signs}}}\n      reference_posterior_mm: 0.0\n"
    return text


def _boundary_conditions(
    shapes: RecognisedShapes,
    block: str,
    recorded: Recording,
    columns: Mapping[str, str],
    convention: str,
    dish: Dish,
    prescribes: bool,
) -> str:
    """Boundary conditions: a measured motion is prescribed where the bearing has room for it."""
    text = f"sagittal radius of the plateaus {dish.ratio:.2f} times the radius of the condyles"
    absent = [name for name in _DRIVEN if name not in columns and FORCES[name] not in columns]
    lacking = [describe(name) for name in absent]
    if lacking and dish.single:
        raise missing(
            recorded,
            f"also {' and '.join(lacking)}, which this bearing does not decide",
            absent[0],
        )
    if lacking and not dish.conforms:
        for name in absent:
            shapes.assume(
                f"free_{name}",
                f"{block}.control.{name}",
                "force",
                f"{describe(name)} is not in the file, and this bearing does not decide it: "
                "nothing drives it, and springs of soft tissue hold it",
                "Add the column to the file, and set up the study again.",
            )
        return "force"
    if is_force_controlled(columns):
        shapes.note("boundary_conditions", recorded.file, "forces of the file drive the bearing")
        return "force"
    measured = [describe(quantity) for quantity in _DRIVEN if quantity in columns]
    part = 1.0
    if prescribes and not lacking and dish.conforms:
        curves = read_curves(recorded.file, columns)
        pose, _ = femoral_pose(curves, _motion_settings(recorded, columns, convention))
        part = _kept_travel(dish, pose[:, 0], curves["rotation"].to_numpy(float))
    way = _FOLLOWS if prescribes and not lacking and part == 1.0 else _SOLVES
    shapes.note("boundary_conditions", "activities", f"{text}: {way}")
    if prescribes and measured and way != "prescribed":
        room = f", and has room for {part:.2f} of the motion" if part < 1.0 else ""
        lack = f", and {' and '.join(lacking)} is not in the file" if lacking else ""
        shapes.assume(
            CONDITIONS_ASSUMED,
            f"{block}.boundary_conditions",
            way,
            f"{' and '.join(measured)} of the file not used, but solved: the dish is close to its "
            f"condyle{room}{lack}",
            "Set prescribed to follow the file.",
        )
    return way


def _require_motion(recorded: Recording, columns: Mapping[str, str], option: str) -> None:
    """Refuse a recording without the motion that a model needs, of an option of the command."""
    absent = [name for name in _DRIVEN if name not in columns]
    if absent:
        named = " and ".join(f"'{EXAMPLES[name]}'" for name in absent)
        raise InputDataError(
            recorded.file,
            f"columns {recorded.listed}",
            f"also {' and '.join(map(describe, absent))}, as --{option} follows a measured motion",
            f"Add columns such as {named}, or leave --{option} out.",
        )


def _motion_settings(
    recorded: Recording, columns: Mapping[str, str], convention: str
) -> MotionSettings:
    """Settings of a motion as they are written, to see what its curves mean."""
    block = {"file": recorded.file, "columns": dict(columns), "convention": convention}
    if convention == "opensim":
        return OpenSimMotion.model_validate(block)
    return ClinicalMotion.model_validate({**block, "convention": "grood-suntay"})


def _scaling(
    shapes: RecognisedShapes, block: str, kind: str, given: float | None, stated: float | None
) -> tuple[str, tuple[float, ...]]:
    """Line of settings that scales a load to body weights, and the masses of the cases, kg.

    The mass that a force in N belongs to is the middle case: as given, or as the file states it.
    """
    mass = given or stated or _USUAL_BODY_MASS_KG
    masses: tuple[float, ...] = (mass - _BODY_MASS_STEP_KG, mass, mass + _BODY_MASS_STEP_KG)
    if kind != "axial_force_n" and given is None and stated is None:
        masses = _USUAL_BODY_MASSES_KG
    if kind == "ground_reaction":
        low, high = _SCALED_TO
        shapes.assume(
            "load_range",
            f"{block}.load.load_range_body_weights",
            _SCALED_TO,
            f"a ground reaction scaled to {low:g} to {high:g} body weights in the joint",
            "Set the range of the joint's load.",
        )
        return f"      load_range_body_weights: [{low:g}, {high:g}]\n", masses
    if kind != "axial_force_n":
        return "", masses
    text = f"forces of a body of {mass:g} kg"
    if given is None and stated is not None:
        shapes.note("body_mass", block, f"{text}, as the file states")
    elif given is None:
        key = f"{block}.load.body_mass_kg"
        shapes.assume("body_mass", key, mass, text, "Set the mass here and in variables.")
    else:
        shapes.note("body_mass", "--body-mass", f"{text}, as given")
    return f"      body_mass_kg: {mass:g}\n", masses


def _duration(
    shapes: RecognisedShapes,
    block: str,
    recordings: tuple[Recording, ...],
    strides: tuple[float, ...],
) -> float:
    """Duration of the cycle, s: of strides, of a column of time, or assumed."""
    if strides:
        duration = float(f"{np.diff(strides).mean():.4g}")
        text = f"{len(strides) - 1} strides of {duration:g} s on average, from where the load rises"
        shapes.note("strides", recordings[-1].file, text)
        return duration
    for recording in recordings:
        for quantity in () if recording.assumed_rate else ("time_s", "frame"):
            title = single(recording, quantity)
            if title is None or (quantity == "frame" and not has_rate(recording, title)):
                continue
            duration = float(f"{np.ptp(recording.values(title)):.6g}")
            shapes.note("duration", recording.file, f"cycle of {duration:g} s, from '{title}'")
            return duration
    text, remedy = f"a cycle of {_USUAL_DURATION_S:g} s", "Set its duration."
    shapes.assume("duration", f"{block}.duration_s", _USUAL_DURATION_S, text, remedy)
    return _USUAL_DURATION_S


def _states_line(dish: Dish) -> bool:
    """True if the load acts at a stated line: position settles, and z 0 is not in the middle."""
    return bool(dish.conforms and abs(dish.middle) >= _OFF_MIDDLE)


def ignored_load_line(dish: Dish, settles: bool) -> dict[str, str]:
    """Key of a load line, and the reason, where the insert's origin is not in its middle."""
    if not settles or not _states_line(dish):
        return {}
    reason = "the origin is beside the insert; the placement judges the load line"
    return {"activities.*.control.load_line_mm": reason}


def _strides(recording: Recording, clock: str, force: LoadChoice) -> tuple[float, ...]:
    """Times at which a load rises from its least values, s: beginnings of strides, and an end.

    Empty with fewer than two strides.
    """
    time = recording.table.numbers(clock)
    whole = [key for part, key in force.columns.items() if part in ("load", "medial", "lateral")]
    load = np.sum([recording.table.numbers(key) for key in whole], axis=0)
    limit = load.min() + _RISEN * np.ptp(load)
    before = np.flatnonzero((load[:-1] < limit) & (load[1:] >= limit))
    part = (limit - load[before]) / (load[before + 1] - load[before])
    begins: list[float] = []
    for rise in time[before] + part * np.diff(time)[before]:
        if not begins or rise - begins[-1] > _SHORTEST_STRIDE_S:
            begins.append(float(rise))
    return tuple(begins) if len(begins) > 2 else ()


def _quoted(text: str) -> str:
    """Text in double quotes, as YAML reads it."""
    return json.dumps(text, ensure_ascii=False)


def settings_path(file: str) -> str:
    """Path of a file as the settings have it."""
    path = Path(file).expanduser()
    return path.as_posix() if path.is_absolute() else Path(os.path.normpath(path)).as_posix()


def quoted_path(file: str) -> str:
    """Path of a file as written in the settings, quoted where YAML needs it."""
    return f'"{settings_path(file)}"'
