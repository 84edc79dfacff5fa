"""Front of the best designs of a search, the designs chosen from it, and the search's progress."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.analysis.declared import analysis
from kneewear.errors import InputDataError
from kneewear.study.analysis_settings import FrontOptions
from kneewear.study.evolution import Generation
from kneewear.study.plan_settings import Search
from kneewear.study.run import FAILURE
from kneewear.study.search import (
    BASELINE_NUMBER,
    DESIGN,
    design_table,
    mark_front,
    minimised,
    search_plan,
    violations,
)
from kneewear.study.study import Study

Array = NDArray[np.float64]

# Of the reference point of hypervolumes, beyond the worst results of the front, in parts of their
# range: the extremes of a front have a volume too.
MARGIN = 0.1


@analysis("front", tables=("designs", "front", "chosen_designs", "search_error", "search_progress"))
def analyse_front(
    results: pd.DataFrame, study: Study, options: FrontOptions
) -> dict[str, pd.DataFrame]:
    """Tables of a finished search.

    Parameters
    ----------
    results : DataFrame
        Results of all generations and of the front in full, as of
        :func:`kneewear.study.run.run_cases` for `plan_generation` and `plan_front`.
    study : Study
        Settings.
    options : FrontOptions
        None.

    Returns
    -------
    dict of str to DataFrame
        `designs`, as of :func:`kneewear.study.search.mark_front`.

        `front`, the designs of the front with their results in full, by the first objective;
        `feasible` and `dominated` as they are in full.

        `chosen_designs`, those that are shown and exported, by the name of their role in the column
        `chosen`.

        `search_error`, deviation of the results of the search from those in full: quantity,
        designs, mean_percent, largest_percent (of the absolute values).

        `search_progress`, per generation: designs with results, feasible ones, the best value of
        each objective so far, and the hypervolume of all designs so far as a part of the last one.

    Raises
    ------
    InputDataError
        If no design of the front has results in full that fulfil the constraints.
    """
    plan, designs = search_plan(study), mark_front(study, results)
    full = design_table(study, results, in_full=True)
    settings = study.model_dump(mode="json")
    values = {name: variable.current(settings) for name, variable in study.variables.items()}
    baseline = full[full[DESIGN] == BASELINE_NUMBER].assign(**values)
    front = full[full[DESIGN] != BASELINE_NUMBER]
    front = front.sort_values([*plan.objectives, DESIGN], ignore_index=True)
    objectives, limits = minimised(plan, front), violations(plan, front)
    feasible = Generation(np.empty((0, 0)), objectives, limits).feasible
    if not feasible.any():
        raise InputDataError(
            "cases.search_grid",
            "no design of the front that fulfils the constraints when computed in full",
            "a search whose errors are small against the room that the constraints leave",
            "Use a finer search_grid, or relax the constraints.",
        )
    best = non_dominated(np.where(feasible[:, None], objectives, np.nan))
    front = front.assign(feasible=feasible, dominated=~best)
    return {
        "designs": designs,
        "front": front,
        "chosen_designs": _choose(plan, baseline, front[best].reset_index(drop=True)),
        "search_error": _search_error(plan, designs, front),
        "search_progress": _progress(plan, designs),
    }


def _choose(plan: Search, baseline: pd.DataFrame, best: pd.DataFrame) -> pd.DataFrame:
    """Designs by their roles: the study's own, the best in each objective, and the knee point."""
    objectives = minimised(plan, best)
    extremes = [int(column.argmin()) for column in objectives.T]
    rows = extremes if len(extremes) == 1 else [*extremes, knee_point(objectives)]
    picked = best.iloc[rows].drop(columns=["feasible", "dominated"])
    chosen = pd.concat([baseline, picked], ignore_index=True)
    chosen.insert(0, "chosen", plan.chosen)
    return chosen


