"""Models of OpenSim (.osim): bodies, joints, paths, wrap objects and contact meshes, in mm."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

import numpy as np
import scipy
from numpy.polynomial import Polynomial
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kneewear.errors import InputDataError
from kneewear.io.data_file import decode_text, read_data
from kneewear.mechanics.rotations import body_three_123

Array = NDArray[np.float64]

MM = 1000.0
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_DECLARATION = re.compile(r"^<\?xml.*?\?>", re.DOTALL)
_BARE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);)")
# Characters that XML does not have.
_NO_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_QUADRANT = re.compile("([+-]?)([xyz])")
# Words for true and false.
_FLAGS = {"true": True, "1": True, "false": False, "0": False}
# Functions within functions that any model has.
_MAX_DEPTH = 20
# Models before this version hold joints in their bodies.
_FIRST_VERSION = 40000
# Axes of the coordinates of joints without a spatial transform, in their order: r rotates, t moves.
_AXES = {
    "WeldJoint": "",
    "PinJoint": "rz",
    "SliderJoint": "tx",
    "UniversalJoint": "rx ry",
    "BallJoint": "rx ry rz",
    "PlanarJoint": "rz tx ty",
    "GimbalJoint": "rx ry rz",
    "FreeJoint": "rx ry rz tx ty tz",
}


class OsimFrame(NamedTuple):
    """A frame fixed to a body: axes (columns) and origin, mm, in the body's frame."""

    body: str
    rotation: Array
    origin: Array

    def point(self, place: Array) -> Array:
        """A point of the frame in the body's frame, mm."""
        return self.origin + self.rotation @ place


class OsimBody(NamedTuple):
    """Mass, kg, its centre, mm, and moments of inertia about it, kg m2: xx, yy, zz, xy, xz, yz."""

    mass: float
    centre: Array
    inertia: Array


class OsimCoordinate(NamedTuple):
    """A coordinate of a joint: default and range, rad or m, and whether it is held."""

    name: str
    default: float
    span: tuple[float, float]
    held: bool


class OsimAxis(NamedTuple):
    """A motion along or about an axis as a function of a coordinate, or of none."""

    rotates: bool
    axis: Array
    coordinate: str
    value: Callable[[float], float]


@dataclass(frozen=True)
class OsimJoint:
    """A joint: frames on parent and child, and the pose of the latter in the former."""

    name: str
    kind: str
    parent: OsimFrame
    child: OsimFrame
    coordinates: tuple[OsimCoordinate, ...]
    axes: tuple[OsimAxis, ...]

    def pose(self, values: Mapping[str, float] | None = None) -> tuple[Array, Array]:
        """Rotation and origin, mm, of the child body in the parent body.

        At the defaults of coordinates that `values`, rad or m, do not have.
        """
        at = {coordinate.name: coordinate.default for coordinate in self.coordinates} | dict(
            values or {}
        )
        turn, place = np.eye(3), np.zeros(3)
        for axis in self.axes:
            value = axis.value(at.get(axis.coordinate, 0.0))
            if axis.rotates:
                turn = turn @ Rotation.from_rotvec(value * axis.axis).as_matrix()
            else:
                place = place + MM * value * axis.axis
        rotation = self.parent.rotation @ turn @ self.child.rotation.T
        return rotation, self.parent.point(place) - rotation @ self.child.origin


class OsimPath(NamedTuple):
    """A path: points (frame's body and place, mm), names of its wrap objects."""

    points: tuple[tuple[str, Array], ...]
    wraps: tuple[str, ...]


class OsimLigament(NamedTuple):
    """A ligament of Blankevoort: path, stiffness, N, slack length, mm, transition strain."""

    name: str
    path: OsimPath
    stiffness: float
    slack_length: float
    transition_strain: float


class OsimMuscle(NamedTuple):
    """A muscle: path, maximum isometric force, N, fibre and tendon, mm, and pennation, rad."""

    name: str
    path: OsimPath
    force: float
    fibre_length: float
    tendon_length: float
    pennation: float


