"""A user's implant goes from files to a report by the how-to alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pandas as pd
import pytest
import yaml

import kneewear as kw
from kneewear.__main__ import main
from kneewear.study.settings import merge_settings
from tests.docs.test_examples import blocks
from tests.geometry.ultracongruent import ORIGINS, write_components
from tests.workflow.conftest import CHECKOUT

pytestmark = [pytest.mark.workflow, pytest.mark.slow]

GUIDE = CHECKOUT / "docs" / "how-to" / "own-implant.md"


def shifted(part, x=None, z=None):
    """Window of a side, mm in the axes of this project, from one in the frame of the shape."""
    posterior, _, medial = ORIGINS[part]
    found = {"z": [value - medial for value in z]}
    return found if x is None else {"x": [value - posterior for value in x], **found}


# Few elements, frames and cases.
COARSE = {
    "grid": {"rows": 24, "columns": 18},
    "coarse_grid": {"rows": 24, "columns": 18},
    "simulation": {"frames": 25},
    "variables": {"thickness_mm": [6], "body_mass_kg": [50, 100]},
    "report": {"compare_with_published": False, "spread": {"blocks": 1, "samples": 0}},
}
# Largest pressures, MPa, of the sheets in STL with these.
PEAKS = {("6mm_50kg", "medial"): 18.66, ("6mm_100kg", "lateral"): 18.76}


def own_settings(ending="stl", left=False, solid=False, folder="mine"):
    """Return the settings of a user after steps 3 and 4 of the guide."""
    form = "solid" if solid else "sheet"
    first, last = ([11.5, 34.5], [-34.5, -11.5])
    angles = {"angle_deg": [-30.0, 110.0]}
    settings = yaml.safe_load((CHECKOUT / "config/example_meshes.yaml").read_text())
    settings["study"] = "my_implant"
    settings["implant"]["knee"] = "left" if left else "right"
    settings["implant"]["meshes"] |= {
        "insert": f"{folder}/insert.{ending}",
        "femoral": f"{folder}/femoral.{ending}",
        "insert_form": form,
        "femoral_form": form,
        "unit": "mm" if ending == "step" else "m",
        "axes": {"x": "lateral" if left else "medial", "y": "posterior", "z": "superior"},
        "underside_mm": -ORIGINS["insert"][1],
        "insert_region_mm": {
            "medial": shifted("insert", [-21.0, 21.0], first),
            "lateral": shifted("insert", [-21.0, 21.0], last),
        },
        "femoral_region_mm": {
            "medial": shifted("femoral", z=[9.0, 40.0]) | angles,
            "lateral": shifted("femoral", z=[-40.0, -9.0]) | angles,
        },
    }
    settings["activities"]["example_gait"]["zero"] = {
        "anterior_posterior": "dwell_pose",
        "medial_lateral": "dwell_pose",
    }
    return settings


def placed(results) -> pd.DataFrame:
    """Numbers of the placement by quantity."""
    return pd.read_csv(results / "inputs/placement.csv").set_index("quantity")


def test_commands_of_the_guide_lead_from_files_to_the_report(tmp_path):
    write_components(tmp_path / "mine")
    commands = [line.strip() for line in "\n".join(blocks(GUIDE, "bash")).split("\n")]
    commands = [line for line in commands if line]
    assert [line.split()[1] for line in commands] == ["new", "check", "run", "open"]
    extra = {"new": ["--no-browser"], "open": ["--no-browser"]}
    environment = {name: value for name, value in os.environ.items() if name != "KNEEWEAR_DATA"}
    for command in commands:
        words = command.split()[1:]
        if words[0] == "run":
            # The settings as written are checked, and run on few elements.
            path = tmp_path / "my_implant.yaml"
            written = yaml.safe_load(path.read_text(encoding="utf-8"))
            del written["accuracy"]
            path.write_text(yaml.safe_dump(merge_settings(written, COARSE)), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "kneewear", *words, *extra.get(words[0], [])],
            cwd=tmp_path,
            env=environment | {"PYTHONPATH": str(CHECKOUT)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        if words[0] == "new":
            assert re.search(r"Placement of my_implant_gait: (pass|warning)\.", done.stdout)
    results = tmp_path / "results/my_implant"
    page = (results / "report/index.html").read_text(encoding="utf-8")
    assert 'data-table="placement"' in page
    assert not len(pd.read_csv(results / "tables/failures.csv"))


@pytest.mark.parametrize(
    ("ending", "left", "solid"),
    [("step", False, False), ("stl", True, True)],
    ids=["step", "solids of a left knee"],
)
def test_other_files_have_the_same_pressures(tmp_path, monkeypatch, ending, left, solid):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KNEEWEAR_DATA", raising=False)
    write_components(tmp_path / "mine", ending, left=left, solid=solid)
    settings = own_settings(ending, left, solid) | COARSE
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(settings))
    # The origins of these files are 29 mm from the condyles' axis, which is refused.
    with pytest.raises(SystemExit):
        main(["check", "mine.yaml"])
    found = placed(tmp_path / "results/my_implant")["value"]
    # As with the sheets in STL: 0.261.
    force = "force that prescribes the anterior-posterior position over the largest load"
    assert found[force] == pytest.approx(0.261, abs=0.01)
    origin = "distance of the femoral origin from the middle of the condyles' axis"
    assert found[origin] == pytest.approx(29.4, abs=0.3)
    assert abs(found["mean distance from the dwell pose towards posterior"]) < 0.1
    assert found["contact force at the border of the insert's window"] == 0.0
    assert found["contact force at the border of the femoral window"] == 0.0
    study = kw.load_study("mine.yaml")
    cycles = kw.simulate(kw.build_knee(study), study)
    cases = kw.tabulate_cases(cycles, kw.accumulate_wear(cycles, study), study)
    peaks = cases.query("quantity == 'max_pressure'").set_index(["case", "side"])["value"]
    # One implant: in every format, pressures are those of the sheets in STL on these elements.
    for key, peak in PEAKS.items():
        assert peaks[key] == pytest.approx(peak, rel=0.02)
