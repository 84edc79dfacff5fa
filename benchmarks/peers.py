"""The same contact by other programs: OpenSim's elastic foundation, Drake, Embree, and ours.

`python -m benchmarks.peers` (part of `make benchmark`) writes `results/benchmarks/peers.csv`. One
condyle, a piece of a torus whose distance is known analytically, is pressed into a concave
plateau. Every program gets the same bodies, the same layer and the same poses, one thread. Programs
that are not installed (`pip install -e '.[peers]'`) are left out, and that is printed.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation

from benchmarks.timing import seconds
from kneewear.contact.foundation import ElasticLayer, SmallStrain, confined_modulus
from kneewear.contact.pair import ContactPair
from kneewear.geometry.distance_tabulation import build_distance_table
from kneewear.geometry.fitting import patch_through
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant import Implant
from kneewear.geometry.surface import Surface
from kneewear.geometry.table import tabulate_surface
from kneewear.io.documents import save_table

OUTPUT = Path("results/benchmarks/peers.csv")
MODULUS = confined_modulus(463.0, 0.46)  # MPa
THICKNESS = 10.0  # mm
DEPTH = 0.2  # mm
CONDYLE = (30.0, 25.0)  # sagittal and coronal radius, mm
PLATEAU = (200.0, 40.0)  # as flat front to back as cruciate-retaining inserts are
HALF = (22.0, 15.0)  # half length and half width of the plateau, mm
CUT = (20.0, 13.1)  # the same of the meshed condyle, mm: two parts are never meshed alike
STEPS = 100


def torus_height(radii: tuple[float, float], x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Height of the lower side of a torus about the z axis over its lowest point."""
    sagittal, coronal = radii
    across = sagittal - coronal + np.sqrt(coronal**2 - z**2)
    return sagittal - np.sqrt(across**2 - x**2)


def torus_distance(points: np.ndarray) -> np.ndarray:
    """Signed distance to the condyle whose lowest point is the origin; negative inside."""
    sagittal, coronal = CONDYLE
    across = np.hypot(points[..., 0], points[..., 1] - sagittal) - (sagittal - coronal)
    return np.hypot(across, points[..., 2]) - coronal


def exact_force(position: np.ndarray, count: int = 901) -> float:
    """Vertical force at a pose from the exact distance on a dense grid, N."""
    cells = [2 * half / count for half in HALF]
    x, z = np.meshgrid(
        *(-half + cell * (np.arange(count) + 0.5) for half, cell in zip(HALF, cells, strict=True)),
        indexing="ij",
    )
    points = np.stack([x, torus_height(PLATEAU, x, z), z], axis=-1) - position
    penetration = np.maximum(-torus_distance(points), 0.0)
    sagittal, coronal = CONDYLE
    rho = np.hypot(points[..., 0], points[..., 1] - sagittal)
    ring = (rho - (sagittal - coronal)) / np.maximum(coronal - penetration, 1.0)
    down = ring * (sagittal - points[..., 1]) / rho
    area = _surface_area(x, z) * cells[0] * cells[1]
    return float((MODULUS / THICKNESS * penetration * area * down).sum())