def shown_designs(plan: Search, front: pd.DataFrame, chosen: pd.DataFrame) -> pd.DataFrame:
    """Designs in the view of a study: the chosen ones, and others spread along the front.

    Parameters
    ----------
    plan : Search
        Objectives and how many are `shown`; the chosen ones always are.
    front, chosen : DataFrame
        Tables `front` and `chosen_designs` of `analyse_front`.

    Returns
    -------
    DataFrame
        Columns of `chosen`, where further designs are named by their numbers (`design_17`), in the
        order of the first objective. Each is the one farthest from all before it, by objectives
        scaled to their ranges on the front.
    """
    best = front[~front["dominated"]].reset_index(drop=True)
    objectives = minimised(plan, best)
    extent = np.ptp(objectives, axis=0)
    scaled = objectives / np.where(extent > 0.0, extent, 1.0)
    taken = np.flatnonzero(best["design"].isin(chosen["design"]))
    further: list[int] = []
    for _ in range(min(plan.shown - len(chosen), len(best) - taken.size)):
        here = scaled[[*taken, *further]]
        away = np.linalg.norm(scaled[:, None] - here[None], axis=-1).min(axis=1)
        away[[*taken, *further]] = -1.0
        further.append(int(away.argmax()))
    others = best.iloc[sorted(further)]
    names = [f"design_{number}" for number in others["design"]]
    return pd.concat([chosen, others.assign(chosen=names)[list(chosen)]], ignore_index=True)


def _search_error(plan: Search, designs: pd.DataFrame, front: pd.DataFrame) -> pd.DataFrame:
    """Deviation of the search's results from those in full, over the front."""
    both = front.merge(designs, on="design", suffixes=("", "_search"))
    rows = []
    for name in plan.quantities:
        error = (100.0 * (both[f"{name}_search"] / both[name] - 1.0)).dropna()
        rows.append(
            {
                "quantity": name,
                "designs": len(error),
                "mean_percent": error.mean(),
                "largest_percent": error.abs().max(),
            }
        )
    return pd.DataFrame(rows)


def _progress(plan: Search, designs: pd.DataFrame) -> pd.DataFrame:
    """Progress of the search by generation."""
    objectives = minimised(plan, designs)
    feasible = designs["feasible"].to_numpy(bool)
    best = non_dominated(np.where(feasible[:, None], objectives, np.nan))
    low, high = objectives[best].min(axis=0), objectives[best].max(axis=0)
    extent = np.where(high > low, high - low, np.abs(high) + 1.0)
    # Scaled, or the volume would have the product of all units.
    scaled = (objectives - low) / extent
    reference = np.full(len(low), 1.0 + MARGIN)
    rows = []
    for number in sorted(designs["generation"].unique()):
        here = designs["generation"].to_numpy() == number
        so_far = (designs["generation"].to_numpy() <= number) & feasible
        known = designs[so_far]
        row = {
            "generation": int(number),
            "designs": int(here.sum()),
            "with_results": int((designs.loc[here, FAILURE] == "").sum()),
            "feasible": int((here & feasible).sum()),
        }
        for name, goal in plan.objectives.items():
            row[f"best_{name}"] = known[name].min() if goal == "minimise" else known[name].max()
        volume = hypervolume(scaled[so_far], reference) if so_far.any() else 0.0
        rows.append(row | {"hypervolume": volume})
    table = pd.DataFrame(rows)
    last = table["hypervolume"].iloc[-1]
    return table.assign(hypervolume=table["hypervolume"] / last if last > 0.0 else np.nan)


def non_dominated(objectives: Array) -> NDArray[np.bool_]:
    """Designs that no other one dominates, shape (design,).

    A design dominates another one if it is worse in no objective (`objectives`, shape (design,
    objective), to be minimised) and better in one. Designs with NaN neither count nor dominate.
    """
    better = np.full(len(objectives), False)
    for number, one in enumerate(objectives):
        no_worse = (objectives <= one).all(axis=1)
        better[number] = bool((no_worse & (objectives < one).any(axis=1)).any())
    return np.asarray(~better & np.isfinite(objectives).all(axis=1))


def knee_point(objectives: Array) -> int:
    """Design of a front with the smallest sum of objectives, each scaled to its range on the front.

    Notes
    -----
    The point of the front farthest from the hyperplane through its extremes, towards the ideal
    point (Das 1999, Structural Optimization 18, 107-115; from memory). Of a straight front all
    points are equal except for rounding, and the first one is taken.
    """
    low, high = objectives.min(axis=0), objectives.max(axis=0)
    extent = np.where(high > low, high - low, 1.0)
    sums = ((objectives - low) / extent).sum(axis=1)
    return int(np.argmax(sums <= sums.min() + 1e-9))


def hypervolume(objectives: Array, reference: Array) -> float:
    """Volume that some designs dominate up to a reference point.

    `objectives` have shape (design, objective), `reference` shape (objective,); designs beyond it
    in an objective do not count.
    """
    from pymoo.indicators.hv import HV  # noqa: PLC0415 - half a second that other analyses do not need

    inside: Any = objectives[(objectives <= reference).all(axis=1)]
    return float(HV(ref_point=reference)(inside)) if len(inside) else 0.0