class OsimWrap(NamedTuple):
    """A wrap object: kind, body, rotation (body-fixed x, y, z), origin, sizes, length, side; mm."""

    name: str
    kind: str
    body: str
    rotation: Array
    origin: Array
    size: tuple[float, ...]
    length: float
    side: Array


class OsimMesh(NamedTuple):
    """A contact mesh with its layer: files, frame, scale; MPa and mm, thickness None to measure."""

    name: str
    frame: OsimFrame
    file: str
    back_file: str
    scale: Array
    youngs_modulus: float
    poisson_ratio: float
    thickness: float | None


class OsimContact(NamedTuple):
    """Contact of two meshes, by name; rays start on the first."""

    name: str
    casting: str
    target: str
    strain: str


@dataclass
class OsimModel:
    """Content of a model file; `unread` counts objects by class, `notes` are (object, reason).

    `couplings` are, by a coordinate that follows another one, the latter and the function.
    """

    name: str
    path: Path
    bodies: dict[str, OsimBody] = field(default_factory=dict)
    joints: dict[str, OsimJoint] = field(default_factory=dict)
    wraps: dict[str, OsimWrap] = field(default_factory=dict)
    ligaments: list[OsimLigament] = field(default_factory=list)
    muscles: list[OsimMuscle] = field(default_factory=list)
    meshes: dict[str, OsimMesh] = field(default_factory=dict)
    contacts: list[OsimContact] = field(default_factory=list)
    couplings: dict[str, tuple[str, Callable[[float], float]]] = field(default_factory=dict)
    gravity: Array = field(default_factory=lambda: np.zeros(3))
    unread: Counter[str] = field(default_factory=Counter)
    notes: list[tuple[str, str]] = field(default_factory=list)


def read_osim(path: str | Path) -> OsimModel:
    """Read a model of OpenSim 4.

    Parameters
    ----------
    path : str or Path
        The model (.osim).

    Returns
    -------
    OsimModel
        Lengths in mm. Objects that are not read are counted by class.

    Raises
    ------
    InputDataError
        If the file is no model of OpenSim 4, or refers to a body that it does not have.
    """
    root = _parse_xml(path, read_data(path, "a model of OpenSim"))
    model = root.find("Model")
    digits = root.get("Version", "0")[:9]
    version = int(digits) if digits.isdecimal() else 0
    if root.tag != "OpenSimDocument" or model is None:
        found = f"a document {root.tag}"
        raise InputDataError(path, found, "a model of OpenSim", "Name a file of a model (.osim).")
    if version < _FIRST_VERSION:
        found, remedy = f"version {version}", "Open and save it in OpenSim 4."
        raise InputDataError(path, found, f"version {_FIRST_VERSION} or later", remedy)
    return _Reader(Path(path), model).read()


def _parse_xml(path: str | Path, content: bytes) -> ET.Element:
    """Document of a file, read as leniently as OpenSim does (TinyXML).

    An ampersand may be bare, names may have colons (`HuntCrossleyForce::ContactParametersSet`),
    comments may have two hyphens, text may be Latin-1, and blanks may come first.
    """
    try:
        text = decode_text(path, content)
    except InputDataError:
        text = content.decode("latin-1")
    text = _COMMENT.sub(lambda comment: "\n" * comment.group().count("\n"), text.strip())
    text = _BARE_AMPERSAND.sub("&amp;", _NO_XML.sub(" ", _DECLARATION.sub("", text)))
    builder = ET.TreeBuilder()
    # Without namespaces, in which colons would be no part of names.
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(text.encode(), True)
        return builder.close()
    except (expat.ExpatError, AssertionError) as error:
        remedy = "Export it from OpenSim again, or correct the element there."
        raise InputDataError(path, f"no XML: {error}", "a model of OpenSim", remedy) from None


