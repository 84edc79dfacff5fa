"""Results of kneewear for the benchmark set.

`python -m benchmarks.cases.submission` writes `submissions/kneewear.csv` and
`submissions/kneewear_finite_elements.csv`. Contact and wear of the first are those of the engine on
elements; half-space, impacts and paths over a cylinder are not submitted. The second is the bonded
layer by quadratic hexahedra.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.cases.score import load_cases
from kneewear import __version__, default_study
from kneewear.contact.foundation import (
    CoupledLayer,
    ElasticLayer,
    LargeStrain,
    PressureLaw,
    SmallStrain,
    confined_modulus,
)
from kneewear.contact.influence import flat_influence
from kneewear.contact.material import Elastic
from kneewear.contact.solid import Solid, graded_lines, with_middles
from kneewear.evidence.fe_comparison.contact import Distance, ElasticSurface
from kneewear.evidence.verification.analytical_contacts import prepare_indenter
from kneewear.geometry.fitting import FitSettings, fit_condyle, fit_plateau
from kneewear.geometry.grid import Bearing, build_elements
from kneewear.geometry.primitives import cylinder, plate, sphere
from kneewear.geometry.surface import Surface
from kneewear.io.shapes import load_shape
from kneewear.mechanics.rotations import body_three_123
from kneewear.mechanics.tension_laws import quadratic_to_linear
from kneewear.models.bearing_test.settings import BearingTest
from kneewear.models.bearing_test.simulation import BearingContact, wear_of_test
from kneewear.wear.worn_surface import lower_surface

FOLDER = Path(__file__).parent / "submissions"
CELLS = 160
COARSE = 48  # of a coupled layer
ELEMENTS = 6.0  # finite ones per radius of the contact
RAY = {"method": "ray", "direction": "element_normal"}
Result = tuple[str, str, float]


def inputs_of(name: str) -> dict[str, float]:
    """Inputs of a case by name."""
    (found,) = (case for case in load_cases() if case["name"] == name)
    return {key: one["value"] for key, one in found["inputs"].items()}


def pressed(
    body: Surface,
    indenter: Surface,
    law: PressureLaw,
    thickness: float,
    translation: Any,
    turn: float = 0.0,
    **options: Any,
) -> Any:
    """Contact of an indenter with elements on a body."""
    bearing = Bearing("plate", body, thickness)
    grid = build_elements(bearing, bearing.rectangle(CELLS, CELLS))
    pair = prepare_indenter(indenter, **options).with_grid(grid, 0)
    layer = ElasticLayer(law, grid.thickness[grid.valid])
    rotation = body_three_123(np.array([0.0, 0.0, turn]))
    return pair.evaluate(rotation, np.asarray(translation, dtype=float), layer)


def contact_results() -> Iterator[Result]:
    """Contact of foundations."""
    for name, law in (("sphere_foundation", SmallStrain), ("sphere_large_strain", LargeStrain)):
        given = inputs_of(name)
        radius, depth, thickness = given["radius"], given["depth"], given["thickness"]
        half = 1.1 * math.sqrt(2.0 * radius * depth)
        found = pressed(
            plate((-half, half), (-half, half)),
            sphere(radius),
            law(given["foundation_modulus"]),
            thickness,
            [0.0, radius - depth, 0.0],
            **RAY,
        )
        yield name, "force", -found.force[1]
        if name == "sphere_foundation":
            yield name, "contact_area", found.contact_area
            yield name, "peak_pressure", found.max_pressure
    given = inputs_of("cylinder_foundation")
    radius, depth, length = given["radius"], given["depth"], given["length"]
    half = 1.1 * math.sqrt(2.0 * radius * depth)
    found = pressed(
        plate((-half, half), (-length / 2, length / 2)),
        cylinder(radius, length),
        SmallStrain(given["foundation_modulus"]),
        given["thickness"],
        [0.0, radius - depth, 0.0],
        **RAY,
    )
    yield "cylinder_foundation", "force", -found.force[1]
    given = inputs_of("ball_in_cup")
    cup = given["cup_radius"]
    off = given["depth"] + cup - given["radius"]
    found = pressed(
        sphere(cup).reversed_normal(),
        sphere(given["radius"]),
        SmallStrain(given["foundation_modulus"]),
        given["thickness"],
        [0.0, -off, 0.0],
        direction="element_normal",
    )
    yield "ball_in_cup", "force", -found.force[1]
    given = inputs_of("tilted_plane")
    reach, width, tilt = given["length_in_contact"], given["width"], math.radians(given["tilt"])
    far = plate((-40.0, 40.0), (-40.0, 40.0)).reversed_normal()
    found = pressed(
        plate((-reach, reach), (-width / 2, width / 2)),
        far,
        SmallStrain(given["foundation_modulus"]),
        given["thickness"],
        [0.0, 0.0, 0.0],
        tilt,
        **RAY,
    )
    yield "tilted_plane", "force", -found.force[1]


def layer_results() -> Iterator[Result]:
    """Contact of the coupled layer."""
    name = "sphere_on_layer"
    given = inputs_of(name)
    elastic = given["youngs_modulus"], given["poisson_ratio"]
    half = 1.02 * math.sqrt(2.0 * given["radius"] * given["approach"])
    # The case is of a paraboloid: a sphere 20 times as large, with the approach over 20, has its
    # contact; forces and pressures are linear in the approach.
    larger = 20.0
    indenter = sphere(larger * given["radius"])
    for word in ("thick", "thin"):
        thickness = given[f"thickness_{word}"]
        bearing = Bearing("plate", plate((-half, half), (-half, half)), thickness)
        grid = build_elements(bearing, bearing.rectangle(COARSE, COARSE))
        pair = prepare_indenter(indenter).with_grid(grid, 0)
        edge = 2.0 * half / COARSE
        influence = flat_influence((COARSE, COARSE), (edge, edge), thickness, *elastic)
        law = SmallStrain(confined_modulus(*elastic))
        layer = CoupledLayer(law, np.full(pair.index.size, thickness), influence)
        place = larger * given["radius"] - given["approach"] / larger
        found = pair.evaluate(np.eye(3), np.array([0.0, place, 0.0]), layer)
        yield name, f"force_{word}", -larger * found.force[1]
        yield name, f"peak_pressure_{word}", larger * found.max_pressure
        yield name, f"contact_area_{word}", found.contact_area


def finite_element_results() -> Iterator[Result]:
    """Sphere on a bonded layer by finite elements."""
    name = "sphere_on_layer"
    given = inputs_of(name)
    material = Elastic(given["youngs_modulus"], given["poisson_ratio"])
    radius, approach = given["radius"], given["approach"]
    # Of a thin, nearly incompressible layer; a half-space has half the area.
    reach = math.sqrt(2.0 * radius * approach)
    size = reach / ELEMENTS
    for word in ("thick", "thin"):
        thickness = given[f"thickness_{word}"]
        width = 1.3 * reach + 5.0 * min(thickness, 8.0 * reach)
        across = with_middles(graded_lines(-width, width, (-1.4 * reach, 1.4 * reach), size))
        up = with_middles(graded_lines(0.0, thickness, (thickness - size, thickness), 0.75 * size))
        x, z, y = np.meshgrid(across, across, up, indexing="ij")
        far = np.hypot(x[..., -1], z[..., -1])
        layer = ElasticSurface(Solid(np.stack([x, y, z], axis=-1)), material, far < 1.35 * reach)
        found = layer.press(_paraboloid(radius, thickness - approach))
        yield name, f"force_{word}", -float(found.force[1])
        yield name, f"peak_pressure_{word}", float(found.pressure.max())


def _paraboloid(radius: float, lowest: float) -> Distance:
    """Vertical distance to a paraboloid above the origin."""

    def distance(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x, y, z = points.T
        normal = np.zeros_like(points)
        normal[:, 1] = -1.0
        return lowest + (x**2 + z**2) / (2.0 * radius) - y, normal

    return distance


def pose_results() -> Iterator[Result]:
    """Contact of surfaces fitted to the triangles of files, in the poses of a file."""
    name = "condyle_on_plateau"
    given, folder = inputs_of(name), Path(__file__).parent / name
    condyle, plateau = (load_shape(folder / f"{body}.stl") for body in ("condyle", "plateau"))
    fit = FitSettings(2.0, 1.0, 0.2, 0.02, 0.001)
    fixed, _ = fit_plateau(plateau, (-12.0, 12.0), (-9.0, 9.0), fit)
    moving, _ = fit_condyle(condyle, (0.0, 0.0), (-0.36, 0.36), (-9.0, 9.0), fit)
    bearing = Bearing("plate", fixed, given["thickness"])
    grid = build_elements(bearing, bearing.rectangle(CELLS, CELLS))
    pair = prepare_indenter(moving, **RAY).with_grid(grid, 0)
    layer = ElasticLayer(SmallStrain(given["foundation_modulus"]), grid.thickness[grid.valid])
    for pose in pd.read_csv(folder / "poses.csv").itertuples():
        rotation = np.array(pose[5:]).reshape(3, 3)
        found = pair.evaluate(rotation, np.array([pose.x, pose.y, pose.z]), layer)
        yield name, f"vertical_force_{pose.pose:.0f}", -found.force[1]
        yield name, f"peak_pressure_{pose.pose:.0f}", found.max_pressure
        yield name, f"area_{pose.pose:.0f}", found.contact_area


def ligament_results() -> Iterator[Result]:
    """Tension of a bundle of a slack length of 100 mm."""
    given = inputs_of("ligament_bundle")
    law = quadratic_to_linear([100.0], [given["stiffness"]], given["reference_strain"] * 2.0)
    for strain in (0.04, 0.10):
        tension = float(law.tension(np.array([100.0 * (1.0 + strain)]))[0])
        yield "ligament_bundle", f"tension_at_{strain:.2f}", tension


def worn(blocks: int = 1, **test: Any) -> tuple[BearingContact, Any]:
    """Contact and wear of a test by Archard's law."""
    study = default_study()
    contact = BearingContact(
        BearingTest.model_validate({"million_cycles": 1.0, "blocks": blocks, **test}),
        study.simulation,
    )
    update = study.wear.surface_update.model_copy(
        update={"smoothing_mm": 0.0, "thins_layer": False}
    )
    wear = study.wear.model_copy(
        update={
            "wear_law": "archard",
            "wear_factor_mm3_per_n_m": 1.0e-6,
            "creep_mm_per_mpa": 0.0,
            "surface_update": update,
        }
    )
    return contact, wear_of_test(contact, wear)


