"""What NetCDF files hold: the variables of each value object, with their units and meanings."""

from __future__ import annotations

from dataclasses import dataclass

# Dimensions of the same length in every file.
LENGTHS = {
    "component": 3,
    "coordinate": 6,
    "tangent": 2,
    "corner": 3,
    "cell_corner": 4,
    "plan": 2,
    "edge_end": 2,
    "limit": 2,
    "table_axis": 3,
}
# Chunk lengths along dimensions that are read in parts; all others are stored whole. One case or a
# few frames of it then stay cheap to read, and 9 x 9 samples of 14 columns are the 9072 bytes of
# Machado's records.
CHUNKS = {"life": 1, "activity": 1, "case": 1, "frame": 10, "u_sample": 9, "v_sample": 9}


@dataclass(frozen=True)
class Variable:
    """One variable of a file.

    Parameters
    ----------
    name : str
        Name in the file.
    dimensions : str
        Dimensions separated by spaces, slowest first.
    units : str
        Unit, "1" for pure numbers.
    long_name : str
        Meaning in a few words.
    dtype : str
        Type of the values: a numpy type, or "text".
    field : str
        Attribute of the value object, `cases.name` for an attribute of each of its records; as
        the variable when empty.
    labels : tuple of str
        Values that are the same in every file, and no attribute of the value object.
    coordinate : bool
        Whether the variable labels a dimension.
    may_be_nan : bool
        Whether NaN has a meaning here; elsewhere it is an error.
    storage : {"whole", "chunks", "compressed"}
        How values are stored: in one piece, in chunks (`CHUNKS`), or in compressed chunks.
    mask : str
        Boolean attribute of the value object; values are written as zero where it is false.
    read : bool
        False for a variable that is only there for other programs.
    """

    name: str
    dimensions: str
    units: str
    long_name: str
    dtype: str = "f8"
    field: str = ""
    labels: tuple[str, ...] = ()
    coordinate: bool = False
    may_be_nan: bool = False
    storage: str = "whole"
    mask: str = ""
    read: bool = True

    @property
    def source(self) -> str:
        """Attribute of the value object."""
        return "" if self.labels else self.field or self.name

    @property
    def head(self) -> str:
        """Attribute of the value object, without that of its records."""
        return self.source.partition(".")[0]


@dataclass(frozen=True)
class Record:
    """Variables of one kind of value object.

    Attributes of the object that are not among the variables become attributes of the file (text,
    numbers, tuples) or groups (other value objects).

    Parameters
    ----------
    kind : str
        What the file or group holds; stored in it and checked on reading.
    variables : tuple of Variable
        Variables.
    joined : tuple of str
        Further tuples that are joined when several files are read as one.
    """

    kind: str
    variables: tuple[Variable, ...] = ()
    joined: tuple[str, ...] = ()


def _label(name: str, long_name: str, field: str) -> Variable:
    return Variable(name, name, "1", long_name, "text", field, coordinate=True)


_SIDE = _label("side", "side of the knee", "sides")
_ACTIVITY = _label("activity", "name of the activity", "activities")
_COMPONENT = Variable(
    "component", "component", "1", "axis of the insert's frame", "text",
    labels=("x", "y", "z"), coordinate=True,
)  # fmt: skip
_CASES = (
    _label("case", "name of the case", "cases.name"),
    Variable(
        "thickness", "case", "mm", "minimum insert thickness",
        field="cases.thickness", coordinate=True,
    ),
    Variable("body_mass", "case", "kg", "body mass", field="cases.body_mass", coordinate=True),
    Variable(
        "overrides", "case", "1", "values of further settings by path (JSON)", "text",
        field="cases.overrides", coordinate=True,
    ),
)  # fmt: skip
_PERCENT = Variable("percent", "frame", "percent", "percent of the cycle", coordinate=True)


def _pose(frame: str) -> tuple[Variable, ...]:
    """Pose of the femoral component."""
    return (
        Variable("translation", f"{frame} component", "mm", "position of the femoral component"),
        Variable("rotation", f"{frame} component", "rad", "body-three angles 1-2-3"),
    )


