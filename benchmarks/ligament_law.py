"""Tension of a ligament by this software and by OpenSim, in one run.

`python -m benchmarks.ligament_law` writes results/benchmarks/ligament_law.csv; needs the extra
`peers`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from kneewear.io.documents import save_table
from kneewear.mechanics.tension_laws import quadratic_to_linear

OUTPUT = Path("results/benchmarks/ligament_law.csv")
STIFFNESS = 2000.0  # N and mm
SLACK = 40.0  # N and mm
STRAINS = np.array([-0.05, 0.0, 0.01, 0.03, 0.0599, 0.0601, 0.08, 0.15])


def tension_of_opensim(length_mm: float) -> float:
    """Spring force of a ligament between the ground and a body on a slider, N."""
    import opensim  # noqa: PLC0415

    model = opensim.Model()
    body = opensim.Body("tibia", 1.0, opensim.Vec3(0), opensim.Inertia(1.0))
    slider = opensim.SliderJoint("slider", model.getGround(), body)
    model.addBody(body)
    model.addJoint(slider)
    ends = (model.getGround(), opensim.Vec3(0)), (body, opensim.Vec3(0))
    ligament = opensim.Blankevoort1991Ligament("MCL", *ends[0], *ends[1], STIFFNESS, 1e-3 * SLACK)
    model.addForce(ligament)
    state = model.initSystem()
    slider.getCoordinate().setValue(state, 1e-3 * length_mm)
    model.realizePosition(state)
    return float(ligament.getSpringForce(state))


def compare_laws() -> pd.DataFrame:
    """Tension of both at strains around slack and around the end of the toe region."""
    law, lengths = quadratic_to_linear(SLACK, STIFFNESS), SLACK * (1.0 + STRAINS)
    table = pd.DataFrame(
        {
            "strain_percent": 100.0 * STRAINS,
            "tension_n": [float(law.tension(length)[0]) for length in lengths],
            "opensim_n": [tension_of_opensim(length) for length in lengths],
        }
    )
    relative = (table["tension_n"] / table["opensim_n"] - 1.0).where(table["opensim_n"] > 0.0, 0.0)
    return table.assign(relative_difference=relative)


def main() -> pd.DataFrame:
    """Compare, print and write the table."""
    table = compare_laws()
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    save_table(table, OUTPUT)
    print(table.to_string(index=False))
    return table


if __name__ == "__main__":
    main()
