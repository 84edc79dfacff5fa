"""Run studies on a real SLURM and locally, and compare the results bit for bit.

    timeout -k 10 1500 python -m tests.cluster.compare_slurm quick hundred search node

`quick` is the quick study, `hundred` a study of 100 cases on a coarse grid, `thousand` a sweep of
1,000 cases on coarse elements with few frames, `search` an optimisation of three generations,
`node` kills the node in the middle of the quick study's contact, starts it again and waits for the
study's end. With
`--tables` a study ends with the table of its cases and what is made of it. Needs
`snakemake-executor-plugin-slurm` besides what `one_node_slurm` asks for.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.cluster.one_node_slurm import Node, one_node, what_is_missing
from tests.workflow.conftest import Checkout, contents

SLURM = (
    "--workflow-profile",
    "workflow/profiles/slurm",
    "--latency-wait",
    "5",
    "--slurm-no-account",
    "--slurm-status-command",
    "squeue",
    "--slurm-init-seconds-before-status-checks",
    "1",
    "--seconds-between-status-checks",
    "1",
)

COARSE = {
    "grid": {"rows": 20, "columns": 15},
    "coarse_grid": {"rows": 20, "columns": 15},
    "table": {"distance_error_um": 10.0},
}
HUNDRED = COARSE | {
    "study": "hundred",
    "variables": {
        "thickness_mm": [6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        "body_mass_kg": [50, 60, 70, 80, 90, 100, 110, 120, 130, 140],
    },
    "cases_per_job": 25,
    "simulation": {"frames": 25},
}
THOUSAND = {
    "grid": COARSE["grid"],
    "table": COARSE["table"],
    "study": "thousand",
    "cases_per_job": 100,
    "simulation": {"frames": 10},
    "cases": {"plan": "latin_hypercube", "samples": 1000},
}
SEARCH = {
    "grid": {"rows": 24, "columns": 18},
    "study": "search",
    "simulation": {"analysis": "quasi_static", "frames": 10},
    "cases": {
        "plan": "search",
        "objectives": {"wear_volume": "minimise", "max_pressure": "minimise"},
        "shown": 12,
        "population": 20,
        "generations": 3,
        "search_grid": {"rows": 16, "columns": 12},
    },
}
# The configuration file of each, and what is different.
STUDIES: dict[str, tuple[str, dict[str, Any]]] = {
    "quick": ("config/quick.yaml", {"study": "quick"}),
    "hundred": ("config/quick.yaml", HUNDRED),
    "thousand": ("config/sweep.yaml", THOUSAND),
    "search": ("config/optimisation.yaml", SEARCH),
}


def why_not() -> str:
    """Why the comparison cannot be made here; empty when it can."""
    if importlib.util.find_spec("snakemake_executor_plugin_slurm") is None:
        return "needs snakemake-executor-plugin-slurm (pip install '.[cluster]')"
    return what_is_missing()


TABLES = ("--until", "analyse_cases")


def compare(name: str, folder: Path, asked: Sequence[str]) -> dict[str, float]:
    """Run a study both ways; files compared, files that differ and wall times."""
    study, settings = STUDIES[name]
    results = Path("results") / settings["study"]
    # Both before the first run: the checkout may be edited meanwhile.
    local, remote = Checkout(folder / "local", study), Checkout(folder / "slurm", study)
    start = time.perf_counter()
    local.snakemake(*asked, overrides=settings)
    between = time.perf_counter()
    said = remote.snakemake(*SLURM, *asked, overrides=settings)
    end = time.perf_counter()
    return _counts(local.folder / results, remote.folder / results) | {
        "jobs": said.count("with SLURM jobid"),
        "local_s": round(between - start, 1),
        "slurm_s": round(end - between, 1),
    }


def kill_node(folder: Path, node: Node, undisturbed: Path) -> dict[str, float]:
    """Kill the node while contact is simulated, and bring it back; Snakemake is left alone.

    SLURM requeues the jobs of a lost node. Should Snakemake give up all the same, the
    documented commands must end the study.
    """
    checkout = Checkout(folder / "node")
    settings, start = STUDIES["quick"][1], time.perf_counter()
    run = _start(checkout, settings)
    deadline = time.monotonic() + 600
    while not _runs("simulate_contact"):
        assert time.monotonic() < deadline
        assert run.poll() is None
        time.sleep(0.1)
    node.kill_node()
    while "down" not in node.state():
        assert time.monotonic() < deadline
        time.sleep(0.5)
    node.start_node()
    gave_up = run.wait(Checkout.patience) != 0
    if gave_up:
        checkout.snakemake("--unlock", overrides=settings)
        checkout.snakemake(*SLURM, "--rerun-incomplete", overrides=settings)
    return _counts(undisturbed, checkout.folder / "results/quick") | {
        "gave_up": gave_up,
        "slurm_s": round(time.perf_counter() - start, 1),
    }


def _start(checkout: Checkout, settings: Mapping[str, Any]) -> subprocess.Popen[bytes]:
    command, environment = checkout.command(*SLURM, overrides=settings)
    return subprocess.Popen(
        command,
        cwd=checkout.folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _runs(rule: str) -> bool:
    """True if SLURM runs a job of a rule now."""
    listed = subprocess.run(
        ["squeue", "--noheader", "--states=RUNNING", "--format=%k"],
        capture_output=True,
        text=True,
        check=False,
    )
    return rule in listed.stdout


def _counts(first: Path, second: Path) -> dict[str, float]:
    one, other = contents(first), contents(second)
    differing = sorted(
        name for name in one.keys() | other.keys() if one.get(name) != other.get(name)
    )
    for name in differing:
        print(f"differs: {name}", file=sys.stderr)
    return {"files": len(one), "differing": len(differing)}


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.compare_slurm")
    parser.add_argument("part", nargs="+", choices=[*STUDIES, "node"])
    parser.add_argument("--tables", action="store_true", help="no figures and no page")
    asked = parser.parse_args()
    Checkout.patience = 3600.0
    reason = why_not()
    if reason:
        sys.exit(f"not run: {reason}")
    # An end by the clock (timeout) shall stop the daemons as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended before its time"))
    folder = Path(tempfile.mkdtemp(prefix="slurm-", dir=os.environ.get("CLUSTER_FOLDER")))
    with one_node(folder / "daemons") as node:
        for part in asked.part:
            if part == "node":
                quick = folder / "quick" / "local"
                found = kill_node(folder, node, quick / "results" / "quick")
            else:
                found = compare(part, folder / part, TABLES if asked.tables else ())
            print(part, found, flush=True)
            if found["differing"]:
                sys.exit("results differ")


if __name__ == "__main__":
    main()
