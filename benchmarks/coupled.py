"""Time quasi-static cycles on the coupled layer beside the foundation and finite elements.

`python -m benchmarks.coupled` (part of `make benchmark`) prints a table of processor times: all
cases of the default study on both layers with the influence tables of the coupled one, per frame
and side; the same cases, and four cases of an implant read from meshes, on a layer that yields, at
both limits of what stays of its plastic strain, and as multiples of the elastic layer's; and both
solids of one frame of the finite-element comparison, whose stresses are included.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from kneewear import build_knee, default_settings_file
from kneewear.base.files import read_settings
from kneewear.evidence.fe_comparison.comparison import compute_comparison
from kneewear.evidence.fe_comparison.settings import FeComparisonStudy
from kneewear.motion import coupling
from kneewear.motion.cases import simulate_cases
from kneewear.motion.evaluation import build_pairs
from kneewear.study.inputs import built_in_activities
from kneewear.study.settings import read_study
from kneewear.study.study import PERMANENT_LIMITS

CONFIG = Path("config/evidence/fe_twin.yaml")
CURVE = Path("config/evidence/fe_twin_yield.yaml")
OWN_IMPLANT = Path("config/example_meshes.yaml")
OWN_CASES = 4
CORES = 2  # of the machine whose time is estimated from processor time


def main() -> dict[str, float]:
    """Processor times, s and ms, and their ratios."""
    times = time_cycles() | time_yielding()
    times["finite_elements_ms"] = time_elements()
    times["times_faster_than_elements"] = times["finite_elements_ms"] / times["frame_and_side_ms"]
    print("\nCoupled layer, processor time\n" + pd.Series(times).round(2).to_string())
    return times


def time_cycles() -> dict[str, float]:
    """Times of all quasi-static cases of the default study on both layers."""
    quasi_static = {"simulation": {"analysis": "quasi_static"}}
    study = read_study(quasi_static, defaults=default_settings_file())
    knee, gait = build_knee(study), built_in_activities(study)["gait"]
    pairs, cases = build_pairs(knee, study.simulation), study.case_list()
    seconds = {}
    for contact in ("foundation", "coupled_layer"):
        settings = study.simulation.model_copy(update={"contact": contact})
        simulate_cases(knee, gait, cases[-1:], settings, pairs=pairs)
        seconds[contact] = _processor_time(
            lambda chosen=settings: simulate_cases(knee, gait, cases, chosen, pairs=pairs)
        )
    sides = len(cases) * study.simulation.frames * len(knee.grid.sides)
    return {
        "cases": float(len(cases)),
        "foundation_s": seconds["foundation"],
        "beyond_foundation_s": seconds["coupled_layer"] - seconds["foundation"],
        "frame_and_side_ms": 1e3 * seconds["coupled_layer"] / sides,
        "times_foundation": seconds["coupled_layer"] / seconds["foundation"],
    }


def time_yielding() -> dict[str, float]:
    """Times of cycles on a layer that yields: elastic cycle, load steps and both passes.

    Limits are of what stays of the plastic strain. Cases are independent of each other, so that
    `CORES` cores need that part of the processor time. Multiples are of the time of the same cases
    on the elastic layer, in the same run.
    """
    implant = read_settings(OWN_IMPLANT)
    own = {name: implant[name] for name in ("data_folder", "implant")}
    elastic, _ = _coupled_seconds({}, None)
    both = [_coupled_seconds({}, share) for share in PERMANENT_LIMITS]
    seconds = max(limit for limit, _ in both)
    own_elastic, _ = _coupled_seconds(own, None, OWN_CASES)
    own_seconds, _ = _coupled_seconds(own, max(PERMANENT_LIMITS), OWN_CASES)
    return {
        "yielding_frame_and_side_ms": 1e3 * seconds / both[0][1],
        "yielding_cases_s": seconds / CORES,
        "yielding_times_elastic": seconds / elastic,
        "yielding_own_cases_s": own_seconds / CORES,
        "yielding_own_times_elastic": own_seconds / own_elastic,
    }


def _coupled_seconds(
    implant: dict[str, Any], share: float | None, number: int | None = None
) -> tuple[float, int]:
    """Processor time of the first cases on one thread, s, and their frames and sides.

    The layer keeps a share of its plastic strain; without one it is elastic. Its tables are
    computed again, as in a job of its own.
    """
    chosen: dict[str, Any] = {"analysis": "quasi_static", "contact": "coupled_layer"}
    if share is not None:
        curve = read_settings(CURVE)["fe_comparison"]["plasticity"]
        names = "plastic_strain", "yield_stress_mpa", "source"
        chosen["material_yield"] = {name: curve[name] for name in names}
        chosen["material_yield"]["permanent_share"] = share
    settings = {"simulation": chosen, "report": {"compare_with_published": False}, **implant}
    study = read_study(settings, defaults=default_settings_file())
    knee, gait = build_knee(study), built_in_activities(study)["gait"]
    pairs, cases = build_pairs(knee, study.simulation), study.case_list()[:number]
    simulate_cases(knee, gait, cases[-1:], study.simulation, pairs=pairs)
    coupling._TABLES.clear()
    seconds = _processor_time(
        lambda: simulate_cases(knee, gait, cases, study.simulation, pairs=pairs)
    )
    return seconds, len(cases) * study.simulation.frames * len(knee.grid.sides)


def time_elements() -> float:
    """Time of one frame and side of the finite-element comparison with its stresses, ms."""
    comparison = read_study(CONFIG, defaults=default_settings_file())
    assert isinstance(comparison, FeComparisonStudy)
    knee, gait = build_knee(comparison), built_in_activities(comparison)["gait"]
    case, frames = comparison.compared_cases()[2], comparison.compared_frames()[:1]
    seconds = _processor_time(
        lambda: compute_comparison(
            knee, gait, case, frames, comparison.fe_comparison, comparison.simulation
        )
    )
    return 1e3 * seconds / len(knee.grid.sides)


def _processor_time(function: Callable[[], Any]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


if __name__ == "__main__":
    main()
