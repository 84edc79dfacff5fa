"""A small optimisation from end to end, and after it was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import pandas as pd
import pytest
import yaml

from kneewear.io.documents import load_json
from kneewear.study.settings import read_settings
from tests.workflow.conftest import CHECKOUT, Checkout, contents

pytestmark = [pytest.mark.workflow, pytest.mark.slow]
pytest.importorskip("pymoo", reason="the extra 'optimisation' is not installed")

SMALL = {
    "study": "small",
    "grid": {"rows": 24, "columns": 18},
    "simulation": {"analysis": "quasi_static", "frames": 10},
    "cases": read_settings(CHECKOUT / "config/optimisation.yaml")["cases"]
    | {"population": 6, "generations": 2, "search_grid": {"rows": 16, "columns": 12}},
}


def checkout(folder, origin):
    """Copy of a checkout, for the shipped optimisation."""
    return Checkout(folder, "config/optimisation.yaml", origin=origin)


@pytest.fixture(scope="module")
def study(finished, tmp_path_factory):
    """Checkout in which the small optimisation is complete."""
    copy = checkout(tmp_path_factory.mktemp("optimisation"), finished.folder)
    copy.snakemake(overrides=SMALL)
    return copy


def test_front_page_view_and_shapes_are_there(study):
    results = study.folder / "results/small"
    assert len(pd.read_csv(results / "tables/designs.csv")) == 12
    chosen = pd.read_csv(results / "tables/chosen_designs.csv")["chosen"]
    assert list(chosen) == ["baseline", "lowest_wear_volume", "lowest_max_pressure", "knee_point"]
    view = load_json(results / "figures/view.json")
    designs = {scene["of"]["case"] for scene in view["scenes"]}
    assert load_json(results / "report/summary.json")["key_results"]
    for name in chosen:
        assert name in designs
        assert (results / f"geometry/{name}/vtk/insert.vtp").is_file()
        own = yaml.safe_load((results / f"designs/{name}.yaml").read_text())
        assert (own["model"], own["study"]) == ("wear", f"small_{name}")
    assert (results / "report/summary.pdf").read_bytes().startswith(b"%PDF")


def test_more_generations_continue_the_search(study):
    longer = SMALL | {"cases": SMALL["cases"] | {"generations": 3}}
    planned = study.planned(overrides=longer)
    # Two parts of a generation, and of the front.
    assert planned["evaluate_cases"] == 4


def test_killed_search_ends_with_the_same_front(study, finished, tmp_path):
    copy = checkout(tmp_path / "killed", finished.folder)
    command, environment = copy.command(overrides=SMALL)
    process = subprocess.Popen(
        command,
        cwd=copy.folder,
        env=environment,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    results = copy.folder / "results/small"
    begun = results / "search/g000/b000.csv"
    deadline = time.monotonic() + copy.patience
    while not begun.exists() and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.05)
    # A session of its own: the workflow and its jobs, and no other process.
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert begun.exists()
    assert not (results / "tables/front.csv").exists()
    copy.snakemake("--unlock", overrides=SMALL)
    front = "tables/front.csv"
    copy.snakemake("--rerun-incomplete", f"results/small/{front}", overrides=SMALL)
    found, whole = contents(results), contents(study.folder / "results/small")
    assert front in found
    assert found == {name: whole[name] for name in found}
