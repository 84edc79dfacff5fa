"""Front of the best designs: computed again in full, and the designs chosen from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.errors import InputDataError
from kneewear.geometry.knee import KneeModel
from kneewear.settings.base import WearStudy
from kneewear.settings.optimisation import AS_SET, OptimisationSettings, OptimisationStudy
from kneewear.settings.study import apply_case
from kneewear.simulation.history import ContactHistory
from kneewear.studies.cases import FAILURE
from kneewear.studies.life import (
    built_in_activities,
    exact_knee,
    simulate_cycles,
    summarize_life,
    with_exact_distances,
)
from kneewear.studies.optimisation.designs import (
    design_case,
    evaluate_designs,
    generations,
    minimised,
    search_problem,
    values_as_set,
    violations,
)
from kneewear.studies.optimisation.search import (
    Generation,
    hypervolume,
    knee_point,
    non_dominated,
    survivors,
)
from kneewear.wear.records import DamageMaps

# Number of the design of the study's own settings.
NUMBER_AS_SET = -1
# Of the reference point of hypervolumes, beyond the worst results of the front, in parts of their
# range: the extremes of a front have a volume too.
MARGIN = 0.1


def find_front(study: OptimisationStudy, tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """All designs of a search (`tables/designs.csv`).

    Parameters
    ----------
    study : OptimisationStudy
        Settings.
    tables : sequence of DataFrame
        Tables of `evaluate_generation`, in any order.

    Returns
    -------
    DataFrame
        Their rows by the number of the design; `feasible`, whether it has results that fulfil all
        constraints; `front`, whether it is one of the best of the last population.

    Raises
    ------
    InputDataError
        If no design fulfils the constraints.
    """
    settings = study.optimisation
    designs = pd.concat(tables, ignore_index=True).sort_values("design", ignore_index=True)
    designs[FAILURE] = designs[FAILURE].fillna("")
    done = generations(settings, designs)
    feasible = np.concatenate([one.feasible for one in done])
    if not feasible.any():
        worst = violations(settings, designs).max(axis=1)
        least = int(np.nanargmin(worst))
        raise InputDataError(
            "optimisation.constraints",
            f"none of {len(designs)} designs that fulfils them; design {least} violates one by "
            f"{100.0 * worst[least]:.3g} %, at least",
            "constraints that some design within the bounds fulfils",
            "Relax them, or widen the bounds of the variables.",
        )
    chosen = np.full(len(designs), False)
    chosen[survivors(search_problem(study), done)] = True
    return designs.assign(feasible=feasible, front=chosen)


def evaluate_front(
    study: OptimisationStudy,
    knee: KneeModel,
    activities: Mapping[str, Activity],
    designs: pd.DataFrame,
    part: int,
    parts: int,
) -> pd.DataFrame:
    """Results of a part of the front by the study's own analysis on its own elements.

    Parameters
    ----------
    study, knee, activities
        As of :func:`kneewear.studies.optimisation.designs.evaluate_generation`.
    designs : DataFrame
        As of `find_front`.
    part, parts : int
        Which of how many parts; the first one has the study's own settings too, as the design
        `NUMBER_AS_SET`.

    Returns
    -------
    DataFrame
        As of :func:`kneewear.studies.optimisation.designs.evaluate_designs`.
    """
    front = designs[designs["front"]].iloc[part::parts]
    if part == 0:
        own = {"generation": NUMBER_AS_SET, "design": NUMBER_AS_SET}
        front = pd.concat([pd.DataFrame([own]), front], ignore_index=True)
        front = front.reindex(columns=designs.columns)
    return evaluate_designs(study, knee, activities, front)


@dataclass(frozen=True)
class FrontTables:
    """Tables of a finished search.

    Parameters
    ----------
    front : DataFrame
        Designs of the front with their results in full, by the first objective; `feasible` and
        `dominated` as they are in full.
    chosen : DataFrame
        Designs that are shown and exported, by the name of their role in the column `chosen`.
    search_error : DataFrame
        Deviation of the search's results from those in full: quantity, designs, mean_percent,
        largest_percent (of the absolute values).
    convergence : DataFrame
        Per generation: designs with results, feasible ones, the best value of each objective so
        far, and the hypervolume of all designs so far as a part of the last one.
    """

    front: pd.DataFrame
    chosen: pd.DataFrame
    search_error: pd.DataFrame
    convergence: pd.DataFrame


def tabulate_front(
    study: OptimisationStudy, designs: pd.DataFrame, full: Sequence[pd.DataFrame]
) -> FrontTables:
    """Tables of the front from all designs (`find_front`) and its parts (`evaluate_front`).

    InputDataError if no design of the front has results in full that fulfil the constraints.
    """
    settings = study.optimisation
    designs = designs.assign(**{FAILURE: designs[FAILURE].fillna("")})
    every = pd.concat(full, ignore_index=True)
    every[FAILURE] = every[FAILURE].fillna("")
    own = every[every["design"] == NUMBER_AS_SET].assign(**values_as_set(study))
    front = every[every["design"] != NUMBER_AS_SET]
    front = front.sort_values([*settings.objectives, "design"], ignore_index=True)
    objectives = minimised(settings, front)
    known = Generation(np.empty((0, 0)), objectives, violations(settings, front))
    feasible = known.feasible
    if not feasible.any():
        raise InputDataError(
            "optimisation.search_grid",
            "no design of the front that fulfils the constraints when computed in full",
            "a search whose errors are small against the room that the constraints leave",
            "Use a finer search_grid, or relax the constraints.",
        )
    best = non_dominated(np.where(feasible[:, None], objectives, np.nan))
    front = front.assign(feasible=feasible, dominated=~best)
    return FrontTables(
        front=front,
        chosen=_choose(settings, own, front[best].reset_index(drop=True)),
        search_error=_search_error(settings, designs, front),
        convergence=_convergence(settings, designs),
    )


def _choose(settings: OptimisationSettings, own: pd.DataFrame, best: pd.DataFrame) -> pd.DataFrame:
    """Designs by their roles: the study's own, the best in each objective, and the knee point."""
    objectives = minimised(settings, best)
    extremes = [int(column.argmin()) for column in objectives.T]
    rows = extremes if len(extremes) == 1 else [*extremes, knee_point(objectives)]
    picked = best.iloc[rows].drop(columns=["feasible", "dominated"])
    chosen = pd.concat([own, picked], ignore_index=True)
    chosen.insert(0, "chosen", settings.chosen)
    return chosen