def _contact(side: str) -> tuple[Variable, ...]:
    """Contact of one side."""
    return (
        Variable("force", f"{side} component", "N", "contact force on the insert"),
        Variable("max_pressure", side, "MPa", "largest element pressure"),
        Variable("avg_pressure", side, "MPa", "mean non-zero element pressure"),
        Variable("contact_area", side, "mm2", "loaded area"),
        Variable(
            "centre_of_pressure", f"{side} component", "mm",
            "force-weighted mean of element centres, NaN where unloaded", may_be_nan=True,
        ),
    )  # fmt: skip


def _contact_details(side: str) -> tuple[Variable, ...]:
    """Further results of the contact of one side."""
    return (
        Variable("torque", f"{side} component", "N mm", "contact torque about the insert's origin"),
        Variable("max_penetration", side, "mm", "largest penetration"),
        Variable("active_elements", side, "1", "number of loaded elements", "i8"),
    )


def _loads(frame: str) -> tuple[Variable, ...]:
    """Loads and reactions over a cycle."""
    return (
        Variable("load", frame, "N", "load along -y"),
        Variable("load_line", frame, "mm", "medial position of the load"),
        Variable("spring_force", frame, "N", "medial-lateral spring force"),
        Variable(
            "reaction_force", f"{frame} component", "N", "drivers' force on the femoral component"
        ),
        Variable(
            "reaction_moment", f"{frame} component", "N mm",
            "drivers' moment on the femoral component about its origin",
        ),
        Variable(
            "residual", frame, "1",
            "largest unbalanced force along a free coordinate relative to the load",
        ),
    )  # fmt: skip


def _map(name: str, units: str, long_name: str) -> Variable:
    return Variable(name, "life case side row column", units, long_name, storage="compressed")


def _sum(name: str, units: str, long_name: str) -> Variable:
    return Variable(name, "side row column", units, long_name, "i8", storage="compressed")


def _of_valid(name: str, dimensions: str, units: str, long_name: str) -> Variable:
    return Variable(name, dimensions, units, long_name, mask="valid")


_FRAME, _FRAME_SIDE = "case frame", "case frame side"
_CYCLE, _CYCLE_SIDE = "activity case frame", "activity case frame side"
_ELEMENT_VECTOR = "side row column component"