class _Reader:
    """Reads the parts of a model; frames first, as all others name them."""

    def __init__(self, path: Path, root: ET.Element) -> None:
        self.root = root
        self.model = OsimModel(root.get("name", path.stem), path)
        self.frames = {"ground": OsimFrame("ground", np.eye(3), np.zeros(3))}
        # Frames with an offset, and where they are, by what sockets name.
        self.offsets: dict[str, tuple[ET.Element, str]] = {}
        # Names of wrap objects, also of those that are not read.
        self.wraps: set[str] = set()

    def read(self) -> OsimModel:
        model = self.model
        # A file need not have a ground, which every model has.
        ground = self.root.find("Ground")
        ground = ET.Element("Ground") if ground is None else ground
        bodies = {"ground": ground}
        for each in self.root.findall("BodySet/objects/Body"):
            bodies[self.new_name(each, bodies)] = each
        for name, body in bodies.items():
            self.frames[name] = OsimFrame(name, np.eye(3), np.zeros(3))
            inertia = self.numbers(body, "inertia", 6, (0.0,) * 6)
            centre = MM * self.numbers(body, "mass_center", 3, (0.0,) * 3)
            mass = self.number(body, "mass", 0.0)
            if mass < 0.0:
                raise self.refuse(body, f"a mass of {mass:g} kg", "0 kg or more", "Correct it.")
            model.bodies[name] = OsimBody(mass, centre, inertia)
            self.add_offsets(body, "components", name)
        self.add_offsets(self.root, "components", "")
        for one in self.root.findall("JointSet/objects/*"):
            self.add_offsets(one, "frames", str(one.get("name")))
        for name, body in bodies.items():
            for wrap in body.findall("WrapObjectSet/objects/*"):
                self.read_wrap(wrap, name)
        for one in self.root.findall("JointSet/objects/*"):
            self.read_joint(one)
        for one in self.root.findall("ContactGeometrySet/objects/*"):
            self.read_mesh(one)
        for one in self.root.findall("ForceSet/objects/*"):
            self.read_force(one)
        for one in self.root.findall("ConstraintSet/objects/*"):
            self.read_constraint(one)
        model.unread.update(one.tag for one in self.root.findall("ControllerSet/objects/*"))
        model.gravity = self.numbers(self.root, "gravity", 3, (0.0, -9.80665, 0.0))
        return model

    def unsupported(self, one: ET.Element, found: str, remedy: str) -> InputDataError:
        """Error about what OpenSim reads and this module does not."""
        return self.refuse(one, f"{found}: not supported", "what kneewear imports", remedy)

    def refuse(self, one: ET.Element, found: str, expected: str, remedy: str) -> InputDataError:
        where = f"{one.tag} {one.get('name')}"
        return InputDataError(self.model.path, found, expected, remedy, where)

    def numbers(
        self, one: ET.Element, tag: str, count: int, default: tuple[float, ...] | None = None
    ) -> Array:
        """Finite numbers of a tag; the default of OpenSim where the file leaves it out."""
        text = one.findtext(tag)
        words = [] if text is None else text.split()
        if text is None and default is not None:
            return np.array(default, dtype=float)
        try:
            found = np.array(words, dtype=float)
        except ValueError:
            found = np.empty(0)
        if (count and found.size != count) or not found.size or not np.isfinite(found).all():
            expected = f"{count or 'some'} numbers of {tag}"
            raise self.refuse(one, f"'{(text or '')[:40]}'", expected, "Correct the file.")
        return found

    def number(self, one: ET.Element, tag: str, default: float) -> float:
        return float(self.numbers(one, tag, 1, (default,))[0])

    def flag(self, one: ET.Element, tag: str, default: bool) -> bool:
        word = one.findtext(tag, str(default)).strip().lower()
        if word not in _FLAGS:
            raise self.refuse(one, f"{tag} '{word}'", "true or false", "Correct the file.")
        return _FLAGS[word]

    def new_name(self, one: ET.Element, known: Container[str]) -> str:
        """Name of an object, which others of its kind do not have: it is found by it."""
        name = str(one.get("name", ""))
        if not name or name in known:
            state = f"a second {one.tag} '{name}'" if name else f"a {one.tag} without a name"
            raise self.refuse(one, state, "names that differ", "Rename it in OpenSim.")
        return name

    def add_offsets(self, one: ET.Element, tag: str, within: str) -> None:
        """Note the frames with an offset below a body, a joint or the model, and below these."""
        for each in one.findall(f"{tag}/PhysicalOffsetFrame"):
            place = f"{within}/{each.get('name')}".removeprefix("/")
            self.offsets[place] = each, within
            self.add_offsets(each, "components", place)

    def frame(self, one: ET.Element, tag: str, within: str, depth: int = 0) -> OsimFrame:
        """Frame that a socket names, by its path or within a joint or body."""
        path = one.findtext(tag, "").strip()
        words = [word for word in path.split("/") if word.strip(".")]
        ends = ["/".join(words[n:]) for n in range(len(words))]
        # Without a name the path leads up: to what holds the frame.
        above = within.rsplit("/", max(0, path.count("..") - 1))[0]
        for key in (f"{within}/{words[-1]}", *ends) if words else (above,):
            if key in self.offsets and depth < _MAX_DEPTH:
                self.frames[key] = self.offset(*self.offsets.pop(key), depth + 1)
            if key in self.frames:
                return self.frames[key]
        found = f"{tag} '{path}'"
        for each in self.root.iter():
            if words and each.get("name") == words[-1] and each.tag.endswith("Frame"):
                remedy = "Replace it by a PhysicalOffsetFrame, or name other bodies."
                raise self.unsupported(one, f"{found}, a {each.tag}", remedy)
        raise self.refuse(one, found, "a body or frame of the model", "Correct it.")

    def offset(self, one: ET.Element, within: str, depth: int) -> OsimFrame:
        """Frame with an offset from a body or another frame."""
        parent = self.frame(one, "socket_parent", within, depth)
        turn = body_three_123(self.numbers(one, "orientation", 3, (0.0,) * 3))
        place = MM * self.numbers(one, "translation", 3, (0.0,) * 3)
        return OsimFrame(parent.body, parent.rotation @ turn, parent.point(place))

    def read_joint(self, one: ET.Element) -> None:
        name = self.new_name(one, self.model.joints)
        coordinates = tuple(
            OsimCoordinate(
                str(each.get("name")),
                self.number(each, "default_value", 0.0),
                _pair(self.numbers(each, "range", 2, (-10.0, 10.0))),
                self.flag(each, "locked", False) or self.flag(each, "prescribed", False),
            )
            for each in one.findall("coordinates/Coordinate")
        )
        axes: tuple[OsimAxis, ...] = ()
        if one.tag == "CustomJoint":
            axes = tuple(self.axes(one))
        elif one.tag in _AXES:
            named = [each.name for each in coordinates] or [""] * 6
            axes = tuple(
                OsimAxis(word[0] == "r", np.eye(3)["xyz".index(word[1])], coordinate, float)
                for word, coordinate in zip(_AXES[one.tag].split(), named, strict=False)
            )
        else:
            self.model.notes.append((name, f"a {one.tag}, taken as rigid"))
        parent, child = (self.frame(one, f"socket_{n}_frame", name) for n in ("parent", "child"))
        if parent.body == child.body:
            found = f"a joint of {child.body} with itself"
            raise self.refuse(one, found, "two bodies", "Correct its frames in OpenSim.")
        self.model.joints[name] = OsimJoint(name, one.tag, parent, child, coordinates, axes)

    def axes(self, one: ET.Element) -> Iterator[OsimAxis]:
        """Yield axes of a spatial transform: rotations in their order, then translations."""
        own = [str(each.get("name")) for each in one.findall("coordinates/Coordinate")]
        for each in one.findall("SpatialTransform/TransformAxis"):
            axis = self.numbers(each, "axis", 3)
            if not axis.any():
                raise self.refuse(each, "an axis of zeros", "a direction", "Correct the axis.")
            names = each.findtext("coordinates", "").split()
            self.require_known(each, names, own, "a coordinate of its joint")
            if len(names) > 1:
                found = f"an axis of {len(names)} coordinates"
                raise self.unsupported(each, found, "Simplify the joint in OpenSim.")
            rotates = str(each.get("name")).startswith("rotation")
            axis = axis / float(np.linalg.norm(axis))
            yield OsimAxis(rotates, axis, "".join(names), self.function(each))

    def require_known(
        self, one: ET.Element, names: Iterable[str], known: Container[str], expected: str
    ) -> None:
        """Refuse names of what the model does not have."""
        for name in names:
            if name not in known:
                raise self.refuse(one, f"the name '{name}'", expected, "Correct it in OpenSim.")

    def function(self, one: ET.Element, depth: int = 0) -> Callable[[float], float]:
        """Function of a coordinate."""
        if depth > _MAX_DEPTH:
            found = f"functions within more than {_MAX_DEPTH} others"
            raise self.unsupported(one, found, "Replace it by one function in OpenSim.")
        inner = [each for each in one if each.tag not in ("coordinates", "axis")]
        each = inner[0] if inner else None
        if each is not None and each.tag == "function":
            each = next(iter(each), None)
        if each is None:
            return float if one.findtext("coordinates", "").strip() else lambda at: 0.0
        if each.tag == "MultiplierFunction":
            scale, own = self.number(each, "scale", 1.0), self.content(each, "function", depth + 1)
            return lambda at: scale * own(at)
        if each.tag == "Constant":
            value = self.number(each, "value", 0.0)
            return lambda at: value
        if each.tag in ("LinearFunction", "PolynomialFunction"):
            # Highest power first.
            return Polynomial(self.numbers(each, "coefficients", 0)[::-1])
        if each.tag in ("SimmSpline", "PiecewiseLinearFunction"):
            x, y = self.numbers(each, "x", 0), self.numbers(each, "y", 0)
            if x.size != y.size or x.size < 2 or (np.diff(x) <= 0.0).any():
                expected = "as many y as x, two or more, in ascending order"
                raise self.refuse(each, f"{x.size} x and {y.size} y", expected, "Correct it.")
            if each.tag == "PiecewiseLinearFunction":
                return lambda at: float(np.interp(at, x, y))
            return simm_spline(x, y)
        remedy = "Replace it in OpenSim by a constant, linear or polynomial function, or a spline."
        raise self.unsupported(one, each.tag, remedy)

    def content(self, one: ET.Element, tag: str, depth: int = 0) -> Callable[[float], float]:
        """Function in an element of this tag, which has one."""
        holder = one.find(tag)
        if holder is None or len(holder) == 0:
            raise self.refuse(one, f"no function in {tag}", "one", "Add it in OpenSim.")
        return self.function(holder, depth)

    def read_wrap(self, one: ET.Element, body: str) -> None:
        name, kind = str(one.get("name")), one.tag.removeprefix("Wrap").lower()
        if name in self.wraps:  # paths pass the first one
            self.model.notes.append((name, f"a second one, of {body}, is left out"))
            return
        self.wraps.add(name)
        if kind not in ("cylinder", "sphere", "ellipsoid") or not self.flag(one, "active", True):
            self.model.notes.append((name, f"{one.tag}: paths pass it straight"))
            return
        radius = MM * self.number(one, "radius", 1.0)
        size = (radius,)
        if kind == "ellipsoid":
            size = tuple((MM * self.numbers(one, "dimensions", 3)).tolist())
        side = np.zeros(3)
        quadrant = one.findtext("quadrant", "all").strip().lower()
        match = _QUADRANT.fullmatch(quadrant)
        if match:
            side["xyz".index(match[2])] = -1.0 if match[1] == "-" else 1.0
        elif quadrant not in ("all", "", "unassigned"):
            expected = "all, or x, y or z with or without a sign"
            raise self.refuse(one, f"quadrant '{quadrant}'", expected, "Correct it.")
        self.model.wraps[name] = OsimWrap(
            name,
            kind,
            body,
            self.numbers(one, "xyz_body_rotation", 3, (0.0,) * 3),
            MM * self.numbers(one, "translation", 3, (0.0,) * 3),
            size,
            MM * self.number(one, "length", 1.0) if kind == "cylinder" else np.nan,
            side,
        )

    def read_mesh(self, one: ET.Element) -> None:
        if one.tag != "Smith2018ContactMesh":
            self.model.unread[one.tag] += 1
            return
        name = self.new_name(one, self.model.meshes)
        frame = self.frame(one, "socket_frame", name)
        turn = body_three_123(self.numbers(one, "orientation", 3, (0.0,) * 3))
        place = MM * self.numbers(one, "location", 3, (0.0,) * 3)
        measured = self.flag(one, "use_variable_thickness", False)
        self.model.meshes[name] = OsimMesh(
            name,
            OsimFrame(frame.body, frame.rotation @ turn, frame.point(place)),
            one.findtext("mesh_file", "").strip(),
            one.findtext("mesh_back_file", "").strip(),
            self.numbers(one, "scale_factors", 3, (1.0,) * 3),
            1e-6 * self.number(one, "elastic_modulus", 1e6),
            self.number(one, "poissons_ratio", 0.5),
            None if measured else MM * self.number(one, "thickness", 0.005),
        )

    def read_force(self, one: ET.Element) -> None:
        model, name = self.model, str(one.get("name"))
        if not self.flag(one, "appliesForce", True):
            model.notes.append((name, "does not apply its force"))
        elif one.tag == "Blankevoort1991Ligament":
            self.new_name(one, [each.name for each in model.ligaments])
            model.ligaments.append(
                OsimLigament(
                    name,
                    self.path(one),
                    self.number(one, "linear_stiffness", 1.0),
                    MM * self.number(one, "slack_length", 1.0),
                    self.number(one, "transition_strain", 0.06),
                )
            )
        elif one.tag.endswith("Muscle"):
            self.new_name(one, [each.name for each in model.muscles])
            model.muscles.append(
                OsimMuscle(
                    name,
                    self.path(one),
                    self.number(one, "max_isometric_force", 1000.0),
                    MM * self.number(one, "optimal_fiber_length", 0.1),
                    MM * self.number(one, "tendon_slack_length", 0.2),
                    self.number(one, "pennation_angle_at_optimal", 0.0),
                )
            )
        elif one.tag == "Smith2018ArticularContactForce":
            meshes = [
                one.findtext(f"socket_{part}_mesh", "").strip().rpartition("/")[2]
                for part in ("casting", "target")
            ]
            for mesh in meshes:
                if mesh not in model.meshes:
                    raise self.refuse(one, f"mesh '{mesh}'", "a mesh of the model", "Correct it.")
            form = one.findtext("elastic_foundation_formulation", "linear").strip()
            strain = "large" if form == "nonlinear" else "small"
            model.contacts.append(OsimContact(name, meshes[0], meshes[1], strain))
        else:
            model.unread[one.tag] += 1

    def read_constraint(self, one: ET.Element) -> None:
        """Coordinates that follow another one; other constraints are not read."""
        drivers = one.findtext("independent_coordinate_names", "").split()
        if not self.flag(one, "isEnforced", True):
            self.model.notes.append((str(one.get("name")), "is not enforced"))
            return
        if one.tag != "CoordinateCouplerConstraint" or len(drivers) != 1:
            self.model.unread[one.tag] += 1
            return
        value = self.content(one, "coupled_coordinates_function")
        scale = self.number(one, "scale_factor", 1.0)
        follower = one.findtext("dependent_coordinate_name", "").strip()
        joints = self.model.joints.values()
        known = {each.name for joint in joints for each in joint.coordinates}
        self.require_known(one, (follower, *drivers), known, "a coordinate of the model")
        if follower in drivers:
            expected = "another coordinate"
            raise self.refuse(one, f"{follower} that follows itself", expected, "Correct it.")
        self.model.couplings[follower] = drivers[0], lambda at: scale * value(at)

    def path(self, one: ET.Element) -> OsimPath:
        """Points and wrap objects of a path."""
        geometry = one.find("GeometryPath")
        geometry = one.find("path") if geometry is None else geometry
        if geometry is None:
            raise self.refuse(one, "no path", "a GeometryPath", "Save it again in OpenSim 4.")
        name, points, moves = str(one.get("name")), [], False
        for each in geometry.findall("PathPointSet/objects/*"):
            frame = self.frame(each, "socket_parent_frame", name)
            if each.tag == "MovingPathPoint":
                self.model.notes.append((name, "a moving point of its path is left out"))
                moves = True
                continue
            if each.tag == "ConditionalPathPoint":
                self.model.notes.append((name, "a point of its path counts at any angle"))
            points.append((frame.body, frame.point(MM * self.numbers(each, "location", 3))))
        if len(points) < 2 and moves:
            remedy = "Replace its moving points by fixed ones in OpenSim, or remove it."
            raise self.unsupported(one, "a path of moving points", remedy)
        if len(points) < 2:
            raise self.refuse(one, f"{len(points)} points", "two or more", "Correct the path.")
        wraps = tuple(
            each.findtext("wrap_object", "").strip()
            for each in geometry.findall("PathWrapSet/objects/PathWrap")
        )
        self.require_known(one, wraps, self.wraps, "a wrap object of the model")
        return OsimPath(tuple(points), wraps)


