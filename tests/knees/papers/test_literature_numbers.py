"""Numbers and curves beside the source documents: sign, order, and what each is of."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from kneewear.evidence.paper.command import draw_panels
from kneewear.knees.papers.knee_extension.literature import TIBIOFEMORAL
from kneewear.knees.papers.knee_extension.model import PATELLA, extension_curves, refer_patella
from kneewear.knees.papers.knee_extension.motion import JOINTS, Extension
from kneewear.knees.papers.knee_extension.settings import CONTACTS
from kneewear.knees.papers.planar_knee.literature import DISEASED, _knees
from kneewear.knees.papers.planar_knee.run import Run
from kneewear.knees.papers.planar_knee.settings import PlanarSettings
from kneewear.knees.papers.spatial_knee.literature import spatial_numbers
from kneewear.knees.papers.spatial_knee.model import fibre_strains
from kneewear.mechanics.tension_laws import TensionLaw
from kneewear.study.settings import read_study
from tests.study.studies import CHECKOUT, CONFIG


def test_the_ligament_of_largest_mean_tension_ranks_first():
    flexion = np.linspace(0.0, 90.0, 10)
    mean = {"MCL_ant": 30.0, "PCL_ant": 20.0, "LCL": 10.0}
    columns = {
        f"{name}_n": np.where(flexion > 30.0, size, 100.0 - size) for name, size in mean.items()
    }
    columns |= {f"{side}_force_n": 1.0 + flexion for side in ("medial", "lateral")}
    motion = pd.DataFrame(
        {
            "flexion_deg": flexion,
            "internal_rotation_deg": 0.1 * flexion,
            "x_mm": 5.0 - 0.2 * flexion,
            **columns,
        }
    )
    numbers = spatial_numbers(motion, (), tuple(mean))
    for rank, name in enumerate(("MCL_ant", "PCL_ant"), 1):
        assert numbers[f"rank of {name} by mean tension above 30 deg"] == rank
    # x is lateral: this tibia moves to medial.
    moved = numbers["lateral displacement of the tibia's centre at 70 deg"]
    assert moved == pytest.approx(-14.0)


def test_a_fibre_longer_than_its_slack_length_has_a_positive_strain():
    none = np.zeros(2)
    law = TensionLaw(np.array([10.0, 20.0]), none, none, none + 1e3, none, none)
    part = SimpleNamespace(length=np.array([11.0, 19.0]))
    system: Any = SimpleNamespace(
        actions={"ligaments": SimpleNamespace(law=law)},
        forces=lambda _: SimpleNamespace(parts={"ligaments": part}),
    )
    np.testing.assert_allclose(fibre_strains(system, np.zeros((1, 6))), [[10.0, -5.0]])


def test_indentation_and_force_of_knees_are_each_its_own():
    study: Any = read_study(
        CONFIG / "papers/planar_knee.yaml", defaults=CHECKOUT / "config/defaults.yaml"
    )
    settings: PlanarSettings = study.multibody
    size = {name: 1.0 + 0.1 * n for n, name in enumerate(["healthy", "artificial", *DISEASED])}

    def choose(knee: str, law: str = "hertz") -> Any:
        part = 1.0 if law == "hertz" else 0.9 / size[knee]
        values = {"depth": [0.0, part * size[knee]], "force": [0.0, 100.0 / size[knee]]}
        return SimpleNamespace(contact=lambda name: np.array(values[name]))

    numbers: dict[str, Any] = _knees(choose, settings)
    for name, value in numbers["largest indentation over that of the healthy knee"].items():
        assert value == pytest.approx(size[name])
    for name, value in numbers["largest force over that of the healthy knee"].items():
        assert value == pytest.approx(1.0 / size[name])


def test_a_loop_that_dissipates_has_a_positive_area():
    depth = np.array([0.0, 0.5, 1.0, 0.5, 0.0])
    force = np.array([0.0, 10.0, 10.0, 2.0, 0.0])
    parts = [
        {"contact": SimpleNamespace(depth=x, force=y)} for x, y in zip(depth, force, strict=True)
    ]
    motion = SimpleNamespace(time=np.arange(5.0), parts=parts)
    contact = SimpleNamespace(begin=0.0, end=4.0)
    solution: Any = SimpleNamespace(motion=motion, contacts=[contact])
    # Loading 2.5 + 5, unloading 3 + 0.5.
    assert Run("healthy", "flores", "", 50.0, "", solution).loop_area() == pytest.approx(4.0)


def extension_of(values: dict[str, Any]) -> Extension:
    rows = 3
    tibia, patella = CONTACTS
    names = {
        *JOINTS,
        *CONTACTS,
        *(f"{side} {name}" for side in ("medial", "lateral") for name in CONTACTS),
        *(f"{side} {tibia} x" for side in ("medial", "lateral")),
        f"lateral {patella} femur y",
        f"lateral {patella} y",
        "quadriceps",
        "patellar ligament",
    }
    given = dict.fromkeys(names, np.ones(rows)) | {"time_s": np.arange(rows)} | values
    system: Any = SimpleNamespace(actions={"ligaments": SimpleNamespace(names=("quadriceps",))})
    unwrapped = pd.Series({PATELLA: 40.0, "flexion_deg": 50.0})
    return Extension(system, None, pd.DataFrame(given), unwrapped)  # type: ignore[arg-type]


def test_contact_forces_by_side_are_those_of_the_side():
    forces = {f"{side} {TIBIOFEMORAL}": size for side, size in (("medial", 7.0), ("lateral", 3.0))}
    one = extension_of({"flexion_deg": [90.0, 45.0, 0.0]} | forces)
    _, numbers = extension_curves({"200 N": one})
    panel = numbers[numbers["panel"] == f"{TIBIOFEMORAL} contact force by side"]
    assert dict(panel.groupby("series")["value"].first()) == {
        "200 N, medial": 7.0,
        "200 N, lateral": 3.0,
    }


def test_the_patella_is_parallel_to_the_tibia_in_full_extension():
    one = extension_of({"flexion_deg": [90.0, 45.0, 0.0], PATELLA: [60.0, 30.0, 5.0]})
    numbers = refer_patella({"200 N": one})["200 N"]
    assert numbers.table[PATELLA].tolist() == [55.0, 25.0, 0.0]
    assert numbers.unwrapped is not None
    assert numbers.unwrapped.to_dict() == {PATELLA: 35.0, "flexion_deg": 50.0}


def test_panels_of_a_figure_stand_in_the_order_of_their_numbers():
    rows = [
        {"panel": name, "series": "one", "over": "x", "at": at, "unit": "mm", "value": at}
        for name in ("6.2b second", "6.3 another", "6.2a first")
        for at in (0.0, 1.0)
    ]
    figure = draw_panels(pd.DataFrame(rows), "6.2")
    assert figure is not None
    shown = [" ".join((one.get_title(), one.get_title("left"))) for one in figure.axes]
    assert ["first" in title for title in shown[:2]] == [True, False]
    assert ["second" in title for title in shown[:2]] == [False, True]