def force_errors(evaluate: Callable[[np.ndarray], float], count: int = 10) -> dict[str, float]:
    """Errors of the vertical force over poses spread through the cycle, %."""
    some = poses()[:: STEPS // count]
    errors = [100 * (evaluate(position) / exact_force(position) - 1) for position in some]
    return {
        "force_error_median_percent": float(np.median(np.abs(errors))),
        "force_error_largest_percent": float(max(errors, key=abs)),
    }


def _surface_area(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Surface area over projected area of the plateau."""
    step = 1e-5
    slope_x = (torus_height(PLATEAU, x + step, z) - torus_height(PLATEAU, x - step, z)) / (2 * step)
    slope_z = (torus_height(PLATEAU, x, z + step) - torus_height(PLATEAU, x, z - step)) / (2 * step)
    return np.sqrt(1 + slope_x**2 + slope_z**2)


def poses() -> np.ndarray:
    """Positions of the condyle's lowest point over a cycle of 100 steps; the first is deepest."""
    phase = 2 * np.pi * np.arange(STEPS) / STEPS
    return np.stack(
        [2.0 * np.sin(phase), -DEPTH * (0.75 + 0.25 * np.cos(phase)), np.sin(2 * phase)], axis=-1
    )


def microseconds(evaluate: Callable[[np.ndarray], Any], cycles: int) -> float:
    """Median time of one evaluation while stepping through the cycle."""
    path = poses()

    def step_through() -> None:
        for position in path:
            evaluate(position)

    return 1e6 * seconds(step_through, cycles) / len(path)


def bodies() -> tuple[Surface, Surface]:
    """Condyle and plateau as NURBS patches; the condyle's normals point down, out of the metal."""

    def patch(radii: tuple[float, float], half: tuple[float, float], facing: int) -> Surface:
        along, across = (np.concatenate([[-h] * 3, np.linspace(-h, h, 25), [h] * 3]) for h in half)

        def at(u: np.ndarray, v: np.ndarray) -> np.ndarray:
            return np.stack([u, torus_height(radii, u, v), v], axis=-1)

        surface = patch_through(at, (along, across))
        return surface if surface.normal(0.0, 0.0)[1] * facing > 0 else surface.reversed_normal()

    return patch(CONDYLE, (21.0, 15.0), -1), patch(PLATEAU, HALF, 1)


def ours(rows: int, columns: int) -> Iterator[dict[str, Any]]:
    """Both ways to the distance on a grid of one plateau."""
    condyle, plateau = bodies()
    pair_of = {"medial": condyle, "lateral": condyle}
    implant = Implant(
        "torus on torus", pair_of, {"medial": plateau, "lateral": plateau}, -THICKNESS, THICKNESS
    )
    grid = build_grid(implant, rows, columns)
    table = tabulate_surface(condyle, 121, 61)
    smooth = build_distance_table(condyle, 0.05e-3)
    for name, tables in (("exact NURBS", None), ("distance table", smooth)):
        pair = ContactPair(grid, 0, condyle, table, distance_table=tables)
        layer = ElasticLayer(SmallStrain(MODULUS), np.full(pair.index.size, THICKNESS))

        def evaluate(
            position: np.ndarray, pair: ContactPair = pair, layer: ElasticLayer = layer
        ) -> float:
            return float(pair.evaluate(np.eye(3), position, layer).wrench[1])

        yield {
            "program": f"kneewear, {name}",
            "size": f"{rows} x {columns} elements",
            **force_errors(evaluate),
            "evaluation_us": microseconds(evaluate, 5),
        }


def triangles(
    radii: tuple[float, float], half: tuple[float, float], cells: int
) -> tuple[np.ndarray, np.ndarray]:
    """Vertices, mm, and faces with upward normals of a regular triangulation."""
    x, z = np.meshgrid(*(np.linspace(-h, h, cells + 1) for h in half), indexing="ij")
    vertices = np.stack([x, torus_height(radii, x, z), z], axis=-1).reshape(-1, 3)
    corner = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    a, b, c, d = corner, corner + 1, corner + cells + 2, corner + cells + 1
    return vertices, np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)])


