"""A study of a composed knee from a model of OpenSim: `kneewear import MODEL.osim`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from numpy.typing import NDArray

from kneewear import default_settings_file
from kneewear.base.faults import suggestion
from kneewear.base.types import is_file_name
from kneewear.contact.foundation import confined_modulus
from kneewear.errors import Finding, InputDataError, OutputFileError, Severity
from kneewear.io.documents import save_text
from kneewear.knees.osim import OsimJoint, OsimMesh, OsimModel, OsimPath, read_osim
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.rotations import angles_123, angles_312, body_three_123
from kneewear.study.settings import merge_settings, read_settings, validate_study

Array = NDArray[np.float64]
Pose = tuple[Array, Array]

# Frames of the course, and its end where the model's range goes further, deg.
_FRAMES = 31
_LAST_DEG = 90.0
_SPACING_MM = 1.0
# Ranges of coordinates beyond these are no limit (OpenSim's own is +-10 rad): mm, and deg.
_WIDEST = (1000.0, 180.0)
_JOINTS = {"PinJoint": "hinge", "BallJoint": "ball", "PlanarJoint": "planar"}
# Coordinates that change by less than this over the range of a joint are held, mm and deg.
_STILL = 1e-6


# Signs that a name of an implant does not have.
_TEXT = re.compile(r"[^\w .,()+-]")


@dataclass
class ImportedStudy:
    """Settings that were written, and what was done with the model."""

    settings: Path
    findings: list[Finding] = field(default_factory=list)


def import_model(
    path: str,
    name: str,
    *,
    ground: str | None = None,
    moving: Sequence[str] = (),
    activation: float = 0.0,
) -> ImportedStudy:
    """Write `NAME.yaml` and its tables from a model of OpenSim, in the working directory.

    Bodies that are not named are fixed to the named one from which no free joint parts them, at the
    default coordinates. The first of the bodies that move is driven over its flexion, or over the
    one coordinate that its joint has; bodies with six coordinates find the others.

    Parameters
    ----------
    path : str
        The model (.osim).
    name : str
        Name of the study and of its files.
    ground : str, optional
        Body at rest; without it the femur, with a contact mesh if there is one.
    moving : sequence of str, optional
        Bodies that move; without them those with contact meshes, or tibia and patella.
    activation : float
        Constant tension of muscles over their maximum isometric force.

    Returns
    -------
    ImportedStudy

    Raises
    ------
    InputDataError
        If the model cannot be read, or does not have the bodies.
    OutputFileError
        If the settings exist.
    """
    if not is_file_name(name):
        raise InputDataError("NAME", f"'{name}'", "letters, digits, _ and -", "Choose another.")
    file = Path(f"{name}.yaml")
    if file.exists():
        raise OutputFileError(file, "file exists", "Choose another name, or remove it.")
    model = read_osim(path)
    composer = _Composer(model, name, ground, moving)
    settings = composer.compose(activation)
    implant = {
        "name": _TEXT.sub("_", model.name),
        "knee": "left" if composer.side == "_l" else "right",
    }
    study = {"model": "multibody", "study": name, "implant": implant, "multibody": settings}
    try:
        validate_study(merge_settings(read_settings(default_settings_file()), study), str(file))
    except InputDataError as error:
        # Settings that nobody wrote: the fault is of the model, or beyond what a study takes.
        key = error.finding.where.removeprefix(f"{file}").removeprefix(", ")
        state = f"a model whose study is not supported: {error.finding.found}"
        remedy = "Change the model in OpenSim, or name other bodies by --ground and --moving."
        raise InputDataError(path, state, error.finding.expected, remedy, key) from error
    for table, rows in composer.tables.items():
        # A cell may begin with a minus: no table for spreadsheets.
        save_text(rows.to_csv(index=False), Path(table))
    text = yaml.safe_dump(study, sort_keys=False, default_flow_style=None, width=100)
    head = (
        f"# Composed from {Path(path).name}, a model of OpenSim; lengths in mm.\n"
        f"#     kneewear run {file}\n"
    )
    save_text(head + text, file)
    return ImportedStudy(file, composer.findings)


class _Composer:
    """Groups the bodies of a model around the chosen ones, and composes settings of them."""

    def __init__(
        self, model: OsimModel, name: str, ground: str | None, moving: Sequence[str]
    ) -> None:
        self.model, self.name = model, name
        self.findings: list[Finding] = []
        self.tables: dict[str, pd.DataFrame] = {}
        self.joints: dict[str, Any] = {}
        for where, reason in model.notes:
            self.note("object", where, reason)
        for kind, count in sorted(model.unread.items()):
            self.note("unread", kind, f"{count} not read", doubt=True)
        self.ground = ground or self.guess_ground()
        self.moving = list(moving) or self.guess_moving()
        for one in (self.ground, *self.moving):
            self.require(one)
        if self.ground in self.moving or len(set(self.moving)) < len(self.moving):
            found = ", ".join((self.ground, *self.moving))
            raise InputDataError(model.path, found, "different bodies", "Name each once.")
        self.free = {body: self.free_joint(body) for body in self.moving}
        # Body -> (named body to which it is fixed, rotation and origin in its frame).
        self.placed: dict[str, tuple[str, Pose]] = {}
        for body in (self.ground, *self.moving):
            self.fix(body)

    def note(self, check: str, where: str, found: str, *, doubt: bool = False) -> None:
        severity: Severity = "warn" if doubt else "note"
        self.findings.append(Finding(f"import.{check}", severity, where, found, "", ""))

    def require(self, body: str) -> None:
        if body not in self.model.bodies:
            known = ", ".join(self.model.bodies)
            remedy = suggestion(body, self.model.bodies) or "Name a body of the model."
            raise InputDataError(self.model.path, f"body '{body}'", f"one of {known}", remedy)

    def guess_ground(self) -> str:
        meshed = [mesh.frame.body for mesh in self.model.meshes.values()]
        for body in (*meshed, *self.model.bodies):
            if body.lower().startswith("femur"):
                self.note("ground", body, "taken as the body at rest; --ground names another")
                return body
        known = ", ".join(self.model.bodies)
        found, expected = "no body of a name that begins with femur", f"one of {known}"
        raise InputDataError(self.model.path, found, expected, "Name the body by --ground.")

    @property
    def side(self) -> str:
        """Ending "_r" or "_l" of the body at rest, or nothing."""
        return self.ground[-2:] if self.ground[-2:] in ("_r", "_l") else ""

    def guess_moving(self) -> list[str]:
        meshed = dict.fromkeys(mesh.frame.body for mesh in self.model.meshes.values())
        bodies = [one for one in meshed if one != self.ground] or [
            body
            for body in self.model.bodies
            if body.lower().startswith(("tibia", "patella")) and body.endswith(self.side)
        ]
        # The tibia first: it is driven.
        bodies.sort(key=lambda one: not one.lower().startswith("tibia"))
        if not bodies:
            known, found = ", ".join(self.model.bodies), "no tibia and no patella"
            raise InputDataError(
                self.model.path, found, f"one of {known}", "Name bodies by --moving."
            )
        self.note("moving", ", ".join(bodies), "taken as the bodies that move; see --moving")
        return bodies

    def steps(self, body: str) -> Iterator[tuple[OsimJoint, str]]:
        """Yield joints of a body, and the body at their other end."""
        for joint in self.model.joints.values():
            if joint.parent.body == body:
                yield joint, joint.child.body
            elif joint.child.body == body:
                yield joint, joint.parent.body

    def free_joint(self, body: str) -> OsimJoint:
        """Joint with most free coordinates between a body and the nearest other chosen one."""
        chosen = {self.ground, *self.moving} - {body}
        ways: list[tuple[str, list[OsimJoint]]] = [(body, [])]
        seen = {body}
        while ways:
            here, way = ways.pop(0)
            for joint, other in self.steps(here):
                if other in chosen:
                    found = [*way, joint]
                    best = max(found, key=_freedom)
                    if not _freedom(best):
                        where, expected = f"{body} to {other}", "a joint that moves"
                        raise InputDataError(
                            self.model.path,
                            "no free coordinate",
                            expected,
                            "Unlock a coordinate, or name other bodies.",
                            where,
                        )
                    return best
                if other not in seen:
                    seen.add(other)
                    ways.append((other, [*way, joint]))
        missing, expected = f"{body} without a joint to {self.ground}", "bodies that joints connect"
        raise InputDataError(self.model.path, missing, expected, "Name other bodies.")

    def fix(self, body: str) -> None:
        """Fix to a chosen body all those that no free joint parts from it."""
        cut = {one.name for one in self.free.values()}
        waiting = [(body, np.eye(3), np.zeros(3))]
        while waiting:
            here, turn, place = waiting.pop()
            self.placed[here] = (body, (turn, place))
            for joint, other in self.steps(here):
                if joint.name not in cut and other not in self.placed:
                    rotation, origin = joint.pose()
                    if joint.parent.body != here:
                        rotation, origin = rotation.T, -rotation.T @ origin
                    waiting.append((other, turn @ rotation, place + turn @ origin))

    def placing(self, body: str) -> tuple[str, Pose]:
        """The chosen body to which a body is fixed, and its pose there."""
        if body not in self.placed:
            known = ", ".join((self.ground, *self.moving))
            where, state = f"body {body}", "a body without a way of joints to the others"
            remedy = "Add its joint in OpenSim, or name it by --moving or --ground."
            raise InputDataError(self.model.path, state, f"a joint to {known}", remedy, where)
        return self.placed[body]

    def in_group(self, body: str, place: Array) -> tuple[str, Array]:
        """The chosen body to which a body is fixed, and a point of it there."""
        group, (turn, origin) = self.placing(body)
        return group, origin + turn @ place

    def pose_in_ground(self, body: str, values: Mapping[str, float] | None = None) -> Pose:
        """Pose of a moving body in the ground, coordinates of its free joints at `values`."""
        joint = self.free[body]
        rotation, origin = joint.pose(values)
        near, far = joint.parent.body, joint.child.body
        if self.placing(near)[0] == body:
            near, far, rotation, origin = far, near, rotation.T, -rotation.T @ origin
        group, (turn, place) = self.placing(near)
        own, shift = self.placing(far)[1]
        rotation, origin = turn @ rotation, place + turn @ origin
        rotation = rotation @ own.T
        origin = origin - rotation @ shift
        if group == self.ground:
            return rotation, origin
        turn, place = self.pose_in_ground(group, values)
        return turn @ rotation, place + turn @ origin

    def compose(self, activation: float) -> dict[str, Any]:
        """Settings of the composed knee; fills the tables."""
        bodies: dict[str, dict[str, Any]] = {_name(self.ground): {}}
        settings: dict[str, Any] = {
            "model": "composed",
            "unit": "m",
            "ground": _name(self.ground),
            "bodies": bodies,
        }
        for body in self.moving:
            bodies[_name(body)] = {"start": _rounded(_coordinates(self.pose_in_ground(body)))}
        settings["course"] = self.drive(bodies)
        settings["joints"] = self.joints
        self.add_masses(settings, bodies)
        settings["contacts"] = self.contacts(bodies)
        wraps = self.wraps()
        settings["ligaments"] = self.ligaments(wraps)
        settings["muscles"] = self.muscles(wraps, activation)
        if settings["ligaments"] or settings["muscles"]:
            self.tables[f"{self.name}_wrap_objects.csv"] = wraps
        return settings

    def drive(self, bodies: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """Course of the first body; coordinates of all that are held or follow it."""
        first = self.free[self.moving[0]]
        own = [coordinate for coordinate in first.coordinates if not coordinate.held]
        flexion = bodies[_name(self.moving[0])]["start"][3]
        driver, course = "", {"of": "flexion (deg)", "first": flexion, "last": _LAST_DEG}
        if len(own) < len(COORDINATES):
            driver = own[0].name
            rotates = any(axis.rotates for axis in first.axes if axis.coordinate == driver)
            factor = 180.0 / np.pi if rotates else 1e3
            low, high = sorted(factor * end for end in own[0].span)
            if low < -_WIDEST[rotates]:
                low = factor * own[0].default
                found = f"a range from no limit: the course starts at the default, {low:g}"
                self.note("range", driver, found, doubt=True)
            high = min(high, max(_LAST_DEG, low + 1.0))
            unit = "deg" if rotates else "mm"
            course = {"of": f"{_name(driver)} ({unit})", "first": low, "last": high}
        elif flexion >= _LAST_DEG:
            course["last"] = flexion + 10.0
        course |= {"first": round(course["first"], 6), "last": round(course["last"], 6)}
        at = np.linspace(course["first"], course["last"], _FRAMES)
        for body in self.moving:
            free = [one.name for one in self.free[body].coordinates if not one.held]
            settings = bodies[_name(body)]
            if driver and self.follows(free, driver):
                values = [self.values(driver, one / factor) for one in at]
                self.follow(body, settings, at, values, course["of"])
            elif len(free) == len(COORDINATES):
                if body == self.moving[0]:
                    ends = (course["first"], course["last"])
                    settings["driven"] = {"theta_1": [[end, end] for end in ends]}
            elif self.free[body].kind in _JOINTS:
                self.joints[_name(self.free[body].name)] = self.joint(self.free[body])
            else:
                found = f"{len(free)} free coordinates ({', '.join(free)}): all six are taken free"
                self.note("freedom", body, found, doubt=True)
        return {**course, "frames": _FRAMES}

    def joint(self, joint: OsimJoint) -> dict[str, Any]:
        """A hinge, ball or planar joint on its parent, about the z axis of its frame."""
        group, point = self.in_group(joint.parent.body, joint.parent.origin)
        axis = self.placing(joint.parent.body)[1][0] @ joint.parent.rotation[:, 2]
        other = self.placing(joint.child.body)[0]
        return {
            "kind": _JOINTS[joint.kind],
            "bodies": [_name(group), _name(other)],
            "point_mm": _rounded(point),
            "axis": _rounded(axis),
        }

    def follows(self, free: Sequence[str], driver: str) -> bool:
        """True if all free coordinates are the driver or are coupled to it."""
        couplings = self.model.couplings
        return all(one == driver or couplings.get(one, ("",))[0] == driver for one in free)

    def values(self, driver: str, value: float) -> dict[str, float]:
        """The driver, and coordinates that are coupled to it, rad or m."""
        followers = {
            name: function(value)
            for name, (of, function) in self.model.couplings.items()
            if of == driver
        }
        return {driver: value, **followers}

    def follow(
        self,
        body: str,
        settings: dict[str, Any],
        at: Array,
        values: list[dict[str, float]],
        over: str,
    ) -> None:
        """Six coordinates of a body as tables over the course; those that do not change held."""
        found = np.array([_coordinates(self.pose_in_ground(body, value)) for value in values])
        found[:, 3:] = np.degrees(np.unwrap(np.radians(found[:, 3:]), axis=0))
        still = np.ptp(found, axis=0) < _STILL
        settings["start"] = _rounded(found[0])
        settings["held"] = [name for name, one in zip(COORDINATES, still, strict=True) if one]
        file = f"{self.name}_{_name(body)}_motion.csv"
        settings["driven"] = {
            name: {"file": file, "over": over, "column": name}
            for name, one in zip(COORDINATES, still, strict=True)
            if not one
        }
        self.tables[file] = pd.DataFrame({over: at} | dict(zip(COORDINATES, found.T, strict=True)))
        self.note("motion", body, f"follows {over}, as its joint prescribes")

    def add_masses(self, settings: dict[str, Any], bodies: dict[str, dict[str, Any]]) -> None:
        """Mass and centre of all that is fixed to each moving body, and gravity in the ground."""
        for group in self.moving:
            parts = [one for one, (of, _) in self.placed.items() if of == group]
            mass = np.array([self.model.bodies[one].mass for one in parts])
            centres = [self.in_group(part, self.model.bodies[part].centre)[1] for part in parts]
            if mass.sum() > 0.0:
                centre = mass @ np.array(centres) / mass.sum()
                own = {"mass_kg": float(mass.sum()), "centre_mm": _rounded(centre)}
                bodies[_name(group)]["mass"] = own
        if "ground" in self.placed and self.model.gravity.any():
            group, (turn, _) = self.placing("ground")
            down = turn @ self.model.gravity
            if group != self.ground:
                down = self.pose_in_ground(group)[0] @ down
            settings["gravity"] = _rounded(down)

    def contacts(self, bodies: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """Contacts of meshes whose files exist, on the mesh from which rays are cast."""
        found: dict[str, Any] = {}
        for contact in self.model.contacts:
            meshes = [self.model.meshes[one] for one in (contact.casting, contact.target)]
            groups = [self.placing(mesh.frame.body)[0] for mesh in meshes]
            if groups[0] == groups[1]:
                self.note("contact", contact.name, "within one body: left out")
                continue
            parts = [self.add_shape(mesh, mesh.file, mesh.name, bodies) for mesh in meshes]
            if None in parts:
                continue
            measured = all(one.thickness is None for one in meshes)
            layer = {
                "youngs_modulus_mpa": meshes[0].youngs_modulus,
                "poisson_ratio": meshes[0].poisson_ratio,
                "thickness_mm": None,
                "strain": contact.strain,
                "field_spacing_mm": _SPACING_MM,
            }
            own: dict[str, Any] = {
                "kind": "foundation",
                "elements": parts[0],
                "indenter": parts[1],
                "layer": layer,
            }
            if measured:
                own["bones"] = [
                    self.add_shape(one, one.back_file, f"{one.name}_back", bodies) for one in meshes
                ]
                if None in own["bones"]:
                    continue
            else:
                self.join_layers(contact.name, meshes, layer)
            found[_name(contact.name)] = own
            self.note("contact", contact.name, "at the nearest point, not along rays")
        return found

    def join_layers(self, name: str, meshes: list[OsimMesh], layer: dict[str, Any]) -> None:
        """One layer of the thickness of both, with the modulus of both in series."""
        thickness = [mesh.thickness for mesh in meshes if mesh.thickness is not None]
        if len(thickness) < len(meshes):
            self.note("contact", name, "one thickness of two is given: doubled", doubt=True)
            thickness *= 2
        confined = [confined_modulus(one.youngs_modulus, one.poisson_ratio) for one in meshes]
        total = sum(thickness)
        both = total / sum(h / m for h, m in zip(thickness, confined, strict=True))
        layer["thickness_mm"] = total
        layer["youngs_modulus_mpa"] *= float(both / confined[0])

    def add_shape(
        self, mesh: OsimMesh, file: str, name: str, bodies: dict[str, dict[str, Any]]
    ) -> str | None:
        """Add a mesh to its body, and return its name there; None where there is no file."""
        folder = self.model.path.parent
        known = [one / file for one in (folder, folder / "Geometry", folder / "geometry")]
        paths = [one for one in known if file and one.is_file()]
        if not paths or (mesh.scale != 1.0).any():
            found = "scaled mesh" if paths else f"no file {file or 'of its back'}"
            self.note("mesh", mesh.name, f"{found}: its contacts are left out", doubt=True)
            return None
        group, place = self.in_group(mesh.frame.body, mesh.frame.origin)
        turn = self.placing(mesh.frame.body)[1][0] @ mesh.frame.rotation
        placement = _rounded(np.concatenate([place, np.degrees(angles_123(turn))]))
        shape = {"kind": "mesh", "file": str(paths[0].resolve()), "placement": placement}
        bodies[_name(group)].setdefault("shapes", {})[_name(name)] = shape
        return f"{_name(group)}.{_name(name)}"

    def wraps(self) -> pd.DataFrame:
        """Table of all wrap objects in the frames of the chosen bodies."""
        rows = []
        for wrap in self.model.wraps.values():
            group, place = self.in_group(wrap.body, wrap.origin)
            turn = self.placing(wrap.body)[1][0] @ body_three_123(wrap.rotation)
            size = [*wrap.size, *[np.nan] * (3 - len(wrap.size))]
            side = " ".join(f"{v:g}" for v in wrap.side) if wrap.side.any() else ""
            rows.append(
                [
                    wrap.name,
                    wrap.kind,
                    _name(group),
                    *place,
                    *angles_123(turn),
                    *size,
                    wrap.length,
                    side,
                ]
            )
        axes = "xyz"
        columns = [
            "name",
            "kind",
            "body",
            *(f"translation_{a}_mm" for a in axes),
            *(f"rotation_{a}_rad" for a in axes),
            "radius_or_semiaxis_x_mm",
            "semiaxis_y_mm",
            "semiaxis_z_mm",
            "length_mm",
            "side",
        ]
        return pd.DataFrame(rows, columns=columns)

    def course_of(self, name: str, path: OsimPath) -> tuple[list[tuple[str, Array]], str] | None:
        """Points on chosen bodies and the wrap object of a path; None if it joins no two bodies."""
        points = [self.in_group(body, place) for body, place in path.points]
        if len({group for group, _ in points}) < 2:
            return None
        wraps = [wrap for wrap in path.wraps if wrap in self.model.wraps]
        if len(wraps) > 1:
            self.note("wraps", name, f"{wraps[0]} of {len(wraps)} wrap objects", doubt=True)
        return points, wraps[0] if wraps else ""

    def ligaments(self, wraps: pd.DataFrame) -> dict[str, Any]:
        """Tables of two-point ligaments, one for each transition strain."""
        rows: dict[float, list[list[Any]]] = {}
        for ligament in self.model.ligaments:
            course = self.course_of(ligament.name, ligament.path)
            if course is None:
                continue
            points, wrap = course
            if len(points) > 2:
                found = f"{len(points)} points: a straight line from the first to the last"
                self.note("ligament", ligament.name, found, doubt=True)
            ends = [v for group, place in (points[0], points[-1]) for v in (_name(group), *place)]
            own = [ligament.name, *ends, ligament.stiffness, ligament.slack_length, wrap]
            rows.setdefault(ligament.transition_strain, []).append(own)
        columns = [
            "bundle",
            *(
                f"{c}"
                for end in (1, 2)
                for c in (f"body_{end}", *(f"{axis}{end}_mm" for axis in "xyz"))
            ),
            "linear_stiffness_n_per_strain",
            "slack_length_mm",
            "wrap_object",
        ]
        given: dict[str, Any] = {}
        for number, (strain, own) in enumerate(rows.items()):
            key = f"ligaments_{number + 1}" if number else "ligaments"
            file = f"{self.name}_{key}.csv"
            self.tables[file] = pd.DataFrame(own, columns=columns)
            given[key] = {"file": file, "transition_strain": strain} | self.wrapped(wraps)
        return given

    def muscles(self, wraps: pd.DataFrame, activation: float) -> dict[str, Any]:
        """Table of muscles across the chosen bodies, with a constant tension."""
        rows: list[list[Any]] = []
        for one in self.model.muscles:
            course = self.course_of(one.name, one.path)
            if course is not None:
                points, wrap = course
                rows += [
                    [
                        one.name,
                        one.force,
                        number,
                        _name(group),
                        *place,
                        wrap,
                        one.fibre_length,
                        one.tendon_length,
                        one.pennation,
                    ]
                    for number, (group, place) in enumerate(points, 1)
                ]
        if not rows:
            return {}
        columns = [
            "muscle",
            "max_isometric_force_n",
            "point",
            "body",
            "x_mm",
            "y_mm",
            "z_mm",
            "wrap_object",
            "optimal_fibre_length_mm",
            "tendon_slack_length_mm",
            "pennation_rad",
        ]
        file = f"{self.name}_muscles.csv"
        self.tables[file] = pd.DataFrame(rows, columns=columns)
        count = self.tables[file]["muscle"].nunique()
        found = f"{count} muscles: a tension of {activation:g} times the maximum isometric force"
        self.note("muscles", file, f"{found} at any length; a table of tensions refines it")
        return {"muscles": {"file": file, "activation": activation} | self.wrapped(wraps)}

    def wrapped(self, wraps: pd.DataFrame) -> dict[str, Any]:
        return {"wrap_objects": f"{self.name}_wrap_objects.csv"} if len(wraps) else {}


def _freedom(joint: OsimJoint) -> int:
    return sum(not coordinate.held for coordinate in joint.coordinates)


def _coordinates(pose: Pose) -> Array:
    """Position, mm, and flexion, adduction and rotation, deg, of a pose."""
    z, x, y = np.degrees(angles_312(pose[0]))
    return np.array([*pose[1], -z, x, y])


def _rounded(values: Array) -> list[float]:
    return [float(one) + 0.0 for one in np.round(values, 9)]


def _name(text: str) -> str:
    """A name of settings."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", text)
