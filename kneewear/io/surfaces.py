"""Bearing surfaces of an implant or a natural knee (`geometry/surfaces.nc`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kneewear.geometry.coverage import Coverage
from kneewear.geometry.implant import CamAndPost, Implant, Layer
from kneewear.geometry.meshes import TriangleMesh
from kneewear.geometry.surface import Surface
from kneewear.geometry.underside import MeshUnderside, PlaneUnderside
from kneewear.io import netcdf
from kneewear.io.netcdf import Layout, Variable
from kneewear.sides import SIDES

KIND = "implant surfaces"
FRAME = "right-knee insert frame: x posterior, y superior, z medial"
_BODIES = {"femoral": "condyle", "insert": "plateau"}
_BONES = {"femoral_bone": "bone under the condyle", "insert_bone": "bone under the plateau"}


def save_implant(implant: Implant, path: str | Path) -> None:
    """Write the surfaces of an implant or a natural knee.

    Parameters
    ----------
    implant : Implant
        The joint, as a right knee.
    path : str or Path
        File to write; its attribute `knee` says which one the implant is made for, `frame` that
        the coordinates are those of a right one either way.
    """
    values: dict[str, Any] = {}
    attributes: dict[str, Any] = {
        "name": implant.name,
        "nominal_thickness_mm": float(implant.nominal_thickness),
        "knee": "left" if implant.left else "right",
        "frame": FRAME,
        "coverage": int(implant.coverage is not None),
        "natural": int(implant.natural),
    }
    for body in _BODIES:
        for side, surface in getattr(implant, body).items():
            _put_patch(f"{body}_{side}", surface, values, attributes)
        layer: Layer | None = getattr(implant, f"{body}_layer")
        if layer is not None:
            attributes[f"{body}_least_mm"], attributes[f"{body}_greatest_mm"] = layer.limits
            for side, surface in layer.bone.items():
                _put_patch(f"{body}_bone_{side}", surface, values, attributes)
    pair = implant.cam_and_post
    attributes["cam_and_post"] = int(pair is not None)
    if pair is not None:
        _put_patch("cam", pair.cam, values, attributes)
        _put_patch("post", pair.post, values, attributes)
        attributes["post_front_mm"] = pair.front
    for side, coverage in (implant.coverage or {}).items():
        values[f"coverage_{side}_edges"] = coverage.edges
    underside = implant.underside
    if isinstance(underside, MeshUnderside):
        attributes["underside"] = "mesh"
        values["underside_vertices"] = underside.mesh.vertices
        values["underside_faces"] = underside.mesh.faces
    elif isinstance(underside, PlaneUnderside):
        attributes |= {
            "underside": "plane",
            "underside_mm": underside.height,
            "underside_rise_posterior": underside.rise_posterior,
            "underside_rise_medial": underside.rise_medial,
        }
    else:
        attributes |= {"underside": "flat", "underside_mm": float(underside)}
    netcdf.save(_layout(attributes), values, path, attributes)


@netcdf.tells_damage(KIND)
def load_implant(path: str | Path) -> Implant:
    """Read the surfaces of an implant or a natural knee.

    Parameters
    ----------
    path : str or Path
        File written by `save_implant`.

    Returns
    -------
    Implant
        The joint.

    Raises
    ------
    InputDataError
        When the file is missing, damaged or of another kind.
    """
    _, attributes = netcdf.load(Layout(KIND, ()), path)
    values, _ = netcdf.load(_layout(attributes), path)
    coverage = pair = None
    layers: dict[str, Layer] = {}
    if attributes["coverage"]:
        coverage = {side: Coverage(values[f"coverage_{side}_edges"]) for side in SIDES}
    if attributes["natural"]:
        layers = {
            body: Layer(
                _taken_patches(f"{body}_bone", values, attributes),
                (float(attributes[f"{body}_least_mm"]), float(attributes[f"{body}_greatest_mm"])),
            )
            for body in _BODIES
        }
    if attributes["cam_and_post"]:
        cam, post = (_taken_patch(name, values, attributes) for name in ("cam", "post"))
        pair = CamAndPost(cam, post, float(attributes["post_front_mm"]))
    return Implant(
        name=str(attributes["name"]),
        femoral=_taken_patches("femoral", values, attributes),
        insert=_taken_patches("insert", values, attributes),
        underside=_taken_underside(values, attributes),
        nominal_thickness=float(attributes["nominal_thickness_mm"]),
        left=attributes["knee"] == "left",
        coverage=coverage,
        femoral_layer=layers.get("femoral"),
        insert_layer=layers.get("insert"),
        cam_and_post=pair,
    )


def _put_patch(
    patch: str, surface: Surface, values: dict[str, Any], attributes: dict[str, Any]
) -> None:
    """Add one patch to the arrays and attributes of a file."""
    values[f"{patch}_control_points"] = surface.control_points
    values[f"{patch}_weights"] = surface.weights
    values[f"{patch}_knots_u"] = surface.knots_u
    values[f"{patch}_knots_v"] = surface.knots_v
    attributes[f"{patch}_degree_u"] = int(surface.degree_u)
    attributes[f"{patch}_degree_v"] = int(surface.degree_v)


def _taken_patches(
    body: str, values: dict[str, Any], attributes: dict[str, Any]
) -> dict[str, Surface]:
    """Patches of both sides from the arrays and attributes of a file."""
    return {side: _taken_patch(f"{body}_{side}", values, attributes) for side in SIDES}


def _taken_patch(patch: str, values: dict[str, Any], attributes: dict[str, Any]) -> Surface:
    """One patch from the arrays and attributes of a file."""
    return Surface(
        control_points=values[f"{patch}_control_points"],
        weights=values[f"{patch}_weights"],
        knots_u=values[f"{patch}_knots_u"],
        knots_v=values[f"{patch}_knots_v"],
        degree_u=int(attributes[f"{patch}_degree_u"]),
        degree_v=int(attributes[f"{patch}_degree_v"]),
    )


def _taken_underside(
    values: dict[str, Any], attributes: dict[str, Any]
) -> float | PlaneUnderside | MeshUnderside:
    """Underside from the arrays and attributes of a file."""
    if attributes["underside"] == "mesh":
        return MeshUnderside(TriangleMesh(values["underside_vertices"], values["underside_faces"]))
    height = float(attributes["underside_mm"])
    if attributes["underside"] == "plane":
        return PlaneUnderside(
            height,
            float(attributes["underside_rise_posterior"]),
            float(attributes["underside_rise_medial"]),
        )
    return height


def _layout(attributes: dict[str, Any]) -> Layout:
    """Layout of the file: patches of their own sizes, and what else the attributes announce."""
    variables: list[Variable] = []
    for body, name in (_BODIES | (_BONES if attributes["natural"] else {})).items():
        for side in SIDES:
            variables += _patch_variables(f"{body}_{side}", f"{side} {name}")
    if attributes["cam_and_post"]:
        variables += _patch_variables("cam", "cam") + _patch_variables("post", "post's back")
    for side in SIDES if attributes["coverage"] else ():
        dims = (f"coverage_{side}_edge", "end", "plan")
        text = f"border of the {side} plateau in plan, x and z"
        variables.append(Variable(f"coverage_{side}_edges", dims, "mm", text))
    if attributes["underside"] == "mesh":
        vertices, faces = ("underside_vertex", "component"), ("underside_face", "corner")
        variables += [
            Variable("underside_vertices", vertices, "mm", "vertices of the underside"),
            Variable("underside_faces", faces, "1", "triangles of the underside"),
        ]
    return Layout(KIND, tuple(variables))


def _patch_variables(patch: str, text: str) -> list[Variable]:
    """Variables of one patch."""
    net = (f"{patch}_u", f"{patch}_v")
    return [
        Variable(f"{patch}_control_points", (*net, "component"), "mm", f"net of the {text}"),
        Variable(f"{patch}_weights", net, "1", f"weights of the {text}"),
        Variable(f"{patch}_knots_u", (f"{patch}_knot_u",), "1", f"first knots of the {text}"),
        Variable(f"{patch}_knots_v", (f"{patch}_knot_v",), "1", f"second knots of the {text}"),
    ]