def solid(
    radii: tuple[float, float], half: tuple[float, float], cells: int, back: float
) -> tuple[np.ndarray, np.ndarray]:
    """A closed body between the triangulated surface and a flat back at height `back`, mm."""
    top, faces = triangles(radii, half, cells)
    under = top.copy()
    under[:, 1] = back
    n = cells + 1
    number = np.arange(n * n).reshape(n, n)
    ring = np.concatenate([number[0, :-1], number[:-1, -1], number[-1, :0:-1], number[:0:-1, 0]])
    after = np.roll(ring, -1)
    count = len(top)
    walls = np.concatenate(
        [
            np.stack([ring, after + count, after], -1),
            np.stack([ring, ring + count, after + count], -1),
        ]
    )
    everything = np.concatenate([faces, faces[:, ::-1] + count, walls])
    vertices = np.concatenate([top, under])
    volume = np.einsum(
        "ij,ij->",
        vertices[everything[:, 0]],
        np.cross(vertices[everything[:, 1]], vertices[everything[:, 2]]),
    )
    return vertices, everything if volume > 0 else everything[:, ::-1]


def write_obj(path: Path, vertices: np.ndarray, faces: np.ndarray) -> None:
    """A mesh in metres, as the other programs require it."""
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in 1e-3 * vertices]
    lines += [f"f {a} {b} {c}" for a, b, c in faces + 1]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


# Vertices, mm, and faces or tetrahedra.
Mesh = tuple[np.ndarray, np.ndarray]
# Force, N, on a body at a position, mm, and a rotation of the condyle.
Evaluation = Callable[[np.ndarray, Rotation], np.ndarray]
UNTURNED = Rotation.identity()


def opensim_contact(condyle: Mesh, plateau: Mesh, stiffness: float, folder: Path) -> Evaluation:
    """OpenSim's elastic foundation, N/mm3, between two closed meshes."""
    import opensim  # noqa: PLC0415

    opensim.Logger.setLevelString("error")
    model = opensim.Model()
    body = opensim.Body("femur", 1.0, opensim.Vec3(0), opensim.Inertia(1, 1, 1, 0, 0, 0))
    model.addBody(body)
    joint = opensim.FreeJoint("joint", model.getGround(), body)
    model.addJoint(joint)
    force = opensim.ElasticFoundationForce()
    force.setStiffness(1e9 * stiffness)
    owners = {"condyle": (condyle, body), "plateau": (plateau, model.getGround())}
    for name, (mesh, owner) in owners.items():
        path = folder / f"{name}{len(mesh[1])}.obj"
        write_obj(path, *mesh)
        model.addContactGeometry(
            opensim.ContactMesh(str(path), opensim.Vec3(0), opensim.Vec3(0), owner, name)
        )
        force.addGeometry(name)
    model.addForce(force)
    state = model.initSystem()

    def evaluate(position: np.ndarray, turn: Rotation) -> np.ndarray:
        values = [*turn.as_euler("XYZ"), *(1e-3 * position)]
        for number, value in enumerate(values):
            joint.get_coordinates(number).setValue(state, float(value), False)
        model.realizeDynamics(state)
        return np.array([force.getRecordValues(state).get(axis) for axis in range(3)])

    return evaluate


def opensim_foundation(cells: int, folder: Path) -> dict[str, Any]:
    """OpenSim's elastic foundation between two closed meshes."""
    meshes = solid(CONDYLE, CUT, cells, 20.0), solid(PLATEAU, HALF, cells, -THICKNESS)
    contact = opensim_contact(*meshes, MODULUS / THICKNESS, folder)

    def evaluate(position: np.ndarray) -> float:
        return abs(float(contact(position, UNTURNED)[1]))

    faces = sum(len(mesh[1]) for mesh in meshes)
    bearing = 2 * cells**2
    return {
        "program": "OpenSim, elastic foundation",
        "size": f"2 x {bearing} bearing triangles ({faces} in all)",
        **force_errors(evaluate),
        "evaluation_us": microseconds(evaluate, 3),
    }