RECORDS = {
    "Activity": Record(
        "activity",
        (
            _COMPONENT,
            _PERCENT,
            Variable("time", "frame", "s", "time", coordinate=True, read=False),
            Variable("duration", "", "s", "duration of the cycle"),
            *_pose("frame"),
            Variable("load", "frame", "body weights", "axial load, downwards positive"),
            Variable(
                "wrench", "frame coordinate", "body weights, body weights mm",
                "force and moment on the femoral component without the axial load, along x, y, z",
            ),
            Variable("load_line", "", "mm", "medial position of the load"),
            Variable(
                "deviation", "coordinate", "mm, rad", "standard deviation of the measured motion"
            ),
        ),
    ),
    "ContactHistory": Record(
        "contact history",
        (
            *_CASES,
            _SIDE,
            _COMPONENT,
            _PERCENT,
            Variable("time", "frame", "s", "time", coordinate=True),
            Variable(
                "pressure", f"{_FRAME_SIDE} row column", "MPa", "contact pressure", "f4",
                storage="compressed",
            ),
            Variable(
                "slip", f"{_FRAME_SIDE} row column tangent", "mm",
                "tangential displacement of the femoral surface during one frame interval", "f4",
                storage="compressed",
            ),
            *_pose(_FRAME),
            *_loads(_FRAME),
            Variable(
                "inertia_force", f"{_FRAME} component", "N",
                "mass of the femoral component times its acceleration",
            ),
            Variable(
                "inertia_moment", f"{_FRAME} component", "N mm",
                "rate of angular momentum of the femoral component about its origin",
            ),
            *_contact(_FRAME_SIDE),
            *_contact_details(_FRAME_SIDE),
        ),
        joined=("failures",),
    ),
    "PoseContact": Record(
        "contact at poses",
        (
            _SIDE,
            _COMPONENT,
            *_pose("pose"),
            Variable("pressure", "pose side row column", "MPa", "contact pressure"),
            *_contact("pose side"),
            *_contact_details("pose side"),
        ),
    ),
    "CycleRecord": Record(
        "cycle record",
        (
            _ACTIVITY,
            *_CASES,
            _SIDE,
            _COMPONENT,
            _PERCENT,
            Variable("time", "activity frame", "s", "time"),
            *_pose(_CYCLE),
            *_loads(_CYCLE),
            *_contact(_CYCLE_SIDE),
            Variable(
                "peak_load_pressure", "activity case side row column", "MPa",
                "contact pressure at the frame of largest load", "f4", storage="compressed",
            ),
        ),
    ),
    "DamageMaps": Record(
        "damage maps",
        (
            _label("life", "name of the life", "lives"),
            _ACTIVITY,
            *_CASES,
            _SIDE,
            Variable("shares", "life activity", "1", "share of the life's cycles"),
            _map("wear_depth", "mm", "depth worn away"),
            _map("creep_depth", "mm", "depth crept"),
            _map("damage_depth", "mm", "depth worn away and crept"),
            _map("max_pressure", "MPa", "largest pressure in any activity"),
            Variable(
                "avg_pressure", "life case side", "MPa",
                "maximum over the cycle of the mean non-zero element pressure",
            ),
            _map(
                "cross_shear", "1",
                "frictional work perpendicular to its principal direction, relative to the total",
            ),
        ),
    ),
    "ElementSums": Record(
        "element sums",
        (
            _SIDE,
            Variable("samples", "", "1", "number of samples summed", "i8"),
            _sum("wear", "pm", "sum of depths worn away"),
            _sum("creep", "pm", "sum of depths crept"),
            _sum("damage", "pm", "sum of depths worn away and crept"),
            _sum("wear_squares", "nm2", "sum of squared depths worn away"),
            _sum("creep_squares", "nm2", "sum of squared depths crept"),
            _sum("damage_squares", "nm2", "sum of squared depths worn away and crept"),
        ),
    ),
    "StaticRecord": Record(
        "static study",
        (
            Variable(
                "material", "case", "1", "pressure law", "text", "cases.material", coordinate=True
            ),
            Variable("flexion", "case", "deg", "flexion", field="cases.flexion", coordinate=True),
            Variable(
                "posterior", "case", "mm", "posterior position, prescribed or initial",
                field="cases.posterior", coordinate=True,
            ),
            Variable("load", "case", "N", "load along -y", field="cases.load", coordinate=True),
            _label("side", "pair of surfaces", "sides"),
            _COMPONENT,
            *_pose("case"),
            Variable(
                "reaction", "case coordinate", "N, N mm",
                "reactions along the coordinates: three forces, three moments",
            ),
            Variable("residual", "case", "1", "largest residual relative to the load"),
            *_contact("case side"),
            *_contact_details("case side"),
            Variable("rows", "case side", "1", "rows of elements", "i8"),
            Variable("columns", "case side", "1", "columns of elements", "i8"),
            Variable("element_case", "element", "1", "index of the element's case", "i8"),
            Variable("element_side", "element", "1", "index of the element's side", "i8"),
            Variable("element_pressure", "element", "MPa", "pressure of a loaded element"),
            Variable("element_area", "element", "mm2", "area of a loaded element"),
            Variable("element_centre", "element component", "mm", "centre of a loaded element"),
            Variable(
                "element_corners", "element cell_corner plan", "mm",
                "corners of the element's cell: x and z, on a post -y and z",
            ),
        ),
    ),
    "ElementGrid": Record(
        "element grid",
        (
            _SIDE,
            _COMPONENT,
            _of_valid("centre", _ELEMENT_VECTOR, "mm", "element centre on the insert's surface"),
            _of_valid("normal", _ELEMENT_VECTOR, "1", "outward unit normal"),
            _of_valid("tangent_row", _ELEMENT_VECTOR, "1", "unit tangent nearest +x"),
            _of_valid("tangent_column", _ELEMENT_VECTOR, "1", "unit tangent nearest +z"),
            _of_valid("area", "side row column", "mm2", "surface area of the element"),
            _of_valid(
                "thickness", "side row column", "mm", "local thickness of the nominal insert"
            ),
            Variable("valid", "side row column", "1", "1 where the insert exists", "bool"),
            Variable("covered", "side row column", "1", "covered part of the element's cell"),
            Variable(
                "corners", "side row_corner column_corner plan", "mm", "x and z of cell corners"
            ),
            Variable(
                "nominal_thickness", "", "mm", "nominal minimum thickness of the insert",
                may_be_nan=True,
            ),
        ),
    ),
    "Implant": Record(
        "implant surfaces",
        (
            Variable(
                "nominal_thickness", "", "mm", "nominal minimum thickness of the insert",
                may_be_nan=True,
            ),
            Variable(
                "underside", "", "mm", "height of a flat underside, NaN of a natural knee",
                may_be_nan=True,
            ),
        ),
    ),
    "Surface": Record(
        "surface",
        (
            Variable("control_points", "u v component", "mm", "control points"),
            Variable("weights", "u v", "1", "weights of the control points"),
            Variable("knots_u", "knot_u", "1", "knots along u"),
            Variable("knots_v", "knot_v", "1", "knots along v"),
        ),
    ),
    "Layer": Record(
        "subchondral surfaces",
        (Variable("limits", "limit", "mm", "minimum and maximum cartilage thickness accepted"),),
    ),
    "CamAndPost": Record(
        "cam and post", (Variable("front", "", "mm", "position x of the post's flat front"),)
    ),
    "Coverage": Record(
        "extent of a plateau",
        (Variable("edges", "edge edge_end plan", "mm", "border in plan, x and z"),),
    ),
    "PlaneUnderside": Record(
        "plane underside",
        (
            Variable("height", "", "mm", "height at the insert's origin"),
            Variable("rise_posterior", "", "1", "slope along x"),
            Variable("rise_medial", "", "1", "slope along z"),
        ),
    ),
    "MeshUnderside": Record("mesh underside"),
    "TriangleMesh": Record(
        "triangle mesh",
        (
            Variable("vertices", "vertex component", "mm", "vertices"),
            Variable("faces", "face corner", "1", "vertex indices of each triangle", "i8"),
        ),
    ),
    "SampleRows": Record(
        "surface samples",
        (
            _label("column", "quantity in a column", "columns"),
            Variable(
                "rows", "u_sample v_sample column",
                "u and v of the surface, mm, 1 (unit vectors), extra columns by name",
                "parameters, point, outward normal, tangent and binormal in the femoral frame",
                storage="chunks",
            ),
        ),
    ),
    "DistanceTable": Record(
        "distance table",
        (
            Variable("depth", "", "mm", "extent of the tabulated band into the metal"),
            Variable("outside", "", "mm", "extent of the tabulated band out of the metal"),
        ),
    ),
    "DistanceArrays": Record(
        "distance table arrays",
        (
            Variable("axis", "plan", "mm", "x and y of the medial-lateral axis"),
            Variable(
                "origin", "table_axis", "rad, mm, mm",
                "node 0: angle about the axis (0 distal, posterior positive), z, radius",
            ),
            Variable(
                "rate", "table_axis", "1/rad, 1/mm, 1/mm", "nodes per angle, z and radius"
            ),
            Variable("first", "angle z", "1", "first radial node of each column", "i4"),
            Variable("length", "angle z", "1", "radial nodes of each column", "i4"),
            Variable("base", "angle z", "1", "index of each column's radial node 0", "i4"),
            Variable(
                "coefficient", "node", "mm", "cubic B-spline coefficient of the distance", "f4"
            ),
            Variable(
                "state", "node", "1", "cell above: 0 not tabulated, 1 tabulated, 2 apart", "u1"
            ),
        ),
    ),
    "TableQuality": Record("distance table quality"),
    "GeometryRecord": Record("origin of the geometry"),
    "FitQuality": Record(
        "deviation of a fitted surface",
        (
            Variable("points", "point component", "mm", "points of the source"),
            Variable("deviation", "point", "mm", "signed distance of the points to the surface"),
        ),
    ),
    "Extraction": Record(
        "bearing extracted from a solid",
        (Variable("kept", "face", "1", "1 on the bearing", "bool"),),
    ),
}  # fmt: skip