def _pair(values: Array) -> tuple[float, float]:
    return float(values[0]), float(values[1])


def simm_spline(x: Array, y: Array) -> Callable[[float], float]:
    """Cubic spline of OpenSim's SimmSpline, linear beyond its ends.

    Its third derivative at each end equals the one of the cubic through four points; of three
    points the second derivative does not change in the end intervals (Forsythe, Malcolm and Moler
    1977, Computer Methods for Mathematical Computations, section 4.4, quoted from memory).
    """
    count, step, rise = x.size, np.diff(x), np.diff(y) / np.diff(x)
    if count == 2:
        slope = np.array([rise[0], rise[0]])
    else:
        matrix, right = np.zeros((count, count)), np.zeros(count)
        for n in range(1, count - 1):
            matrix[n, n - 1 : n + 2] = step[n - 1], 2.0 * (step[n - 1] + step[n]), step[n]
            right[n] = rise[n] - rise[n - 1]
        for row, first, inner in ((0, 0, 1), (count - 1, count - 4, count - 2)):
            matrix[row, row], matrix[row, inner] = -1.0, 1.0
            if count > 3:
                own = slice(first, first + 4)
                third = _divided(x[own], y[own]) * step[min(row, count - 2)]
                right[row] = third if row == 0 else -third
        bend = np.linalg.solve(matrix, right)  # a sixth of the second derivative
        slope = np.empty(count)
        slope[:-1] = rise - step * (2.0 * bend[:-1] + bend[1:])
        slope[-1] = rise[-1] + step[-1] * (bend[-2] + 2.0 * bend[-1])
    spline = scipy.interpolate.CubicHermiteSpline(x, y, slope)

    def value(at: float) -> float:
        inside = min(max(at, x[0]), x[-1])
        return float(spline(inside) + (at - inside) * slope[0 if at < x[0] else -1])

    return value


def _divided(x: Array, y: Array) -> float:
    """Divided difference of all points."""
    for order in range(1, x.size):
        y = np.diff(y) / (x[order:] - x[:-order])
    return float(y[0])