def slab_of_tetrahedra(
    radii: tuple[float, float], half: tuple[float, float], thickness: float, cells: int
) -> Mesh:
    """The layer and its mirror image below, so that pressure grows from the surface to the bone."""
    top, _ = triangles(radii, half, cells)
    layers = [top - [0.0, k * thickness, 0.0] for k in range(3)]
    vertices = np.concatenate(layers)
    n, count = cells + 1, len(top)
    corner = (np.arange(cells)[:, None] * n + np.arange(cells)).ravel()
    found = []
    for level in range(2):
        low, high = (level + 1) * count, level * count
        a, b, c, d = (corner + shift for shift in (0, 1, n + 1, n))
        base, roof = [k + low for k in (a, b, c, d)], [k + high for k in (a, b, c, d)]
        for i, j in ((1, 2), (2, 3), (3, 7), (7, 4), (4, 5), (5, 1)):
            eight = [*base, *roof]
            found.append(np.stack([eight[0], eight[i], eight[j], eight[6]], -1))
    tetrahedra = np.concatenate(found)
    corners = vertices[tetrahedra]
    volume = np.einsum(
        "ij,ij->i",
        corners[:, 1] - corners[:, 0],
        np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 0]),
    )
    turned = volume < 0
    tetrahedra[turned] = tetrahedra[turned][:, [0, 2, 1, 3]]
    return vertices, tetrahedra


def write_vtk(path: Path, vertices: np.ndarray, tetrahedra: np.ndarray) -> None:
    """A tetrahedral mesh in metres, legacy VTK."""
    lines = ["# vtk DataFile Version 3.0", "layer", "ASCII", "DATASET UNSTRUCTURED_GRID"]
    lines.append(f"POINTS {len(vertices)} double")
    lines += [f"{x:.9g} {y:.9g} {z:.9g}" for x, y, z in 1e-3 * vertices]
    lines.append(f"CELLS {len(tetrahedra)} {5 * len(tetrahedra)}")
    lines += [f"4 {a} {b} {c} {d}" for a, b, c, d in tetrahedra]
    lines.append(f"CELL_TYPES {len(tetrahedra)}")
    lines += ["10"] * len(tetrahedra)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def drake_contact(condyle: Mesh, layer: Mesh, modulus: float, folder: Path) -> Evaluation:
    """Drake's hydroelastic contact of a rigid condyle in a compliant layer, MPa."""
    from pydrake.all import (  # noqa: PLC0415
        AddCompliantHydroelasticProperties,
        AddMultibodyPlantSceneGraph,
        AddRigidHydroelasticProperties,
        ContactModel,
        CoulombFriction,
        DiagramBuilder,
        ProximityProperties,
        RigidTransform,
        RotationMatrix,
        SpatialInertia,
    )
    from pydrake.all import Mesh as DrakeMesh  # noqa: PLC0415

    below, above = folder / f"layer{len(layer[1])}.vtk", folder / f"rigid{len(condyle[1])}.obj"
    write_vtk(below, *layer)
    write_obj(above, *condyle)
    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, 0.0)
    plant.set_contact_model(ContactModel.kHydroelastic)
    body = plant.AddRigidBody("femur", SpatialInertia.SolidSphereWithMass(1.0, 0.03))
    for owner, path, compliant in (
        (plant.world_body(), below, True),
        (body, above, False),
    ):
        properties = ProximityProperties()
        if compliant:
            AddCompliantHydroelasticProperties(1e-3, 1e6 * modulus, properties)
        else:
            AddRigidHydroelasticProperties(1e-3, properties)
        properties.AddProperty("material", "coulomb_friction", CoulombFriction(0.0, 0.0))
        properties.AddProperty("material", "hunt_crossley_dissipation", 0.0)
        plant.RegisterCollisionGeometry(
            owner, RigidTransform(), DrakeMesh(str(path), 1.0), path.stem, properties
        )
    plant.Finalize()
    diagram = builder.Build()
    root = diagram.CreateDefaultContext()
    context = plant.GetMyMutableContextFromRoot(root)
    port = plant.get_contact_results_output_port()

    def evaluate(position: np.ndarray, turn: Rotation) -> np.ndarray:
        pose = RigidTransform(RotationMatrix(turn.as_matrix()), 1e-3 * position)
        plant.SetFreeBodyPose(context, body, pose)
        results = port.Eval(context)
        forces = [
            results.hydroelastic_contact_info(k).F_Ac_W().translational()
            for k in range(results.num_hydroelastic_contacts())
        ]
        return np.sum(forces, axis=0) if forces else np.zeros(3)

    return evaluate


