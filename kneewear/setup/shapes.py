"""Contents of the files of an implant: units, forms, axes and side, each with its evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from kneewear.base.assumptions import Assumption
from kneewear.base.sides import SIDES
from kneewear.errors import Finding, InputDataError, Severity
from kneewear.geometry import mesh_checks
from kneewear.geometry.extraction import extract_condyles, extract_plateaus
from kneewear.geometry.meshes import MM_PER_UNIT, TriangleMesh, joined, to_knee_axes
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
from kneewear.geometry.refinement import subdivided
from kneewear.geometry.segmentation import middle_of_axis, segment_condyles
from kneewear.io.mesh_formats import save_ply
from kneewear.io.shapes import load_shape

# Distance of the femoral origin from the condyles' axis that is rounding, mm: 0.01 mm beside it a
# rotation of 8 deg moves a condyle by 1.4 um.
_SAME_ORIGIN = 0.01
# Coordinates of an insert, mm, beyond which its origin is not its own.
_FAR = 200.0
# Distance of the middles of a single plateau and its condyle, mm, that files in one frame have.
_BELOW_CONDYLE = 4.0


@dataclass
class RecognisedShapes:
    """Insert and femoral component as recognised.

    Meshes of `parts` are in mm and the axes of a right knee; `files`, `unit`, `axes` and `forms`
    are written to the settings; `is_side_known` is False where shapes fit both knees and the user
    names none. `file_axes` are those of the user's files; `is_registered` is True where the motion
    is of poses of these files, whose origins it counts from; `moved` are the components whose
    origin is another one than in their files. `findings` have the evidence, `assumed` what files
    cannot decide; `copies` are the files that were written.
    """

    knee: str
    files: dict[str, str]
    unit: str
    axes: dict[str, str]
    forms: dict[str, str]
    parts: dict[str, TriangleMesh]
    sides: tuple[str, ...] = SIDES
    findings: list[Finding] = field(default_factory=list)
    assumed: list[Assumption] = field(default_factory=list)
    copies: list[Path] = field(default_factory=list)
    is_side_known: bool = True
    file_axes: dict[str, dict[str, str]] = field(default_factory=dict)
    is_registered: bool = False
    moved: set[str] = field(default_factory=set)

    def note(
        self, check: str, where: str, found: str, remedy: str = "", doubt: bool = False
    ) -> None:
        """Add what was recognised, with its evidence."""
        severity: Severity = "warn" if doubt else "note"
        self.findings.append(Finding(f"new.{check}", severity, where, found, "", remedy))

    def assume(
        self,
        name: str,
        key: str,
        value: str | float | tuple[float, ...],
        found: str,
        remedy: str,
        *covers: str,
    ) -> None:
        """Add a guess that files cannot decide, about the value of a setting.

        It states the settings that it `covers` as well, blocks or single ones.
        """
        self.assumed.append(
            Assumption(name=name, key=key, value=value, covers=covers, found=found, remedy=remedy)
        )

    @property
    def sheets(self) -> dict[str, TriangleMesh]:
        """Bearing sheets."""
        cutters = {"insert": extract_plateaus, "femoral": extract_condyles}
        return {
            name: cutters[name](part, self.files.get(name, name)).sheet
            if self.forms[name] == "solid"
            else part
            for name, part in self.parts.items()
        }


def recognise_shapes(
    name: str,
    insert: Sequence[str],
    femoral: Sequence[str],
    knee: str | None = None,
    sides: tuple[str, ...] = SIDES,
    registered: Callable[[RecognisedShapes], bool] = lambda shapes: False,
) -> RecognisedShapes:
    """Unit, form, axes, side and origin of an implant's files; copies are written where needed.

    One block of settings has one unit and one pair of axes, and motion turns the femoral component
    about its origin: several files of a component, files with different units or axes, and a
    femoral origin beside the middle of the condyles' axis become `NAME_insert.ply` and
    `NAME_femoral.ply`. An insert of one of the `sides` is moved below its condyle. Origins of files
    stay where `registered` says that the motion counts from them.
    """
    one_side = len(sides) == 1
    named = {"insert": list(insert), "femoral": list(femoral)}
    findings: list[Finding] = []
    doubts: list[Finding] = []
    meshes: dict[str, TriangleMesh] = {}
    originals: dict[str, TriangleMesh] = {}
    units: dict[str, str] = {}
    forms: dict[str, str] = {}
    for part, files in named.items():
        source = " + ".join(files)
        mesh = joined([load_shape(file) for file in files])
        if mesh.is_cloud:
            found, expected = "a cloud of points", "triangles, which show where the outside is"
            remedy = "Mesh the points, or copy config/example_meshes.yaml and state axes yourself."
            raise InputDataError(source, found, expected, remedy, check="new.cloud")
        units[part], finding = recognise_unit(mesh, source, one_side, part)
        mesh = TriangleMesh(mesh.vertices * MM_PER_UNIT[units[part]], mesh.faces)
        mesh, turned = outward(mesh, source)
        originals[part] = mesh
        mesh = subdivided(mesh)
        if part == "insert":
            refuse_tray(mesh, source)
        mesh_checks.refuse_mixed_bodies(mesh, source)
        findings += _note_bodies(mesh, source)
        if part == "insert":
            if not one_side:
                refuse_single_plateau(mesh, source)
            refuse_turned(mesh, source)
        forms[part], form = recognise_form(mesh, source)
        (doubts if finding.severity == "warn" else findings).append(finding)
        findings += [*turned, form]
        meshes[part] = mesh
    orientations = dict(
        zip(named, orient_implant(meshes["insert"], meshes["femoral"], one_side), strict=True)
    )
    side, evidence = (None, "") if one_side else _side(meshes, orientations)
    shapes = RecognisedShapes(knee or side or "right", {}, "", {}, forms, {}, sides, findings)
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
    shapes.file_axes = axes
    shapes.is_registered = registered(shapes)
    apart = _place(shapes, " + ".join(insert), " + ".join(femoral))
    together = units["insert"] == units["femoral"] and axes["insert"] == axes["femoral"]
    single = len(insert) == len(femoral) == 1
    turned_round = any(one.check == "new.normals" for one in findings)
    if together and single and not (shapes.moved or apart) and not turned_round:
        shapes.unit, shapes.axes = units["insert"], axes["insert"]
        shapes.files = {"insert": insert[0], "femoral": femoral[0]}
    else:
        _write_copies(shapes, name, originals, named)
    if apart:
        (side,) = shapes.sides
        shapes.assume(
            "width",
            "implant.meshes.insert",
            shapes.files["insert"],
            f"the insert moved by {apart:+.1f} mm to medial, where its middle is below the {side} "
            "condyle",
            "Set it up again with files in one frame if their positions are known.",
        )
    for doubt in doubts:
        remedy = "If it is another one, convert the file to mm and set it up again."
        shapes.assume(
            "unit", "implant.meshes.unit", shapes.unit, f"{doubt.where}: {doubt.found}", remedy
        )
    return shapes


def _write_copies(
    shapes: RecognisedShapes,
    name: str,
    originals: dict[str, TriangleMesh],
    named: dict[str, list[str]],
) -> None:
    """Write both components in mm and common axes, with the triangles of their files."""
    shapes.unit, shapes.axes = "mm", Orientation(np.eye(3)).words(shapes.knee)
    # Copies are of the knee itself, `parts` of a right one.
    mirror = np.array([1.0, 1.0, 1.0 if shapes.knee == "right" else -1.0])
    for part, original in originals.items():
        copy = _copy_name(f"{name}_{part}", [*named["insert"], *named["femoral"]])
        # Subdivision adds its vertices at the end.
        vertices = shapes.parts[part].vertices[: len(original.vertices)]
        save_ply(vertices * mirror, original.faces, copy)
        shapes.files[part] = str(copy)
        shapes.copies.append(copy)
        origin = ", with its origin there" if part in shapes.moved else ""
        text = f"{' + '.join(named[part])} in mm and common axes{origin}"
        shapes.note("copy", str(copy), text)


def _note_bodies(mesh: TriangleMesh, source: str) -> list[Finding]:
    """Number and size of several bodies of a component."""
    bodies = mesh.bodies
    if len(bodies) == 1:
        return []
    sizes = ", ".join(mesh_checks.body_size(body) for body in bodies[:2])
    found = f"{len(bodies)} bodies, the largest {sizes}: read as one component"
    return [Finding("new.bodies", "note", source, found, "", "")]


def _copy_name(stem: str, sources: Sequence[str]) -> Path:
    """Return the file of a copy, which is none of the files that are copied."""
    taken = {Path(source).resolve() for source in sources}
    names = (Path(f"{stem}{'_copy' * number}.ply") for number in range(len(taken) + 1))
    return next(name for name in names if name.resolve() not in taken)


def _centre_femoral(shapes: RecognisedShapes, source: str) -> None:
    """Move the femoral component to an origin on the condyles' axis, if it is elsewhere.

    Rotations are about the origin, and positions count from the dwell pose: the origin of a file
    from a scanner or an assembly says nothing of the knee.
    """
    femoral = shapes.parts["femoral"]
    middle = middle_of_axis(femoral, shapes.forms["femoral"], source)
    if np.linalg.norm(middle) <= _SAME_ORIGIN:
        return
    shapes.parts["femoral"] = femoral.moved(-middle)
    shapes.moved.add("femoral")
    x, y, z = middle
    shapes.note(
        "origin",
        source,
        f"the middle of the condyles' axis, which motion turns about, {x:+.2f} mm posterior, "
        f"{y:+.2f} mm superior and {z:+.2f} mm medial of the origin",
    )


def _place(shapes: RecognisedShapes, insert: str, femoral: str) -> float:
    """Put origins where motion turns about them, unless it counts from those of the files.

    Returned is the distance by which an insert of one side was moved below its condyle, mm.
    """
    if shapes.is_registered:
        text = "origins of the files stay: the coordinates of the motion put one file on the other"
        shapes.note("origin", femoral, text)
        return 0.0
    _bring_insert(shapes, insert)
    _centre_femoral(shapes, femoral)
    return _under_condyle(shapes) if len(shapes.sides) == 1 else 0.0


def _bring_insert(shapes: RecognisedShapes, source: str) -> None:
    """Move an insert in the coordinates of a scanner to its own origin.

    Its windows and underside are positions of the settings, which are of an implant.
    """
    insert = shapes.parts["insert"]
    if np.abs(insert.vertices).max() <= _FAR:
        return
    x, _, z = 0.5 * (insert.vertices.min(axis=0) + insert.vertices.max(axis=0))
    y = float(insert.vertices[:, 1].min())
    shapes.parts["insert"] = insert.moved([-x, -y, -z])
    shapes.moved.add("insert")
    shapes.note(
        "origin",
        source,
        f"the middle of the underside, {x:+.1f} mm posterior, {y:+.1f} mm superior and {z:+.1f} mm "
        "medial of the origin, which is of a scanner or an assembly",
    )


def _under_condyle(shapes: RecognisedShapes) -> float:
    """Move an insert of one side to the width of its condyle; return the distance, mm."""
    (side,) = shapes.sides
    condyles, _ = segment_condyles(shapes.sheets["femoral"], shapes.sides)
    insert = shapes.parts["insert"]
    middle = 0.5 * float(insert.vertices[:, 2].min() + insert.vertices[:, 2].max())
    apart = float(np.mean(condyles[side].z)) - middle
    if abs(apart) <= _BELOW_CONDYLE:
        return 0.0
    shapes.parts["insert"] = insert.moved([0.0, 0.0, apart])
    return apart


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
        raise InputDataError(
            "--knee",
            f"a {given} knee, in which the implant would have {evidence}",
            f"{shown}, as the shapes show",
            f"Set it up with --knee {shown}, or mirror both files if they are of a {given} one.",
            check="new.side",
        )
    if given:
        shapes.note("side", "--knee", f"{given} knee, as given")
    elif shown:
        shapes.note(
            "side", "shapes", f"{shown} knee: in the other one the implant would have {evidence}"
        )
    else:
        shapes.is_side_known = False
        shapes.assume(
            "side",
            "implant.knee",
            shapes.knee,
            "right knee: the shapes are symmetric, and fit both knees",
            "Set it up again with --knee left if it is the left.",
        )
