"""Results of OpenSim and Drake for the benchmark set.

`python -m benchmarks.cases.others` writes `submissions/opensim.csv` and `submissions/drake.csv` of
the programs that are installed (`pip install -e '.[peers]'`). OpenSim computes the tension of a
`Blankevoort1991Ligament` and forces of its elastic foundation between closed meshes, Drake forces
of hydroelastic contact; neither returns peak pressure or area of these.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.cases.score import FOLDER, load_cases
from benchmarks.peers import (
    Evaluation,
    drake_contact,
    installed,
    opensim_contact,
    slab_of_tetrahedra,
    solid,
)

# Cells of each surface along each axis, and half lengths of what is meshed, mm: more than contact.
CELLS = 100
HALF = (18.0, 14.0)
CUT = (17.0, 13.3)
BACK = 20.0  # mm; back of the condyle over its lowest point
Result = tuple[str, str, float]


def inputs_of(name: str) -> dict[str, float]:
    """Inputs of a case by name."""
    (found,) = (case for case in load_cases() if case["name"] == name)
    return {key: one["value"] for key, one in found["inputs"].items()}


def poses_of_condyle() -> list[tuple[np.ndarray, Rotation]]:
    """Translation, mm, and rotation of each pose of `condyle_on_plateau`."""
    table = np.loadtxt(FOLDER / "condyle_on_plateau/poses.csv", delimiter=",", skiprows=1)
    return [(row[1:4], Rotation.from_matrix(row[4:].reshape(3, 3))) for row in table]


def condyle_forces(contact: Evaluation) -> Iterator[Result]:
    """Yield the vertical force on the plateau at each pose."""
    for number, (place, turn) in enumerate(poses_of_condyle(), 1):
        force = abs(float(contact(place, turn)[1]))
        yield "condyle_on_plateau", f"vertical_force_{number}", force


def bodies() -> tuple[Any, Any, float, float]:
    """Radii of condyle and plateau, modulus and thickness of `condyle_on_plateau`."""
    given = inputs_of("condyle_on_plateau")
    condyle, plateau = (
        (given[f"{body}_sagittal_radius"], given[f"{body}_coronal_radius"])
        for body in ("condyle", "plateau")
    )
    return condyle, plateau, given["foundation_modulus"], given["thickness"]


def condyle_mesh(radii: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Closed condyle about its medial-lateral axis."""
    vertices, faces = solid(radii, CUT, CELLS, BACK)
    return vertices - [0.0, radii[0], 0.0], faces


def opensim_results() -> Iterator[Result]:
    """Yield results of OpenSim."""
    yield from ligament_tensions()
    condyle, plateau, modulus, thickness = bodies()
    with tempfile.TemporaryDirectory() as folder:
        fixed = solid(plateau, HALF, CELLS, -thickness)
        stiffness = modulus / thickness
        yield from condyle_forces(
            opensim_contact(condyle_mesh(condyle), fixed, stiffness, Path(folder))
        )


def ligament_tensions() -> Iterator[Result]:
    """Yield tensions of a ligament that is stretched along a slider."""
    import opensim  # noqa: PLC0415

    given = inputs_of("ligament_bundle")
    length = 0.05  # m
    model = opensim.Model()
    body = opensim.Body("end", 1.0, opensim.Vec3(0), opensim.Inertia(1, 1, 1, 0, 0, 0))
    model.addBody(body)
    joint = opensim.SliderJoint("joint", model.getGround(), body)
    model.addJoint(joint)
    ligament = opensim.Blankevoort1991Ligament(
        "bundle", model.getGround(), opensim.Vec3(0), body, opensim.Vec3(0)
    )
    ligament.set_linear_stiffness(given["stiffness"])
    ligament.set_transition_strain(2.0 * given["reference_strain"])
    ligament.set_damping_coefficient(0.0)
    ligament.set_slack_length(length)
    model.addForce(ligament)
    state = model.initSystem()
    for strain in ("0.04", "0.10"):
        joint.get_coordinates(0).setValue(state, length * (1.0 + float(strain)))
        model.realizeDynamics(state)
        yield "ligament_bundle", f"tension_at_{strain}", ligament.getSpringForce(state)


def drake_results() -> Iterator[Result]:
    """Yield results of Drake."""
    condyle, plateau, modulus, thickness = bodies()
    with tempfile.TemporaryDirectory() as folder:
        layer = slab_of_tetrahedra(plateau, HALF, thickness, CELLS)
        yield from condyle_forces(
            drake_contact(condyle_mesh(condyle), layer, modulus, Path(folder))
        )


def main() -> None:
    """Write the submissions of the programs that are installed."""
    programs = {"opensim": ("opensim", opensim_results), "drake": ("pydrake", drake_results)}
    for name, (module, results) in programs.items():
        if not installed(module):
            continue
        path = FOLDER / "submissions" / f"{name}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write(f"# {name}, {version(name)}, python -m benchmarks.cases.others\n")
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["case", "quantity", "value"])
            for case, quantity, value in results():
                writer.writerow([case, quantity, f"{value:.8g}"])


if __name__ == "__main__":
    main()