def drake_hydroelastic(cells: int, folder: Path) -> dict[str, Any]:
    """Drake's hydroelastic contact of a rigid condyle in a compliant layer."""
    layer = slab_of_tetrahedra(PLATEAU, HALF, THICKNESS, cells)
    contact = drake_contact(solid(CONDYLE, CUT, cells, 20.0), layer, MODULUS, folder)

    def evaluate(position: np.ndarray) -> float:
        return abs(float(contact(position, UNTURNED)[1]))

    return {
        "program": "Drake, hydroelastic",
        "size": f"{len(layer[1])} tetrahedra",
        **force_errors(evaluate),
        "evaluation_us": microseconds(evaluate, 3),
    }


def embree_rays(cells: int) -> dict[str, Any]:
    """Embree: one ray an element along y onto the triangulated condyle (heights, no forces)."""
    from trimesh import Trimesh  # noqa: PLC0415
    from trimesh.ray.ray_pyembree import RayMeshIntersector  # noqa: PLC0415

    mesh = Trimesh(*triangles(CONDYLE, HALF, cells), process=False)
    rays = RayMeshIntersector(mesh, scale_to_box=False)
    middle = -10.0 + 20.0 / 75 * (np.arange(75) + 0.5)
    x, z = (axis.ravel() for axis in np.meshgrid(middle, middle, indexing="ij"))
    origin = np.stack([x, np.full_like(x, -5.0), z], axis=-1)
    up = np.tile([0.0, 1.0, 0.0], (x.size, 1))
    scene = rays._scene  # the batch call without trimesh's own work

    def evaluate(_: np.ndarray) -> np.ndarray:
        return np.asarray(
            scene.run(origin.astype(np.float32), up.astype(np.float32), query="DISTANCE")
        )

    height = evaluate(np.zeros(3)) - 5.0
    return {
        "program": "Embree, ray firing",
        "size": f"{len(mesh.faces)} triangles, {x.size} rays",
        "largest_height_error_um": 1e3 * float(np.abs(height - torus_height(CONDYLE, x, z)).max()),
        "query_us": microseconds(evaluate, 2) / x.size,
    }


def installed(module: str) -> bool:
    """True if a peer can be imported; print a line if it cannot."""
    found = importlib.util.find_spec(module) is not None
    if not found:
        print(f"{module} is not installed and is left out (pip install -e '.[peers]')")
    return found


def measure() -> pd.DataFrame:
    """Everything that is installed, in one run."""
    rows: list[dict[str, Any]] = []
    for size in ((30, 30), (100, 75)):
        rows += ours(*size)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if installed("opensim"):
            rows += [opensim_foundation(cells, folder) for cells in (30, 50, 70)]
        if installed("pydrake"):
            rows += [drake_hydroelastic(cells, folder) for cells in (34, 52, 71)]
        if installed("embreex"):
            rows.append(embree_rays(70))
    table = pd.DataFrame(rows)
    fastest = table.loc[table["program"] == "kneewear, distance table", "evaluation_us"]
    table["times_ours"] = table["evaluation_us"] / fastest.iloc[-1]
    return table


def main() -> pd.DataFrame:
    """Measure, print and write the table."""
    table = measure()
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    save_table(table, OUTPUT)
    force = exact_force(poses()[0])
    print(f"\nOne condyle on one plateau, {force:.0f} N at the deepest pose, written to {OUTPUT}")
    print(table.round(4).to_string(index=False))
    return table


if __name__ == "__main__":
    main()
