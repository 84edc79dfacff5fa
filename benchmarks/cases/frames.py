"""The case `bearing_frames`: both plateaus of a whole bearing at two frames of gait.

`python -m benchmarks.cases.frames` writes its files. Unlike the other cases it needs kneewear: the
surfaces, the poses and the second solution are kneewear's; the first is that of the finite elements
of `config/evidence/fe_twin.yaml`, stored in `docs/snapshot/fe_twin`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.cases.solutions import FOLDER, case, quantity
from kneewear import build_knee, default_settings_file
from kneewear.geometry.grid import bearing_of
from kneewear.io.cad import save_implant_step
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion.cases import simulate_cases
from kneewear.study.inputs import built_in_activities
from kneewear.study.settings import read_study

ROOT = Path(__file__).parents[2]
NAME = "bearing_frames"
CASE = "10mm_100kg"
# Quantities of the FE comparison, their names and tolerances, percent: about twice the difference
# of both solutions, which the mesh error of the elements adds to.
QUANTITIES = (
    ("force_at_pose", "force_at_pose", 2.0),
    ("middle_pressure", "middle_pressure_under_load", 4.0),
    ("avg_pressure", "mean_pressure_under_load", 4.0),
    ("contact_area", "area_under_load", 4.0),
)
_FLAT = 1e-9  # mm
METHODS = "27-node hexahedra, stored", "influence of a layer with free ends, stored"


def save_frames(folder: Path) -> float:
    """Write surfaces and poses; returns the height of the flat underside, mm."""
    study = read_study(ROOT / "config/evidence/fe_twin.yaml", defaults=default_settings_file())
    (chosen,) = (one for one in study.case_list() if one.name == CASE)
    knee, activity = build_knee(study), built_in_activities(study)["gait"]
    history = simulate_cases(knee, activity, [chosen], study.simulation)
    more = chosen.thickness - knee.implant.nominal_thickness
    implant, grid = knee.implant, knee.grid
    rows, undersides = [], []
    for percent in study.fe_comparison.frames_percent:
        frame = int(np.argmin(np.abs(history.percent.to_numpy() - percent)))
        turn = body_three_123(history.rotation[0, frame].to_numpy())
        for number, side in enumerate(grid.sides):
            centre = grid.centre[number][grid.valid[number]]
            bearing = bearing_of(implant, side)
            local = bearing.thickness
            local = local(centre) if callable(local) else local
            undersides.append(centre[:, 1] - local - more)
            plan = [centre[:, axis].min() for axis in (0, 2)]
            plan += [centre[:, axis].max() for axis in (0, 2)]
            place = history.translation[0, frame].to_numpy()
            rows.append([percent, side, *place, *turn.ravel(), *plan])
    names = ["x", "y", "z", *(f"r{row}{column}" for row in "123" for column in "123")]
    ends = ["low_x", "low_z", "high_x", "high_z"]
    table = pd.DataFrame(rows, columns=["percent", "side", *names, *ends])
    folder.mkdir(exist_ok=True)
    table.to_csv(folder / "frames.csv", index=False, float_format="%.9g")
    save_implant_step(implant, folder / "surfaces.step")
    under = np.concatenate(undersides)
    if np.ptp(under) > _FLAT:
        raise ValueError(f"an underside that is not flat: {np.ptp(under):.3g} mm")
    return float(under.mean())


def bearing_frames(folder: Path = FOLDER) -> dict[str, Any]:
    """Case of this name; writes its surfaces and frames into a folder of its name."""
    underside = save_frames(folder / NAME)
    stored = pd.read_csv(ROOT / "docs/snapshot/fe_twin/tables/fe_twin.csv")
    chosen = stored[stored["case"] == CASE].set_index(["percent", "side", "quantity"])
    frames = chosen.index.droplevel("quantity").unique()
    inputs: dict[str, tuple[float, str]] = {
        "youngs_modulus": (463.0, "MPa"),
        "poisson_ratio": (0.46, "1"),
        "underside": (underside, "mm"),
    }
    quantities = []
    for percent, side in frames:
        where = f"{percent:g}_percent_{side}"
        load = chosen.loc[(percent, side, "force_at_pose"), "foundation"]
        inputs[f"load_{where}"] = (float(load), "N")
        for name, ours, tolerance in QUANTITIES:
            row = chosen.loc[(percent, side, name)]
            values = row["finite_elements"], row["coupled_layer"]
            pairs = [(float(value), method) for value, method in zip(values, METHODS, strict=True)]
            quantities.append(quantity(f"{ours}_{where}", row["unit"], tolerance, *pairs))
    text = (
        "A rigid, frictionless femoral component presses the two plateaus of an insert, each "
        "alone. surfaces.step has condyles, in the femoral frame, and plateaus; frames.csv "
        "the translation, mm, and rotation matrix of the femoral component in the insert's "
        "frame (y up), and the corners (x, z) of the rectangle that each solid fills. A solid "
        "reaches from the plateau down to the plane y = underside, to which it is bonded; its "
        "sides are free. Linear elastic, small strain. force_at_pose is the vertical force at "
        "the pose; the other quantities are those after the component was moved along y until "
        "the vertical force on this plateau is the load. middle_pressure is the largest in "
        "the middle half of the contact's width along z, away from the narrow peaks at the "
        "ends."
    )
    files = [f"{NAME}/surfaces.step", f"{NAME}/frames.csv"]
    title = "Both plateaus of a knee replacement at two frames of gait"
    return {"files": files} | case("contact", title, text, inputs, *quantities)


def main() -> None:
    """Write the files of the case."""
    content = json.dumps({"name": NAME, **bearing_frames()}, indent=2)
    (FOLDER / f"{NAME}.json").write_text(content + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