def steady(load: float) -> dict[str, float]:
    """A load that does not change."""
    return {"low_n": load, "high_n": load}


def wear_results() -> Iterator[Result]:
    """Wear of bearings."""
    given = inputs_of("plate_under_cylinder")
    length = 4.0
    _, result = worn(
        bearing={"shape": "cylinder", "radius_mm": 28.0, "length_mm": length, "thickness_mm": 8.0},
        motion={"path": "straight", "stroke_mm": given["stroke"]},
        load=steady(length * given["force_per_length"]),
        million_cycles=given["strokes"] / 2e6,
        frames=360,
        element_mm=0.15,
    )
    x = result.grid.centre[0, :, 0, 0]
    yield (
        "plate_under_cylinder",
        "depth",
        float(result.maps.wear_depth.values[0, 0, 0][np.abs(x) < 2.0].mean()),
    )
    given = inputs_of("worn_ring")
    ring = {
        "bearing": {
            "shape": "ring_pin",
            "inner_radius_mm": given["inner_radius"],
            "outer_radius_mm": given["outer_radius"],
            "thickness_mm": 8.0,
        },
        "motion": {"path": "spin"},
        "load": steady(given["load"]),
        "frames": 90,
        "element_mm": 0.3,
    }
    _, fresh = worn(**ring)
    yield "worn_ring", "fresh_volume_per_million_turns", fresh.values["wear_rate"]
    early, late = (
        worn(blocks, **(ring | {"million_cycles": cycles}))[1]
        for blocks, cycles in ((10, 0.5), (20, 1.0))
    )
    whole = late.grid.covered[0] == 1.0
    rate = (late.maps.wear_depth.values - early.maps.wear_depth.values)[0, 0, 0] / 0.5
    yield "worn_ring", "worn_depth_per_million_turns", float(rate[whole].mean())
    given = inputs_of("worn_sphere")
    contact, result = worn(
        16,
        bearing={
            "shape": "sphere",
            "polyethylene": "pin",
            "radius_mm": given["radius"],
            "thickness_mm": 8.0,
        },
        motion={"path": "circle", "diameter_mm": 10.0},
        load=steady(given["load"]),
        million_cycles=given["sliding"] / (10.0 * math.pi) / 1e6,
        frames=72,
        element_mm=0.12,
    )
    yield "worn_sphere", "volume", result.values["wear_rate"] * contact.test.million_cycles
    depth = result.maps.wear_depth.values[0, 0]
    last = contact(lower_surface(contact.bearing.grid, depth, depth, 0.0, thins=False))
    area = float(last["contact_area"].values.mean())
    yield "worn_sphere", "contact_radius", math.sqrt(area / math.pi)
    _, result = worn(
        bearing={"shape": "flat_pin", "radius_mm": 3.0, "thickness_mm": 8.0},
        motion={"path": "rectangle", "length_mm": 7.0, "width_mm": 3.0},
        load=steady(50.0),
        frames=1000,
        element_mm=1.0,
    )
    yield "cross_shear", "rectangle", result.values["cross_shear"]


SUBMISSIONS: dict[str, tuple[Callable[[], Iterator[Result]], ...]] = {
    "kneewear": (contact_results, layer_results, pose_results, ligament_results, wear_results),
    "kneewear_finite_elements": (finite_element_results,),
}


def main() -> None:
    """Write the submissions."""
    for code, parts in SUBMISSIONS.items():
        with (FOLDER / f"{code}.csv").open("w", encoding="utf-8", newline="") as file:
            file.write(f"# {code} {__version__}; python -m benchmarks.cases.submission\n")
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["case", "quantity", "value"])
            for results in parts:
                for name, quantity, value in results():
                    writer.writerow([name, quantity, f"{value:.6g}"])


if __name__ == "__main__":
    main()