def shown_designs(
    settings: OptimisationSettings, front: pd.DataFrame, chosen: pd.DataFrame
) -> pd.DataFrame:
    """Designs in the view of a study: the chosen ones, and others spread along the front.

    Parameters
    ----------
    settings : OptimisationSettings
        Objectives and how many are `shown`; the chosen ones always are.
    front, chosen : DataFrame
        As of `FrontTables`.

    Returns
    -------
    DataFrame
        Columns of `chosen`, where further designs are named by their numbers (`design_17`), in the
        order of the first objective. Each is the one farthest from all before it, by objectives
        scaled to their ranges on the front.
    """
    best = front[~front["dominated"]].reset_index(drop=True)
    objectives = minimised(settings, best)
    extent = np.ptp(objectives, axis=0)
    scaled = objectives / np.where(extent > 0.0, extent, 1.0)
    taken = np.flatnonzero(best["design"].isin(chosen["design"]))
    further: list[int] = []
    for _ in range(min(settings.shown - len(chosen), len(best) - taken.size)):
        here = scaled[[*taken, *further]]
        away = np.linalg.norm(scaled[:, None] - here[None], axis=-1).min(axis=1)
        away[[*taken, *further]] = -1.0
        further.append(int(away.argmax()))
    others = best.iloc[sorted(further)]
    names = [f"design_{number}" for number in others["design"]]
    return pd.concat([chosen, others.assign(chosen=names)[list(chosen)]], ignore_index=True)


def _search_error(
    settings: OptimisationSettings, designs: pd.DataFrame, front: pd.DataFrame
) -> pd.DataFrame:
    """Deviation of the search's results from those in full, over the front."""
    both = front.merge(designs, on="design", suffixes=("", "_search"))
    rows = []
    for name in settings.quantities:
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


def _convergence(settings: OptimisationSettings, designs: pd.DataFrame) -> pd.DataFrame:
    """Progress of the search by generation."""
    objectives = minimised(settings, designs)
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
        found = designs[so_far]
        row = {
            "generation": int(number),
            "designs": int(here.sum()),
            "with_results": int((designs.loc[here, FAILURE] == "").sum()),
            "feasible": int((here & feasible).sum()),
        }
        for name, goal in settings.objectives.items():
            row[f"best_{name}"] = found[name].min() if goal == "minimise" else found[name].max()
        volume = hypervolume(scaled[so_far], reference) if so_far.any() else 0.0
        rows.append(row | {"hypervolume": volume})
    table = pd.DataFrame(rows)
    last = table["hypervolume"].iloc[-1]
    return table.assign(hypervolume=table["hypervolume"] / last if last > 0.0 else np.nan)


@dataclass(frozen=True)
class FullDesign:
    """One design in full: the values of its variables, its knee, cycles and damage."""

    values: Mapping[str, float]
    knee: KneeModel
    histories: Mapping[str, ContactHistory]
    damage: DamageMaps


def simulate_design(
    study: OptimisationStudy,
    nominal: KneeModel,
    activities: Mapping[str, Activity],
    chosen: pd.Series,
) -> FullDesign:
    """Simulate a design of `FrontTables.chosen` in full, as `evaluate_front` does.

    `nominal` is the knee of the study's settings, and of designs that do not change it.
    """
    own = chosen_study(study, chosen)
    knee = replace(nominal, coarse_grid=None) if own.implant == study.implant else exact_knee(own)
    cycles = {**activities, **built_in_activities(own)}
    histories = simulate_cycles(
        with_exact_distances(own),
        knee,
        {name: cycles[name] for name in activities},
        own.case_list(),
    )
    damage, _ = summarize_life(own, knee, histories)
    values = {name: float(chosen[name]) for name in study.optimisation.variables}
    return FullDesign(values, knee, histories, damage)


def chosen_study(study: OptimisationStudy, chosen: pd.Series) -> WearStudy:
    """Wear study of a design of `FrontTables.chosen`, under a name of its own."""
    values = chosen.copy()
    if values["chosen"] == AS_SET:
        values[list(study.optimisation.variables)] = np.nan
    own = apply_case(study, design_case(study, values))
    return own.model_copy(update={"study": f"{study.study}_{chosen['chosen']}"})
