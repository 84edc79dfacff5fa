"""Searches: plans whose generations follow from the results of those before them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.base.cases import OUTPUTS
from kneewear.base.sides import BOTH
from kneewear.errors import InputDataError
from kneewear.geometry.grid import build_grid
from kneewear.geometry.knee import KneeModel
from kneewear.study.evolution import Generation, SearchProblem, propose_designs, survivors
from kneewear.study.plan_settings import LimitSettings, Search
from kneewear.study.plans import CASE
from kneewear.study.run import FAILURE
from kneewear.study.study import Study, WearStudy
from kneewear.study.wear import BORDER, column_name

Array = NDArray[np.float64]

# Columns of the plan of a search: generation and number of a design, and whether it is in full.
GENERATION = "generation"
DESIGN = "design"
IN_FULL = "in_full"
# Number of the design without changes.
BASELINE_NUMBER = -1


def search_plan(study: Study) -> Search:
    """Plan of a search; ValueError for other plans."""
    if not isinstance(study.cases, Search):
        raise ValueError(f"a study of plan {study.cases.plan}")
    return study.cases


def searched(study: WearStudy) -> WearStudy:
    """The study as its search computes it: equilibria on the elements of `search_grid`."""
    simulation = study.simulation.model_copy(update={"analysis": "quasi_static"})
    grid = search_plan(study).search_grid
    return study.model_copy(update={"simulation": simulation, "grid": grid})


def search_settings(study: WearStudy) -> dict[str, Any]:
    """Settings that decide the designs of a generation and their results, as `computed`.

    How many generations follow, and how many designs are shown, does not run them again.
    """
    settings = searched(study).computed()
    settings["cases"] |= {"generations": 1, "shown": 0}
    return settings


def with_grid(study: WearStudy, knee: KneeModel) -> KneeModel:
    """Knee with the elements of a study."""
    grid = build_grid(knee.implant, study.grid.rows, study.grid.columns)
    return replace(knee, grid=grid, coarse_grid=None)


def plan_designs(
    study: WearStudy, number: int | None, results: pd.DataFrame
) -> tuple[pd.DataFrame, WearStudy]:
    """Plan of a generation and the study as the search computes it; of the front, in full.

    `number` is that of the generation, None of the front; `results` are those of all generations
    before.
    """
    if number is None:
        return plan_front(study, results), study
    return plan_generation(study, number, results), searched(study)


def planned_cases(
    study: Any, tables: Sequence[pd.DataFrame], generation: int | None, knee: Any
) -> tuple[pd.DataFrame, Any]:
    """Cases of a plan, and the knee (None without one) that they are computed on.

    `tables` holds the table of the plan, or of a search the results of all generations before
    number `generation`, None for the front; settings of a generation are `search_settings`.
    """
    if study.cases.plan != "search":
        return tables[0], knee
    results = pd.concat(tables) if tables else pd.DataFrame()
    cases, _ = plan_designs(study, generation, results)
    return cases, with_grid(study, knee)


def plan_generation(study: Study, number: int, results: pd.DataFrame) -> pd.DataFrame:
    """Designs of a generation of a search.

    Parameters
    ----------
    study : Study
        Settings.
    number : int
        Number of the generation, from 0.
    results : DataFrame
        Results of all generations before it, as of :func:`kneewear.study.run.run_cases`, in any
        order; empty for the first one.

    Returns
    -------
    DataFrame
        Columns case, generation, design (its number over all generations), in_full (False) and
        those of the variables.
    """
    done = generations(study, results) if len(results) else []
    designs = propose_designs(search_problem(study), done)
    scaled = _to_scale(study, designs)
    table = pd.DataFrame(scaled, columns=list(study.variables))
    numbers = number * search_plan(study).population + np.arange(len(table))
    return _labelled(table, number, numbers, in_full=False)


def plan_front(study: Study, results: pd.DataFrame) -> pd.DataFrame:
    """Designs of the front of a search, to be computed in full, after the one without changes.

    Parameters and columns are those of `plan_generation`, after all generations. InputDataError if
    no design fulfils the constraints.
    """
    designs = mark_front(study, results)
    front = designs[designs["front"]]
    names = list(study.variables)
    own = pd.DataFrame([dict.fromkeys(names, np.nan)], dtype=float)
    table = pd.concat([own, front[names]], ignore_index=True)
    return _labelled(
        table,
        [BASELINE_NUMBER, *front[GENERATION]],
        [BASELINE_NUMBER, *front[DESIGN]],
        in_full=True,
    )


def _labelled(table: pd.DataFrame, generation: Any, design: Any, in_full: bool) -> pd.DataFrame:
    """Variables of designs after the columns that name them."""
    table.insert(0, IN_FULL, in_full)
    table.insert(0, DESIGN, design)
    table.insert(0, GENERATION, generation)
    names = [f"design {number}" if number >= 0 else "as set" for number in table[DESIGN]]
    table.insert(0, CASE, names)
    return table


def design_table(study: Study, results: pd.DataFrame, in_full: bool) -> pd.DataFrame:
    """Results of both sides together of the designs that are computed in full, or of the others.

    Columns generation, design, those of the variables, each quantity of
    :data:`kneewear.base.cases.OUTPUTS`, the stiffnesses that objectives and constraints name,
    the largest `border_pressure`, MPa, and `failure`; in the order of the designs.
    """
    rows = results[results[IN_FULL].astype(bool) == in_full]
    both = rows.rename(columns={column_name(BOTH, name): name for name in OUTPUTS})
    columns = [
        GENERATION,
        DESIGN,
        *study.variables,
        *OUTPUTS,
        *search_plan(study).stiffnesses,
        BORDER,
        FAILURE,
    ]
    table = both[columns].sort_values(DESIGN, ignore_index=True)
    return table.assign(**{FAILURE: table[FAILURE].fillna("")})


def mark_front(study: Study, results: pd.DataFrame) -> pd.DataFrame:
    """All designs of a search (`tables/designs.csv`).

    Parameters
    ----------
    study : Study
        Settings.
    results : DataFrame
        Results of all generations, as of :func:`kneewear.study.run.run_cases`, in any order.

    Returns
    -------
    DataFrame
        `design_table` of the search; `feasible`, whether a design has results that fulfil all
        constraints; `front`, whether it is one of the best of the last population.

    Raises
    ------
    InputDataError
        If no design fulfils the constraints.
    """
    designs = design_table(study, results, in_full=False)
    done = generations(study, results)
    feasible = np.concatenate([generation.feasible for generation in done])
    if not feasible.any():
        worst = violations(search_plan(study), designs).max(axis=1)
        least = int(np.nanargmin(worst))
        raise InputDataError(
            "cases.constraints",
            f"none of {len(designs)} designs that fulfils them; design {least} violates one by "
            f"{100.0 * worst[least]:.3g} %, at least",
            "constraints that some design within the bounds fulfils",
            "Relax them, or widen the bounds of the variables.",
        )
    front = np.full(len(designs), False)
    front[survivors(search_problem(study), done)] = True
    return designs.assign(feasible=feasible, front=front)


def search_problem(study: Study) -> SearchProblem:
    """The study as its search sees it; variables of a reciprocal scale as their reciprocals."""
    plan = search_plan(study)
    bounds = np.array(
        [np.sort(variable.to_scale(variable.bounds)) for variable in study.variables.values()]
    )
    limits = [len(_violations(limit, np.zeros(1))) for limit in plan.constraints.values()]
    return SearchProblem(
        low=bounds[:, 0],
        high=bounds[:, 1],
        objectives=len(plan.objectives),
        constraints=sum(limits),
        population=plan.population,
        seed=study.seed,
    )


def _to_scale(study: Study, designs: Array) -> Array:
    """Values of variables from those of the search, or the other way round."""
    columns = zip(study.variables.values(), designs.T, strict=True)
    return np.stack([variable.to_scale(values) for variable, values in columns], axis=-1)


def generations(study: Study, results: pd.DataFrame) -> list[Generation]:
    """Designs with results by generation, in order, as the search receives them.

    InputDataError if no design of the first generation has results.
    """
    plan, designs = search_plan(study), design_table(study, results, in_full=False)
    done = [
        Generation(
            designs=_to_scale(study, part[list(study.variables)].to_numpy(float)),
            objectives=minimised(plan, part),
            violations=violations(plan, part),
        )
        for _, part in designs.groupby(GENERATION)
    ]
    if not done[0].known.any():
        raise InputDataError(
            "variables",
            f"no design of the first {len(done[0].designs)} with results; the first: "
            f"{designs[FAILURE].iloc[0]}",
            "bounds within which most designs can be built and loaded",
            "Narrow the bounds around a design that works.",
        )
    return done


def minimised(plan: Search, designs: pd.DataFrame) -> Array:
    """Objectives of some designs, shape (design, objective), those to be maximised negated."""
    signs = [1.0 if goal == "minimise" else -1.0 for goal in plan.objectives.values()]
    return np.asarray(designs[list(plan.objectives)].to_numpy(float) * signs)


def violations(plan: Search, designs: pd.DataFrame) -> Array:
    """Violated parts of the limits, shape (design, constraint); negative where there is room."""
    columns = [
        column
        for name, limit in plan.constraints.items()
        for column in _violations(limit, designs[name].to_numpy(float))
    ]
    return np.column_stack(columns) if columns else np.empty((len(designs), 0))


def _violations(limit: LimitSettings, values: Array) -> list[Array]:
    """Violation of each end of a limit."""
    ends = ((limit.at_least, -1.0), (limit.at_most, 1.0))
    return [sign * (values - end) / (abs(end) or 1.0) for end, sign in ends if end is not None]
