"""Results of designs: one row each, and what the search sees of them."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.errors import InputDataError, KneewearError
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.knee import KneeModel
from kneewear.settings.cases import OUTPUTS, Case, setting_locations
from kneewear.settings.factors import Factor, changed_case, changed_settings
from kneewear.settings.files import value_at
from kneewear.settings.optimisation import (
    STIFFNESS,
    LimitSettings,
    OptimisationSettings,
    OptimisationStudy,
)
from kneewear.settings.study import apply_case
from kneewear.sides import BOTH
from kneewear.studies.cases import BORDER, FAILURE, CaseRunner, column_name, join_sides
from kneewear.studies.designs.bench import Bench, coulomb
from kneewear.studies.designs.laxity import drive_loops, summarise_loops
from kneewear.studies.optimisation.search import Generation, Problem, propose_designs

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)

# Columns that identify a design.
LABELS = ("generation", "design")


def search_problem(study: OptimisationStudy) -> Problem:
    """The study as its search sees it."""
    settings = study.optimisation
    bounds = [variable.bounds for variable in settings.variables.values()]
    return Problem(
        low=np.array([low for low, _ in bounds]),
        high=np.array([high for _, high in bounds]),
        objectives=len(settings.objectives),
        constraints=sum(
            len(_violations(limit, np.zeros(1))) for limit in settings.constraints.values()
        ),
        population=settings.population,
        seed=study.seed,
    )


def generations(settings: OptimisationSettings, designs: pd.DataFrame) -> list[Generation]:
    """Evaluated designs by generation, in order, as the search receives them.

    InputDataError if no design of the first generation has results.
    """
    found = []
    for _, part in designs.sort_values("design").groupby("generation"):
        found.append(
            Generation(
                designs=part[list(settings.variables)].to_numpy(float),
                objectives=minimised(settings, part),
                violations=violations(settings, part),
            )
        )
    if found and not found[0].known.any():
        first = designs.sort_values("design").iloc[0]
        raise InputDataError(
            "optimisation.variables",
            f"no design of the first {len(found[0].designs)} with results; the first: "
            f"{first[FAILURE]}",
            "bounds within which most designs can be built and loaded",
            "Narrow the bounds around a design that works.",
        )
    return found


def minimised(settings: OptimisationSettings, designs: pd.DataFrame) -> Array:
    """Objectives of some designs, shape (design, objective), those to be maximised negated."""
    signs = [1.0 if goal == "minimise" else -1.0 for goal in settings.objectives.values()]
    return np.asarray(designs[list(settings.objectives)].to_numpy(float) * signs)


def violations(settings: OptimisationSettings, designs: pd.DataFrame) -> Array:
    """Violated parts of the limits, shape (design, constraint); negative where there is room."""
    found = [
        column
        for name, limit in settings.constraints.items()
        for column in _violations(limit, designs[name].to_numpy(float))
    ]
    return np.column_stack(found) if found else np.empty((len(designs), 0))


def _violations(limit: LimitSettings, values: Array) -> list[Array]:
    """Violation of each end of a limit."""
    ends = ((limit.at_least, -1.0), (limit.at_most, 1.0))
    return [sign * (values - end) / (abs(end) or 1.0) for end, sign in ends if end is not None]


def evaluate_generation(
    study: OptimisationStudy,
    knee: KneeModel,
    activities: Mapping[str, Activity],
    number: int,
    batch: tuple[int, int],
    earlier: Sequence[pd.DataFrame],
) -> pd.DataFrame:
    """Evaluate a part of one generation of the search.

    Parameters
    ----------
    study : OptimisationStudy
        Settings.
    knee : KneeModel
        Knee of the study's settings.
    activities : mapping of name to Activity
        Cycles of the study's settings.
    number : int
        Number of the generation, from 0.
    batch : tuple of int
        First design of the generation and the one after the last one that are evaluated.
    earlier : sequence of DataFrame
        Tables of all parts of all generations before it, in any order.

    Returns
    -------
    DataFrame
        As of `evaluate_designs`.
    """
    done = generations(study.optimisation, pd.concat(earlier)) if earlier else []
    proposed = propose_designs(search_problem(study), done)
    designs = pd.DataFrame(proposed, columns=list(study.optimisation.variables))
    designs.insert(0, "design", number * study.optimisation.population + np.arange(len(designs)))
    designs.insert(0, "generation", number)
    return evaluate_designs(study.searched(), knee, activities, designs[slice(*batch)])


def evaluate_designs(
    study: OptimisationStudy,
    knee: KneeModel,
    activities: Mapping[str, Activity],
    designs: pd.DataFrame,
) -> pd.DataFrame:
    """Results of some designs, on the study's elements and by its analysis.

    Parameters
    ----------
    study, knee, activities
        As of `evaluate_generation`; the knee's elements are replaced by those of the study.
    designs : DataFrame
        Columns generation, design and those of the variables; a design with NaN as a variable has
        the study's own value.

    Returns
    -------
    DataFrame
        The same columns; then each quantity of :data:`kneewear.settings.cases.OUTPUTS` of
        both sides, the stiffnesses that objectives and constraints name, the largest
        `border_pressure` (MPa, above zero where contact is cut off at the end of the elements) and
        the reason of a `failure`, empty where there is none.

    Notes
    -----
    A design that cannot be built, or has no equilibrium, is reported with its reason, and the
    search continues without its results. Distances are exact.
    """
    settings = study.optimisation
    own = replace(
        knee, grid=build_grid(knee.implant, study.grid.rows, study.grid.columns), coarse_grid=None
    )
    runner = CaseRunner(study, own, activities, exact=True)
    wanted = [name for name in settings.quantities if name in STIFFNESS]
    rows = []
    for _, row in designs.iterrows():
        labels: dict[str, float] = {name: int(row[name]) for name in LABELS}
        labels |= {name: float(row[name]) for name in settings.variables}
        try:
            values = _evaluate(study, runner, design_case(study, row), wanted)
        # Formulas refuse impossible shapes by ValueError.
        except (KneewearError, ValueError) as error:
            logger.warning("design %d has no results: %s", labels["design"], error)
            rows.append({**labels, FAILURE: str(error)})
            continue
        rows.append({**labels, **values, FAILURE: ""})
    columns = [*LABELS, *settings.variables, *OUTPUTS, *wanted, BORDER, FAILURE]
    return pd.DataFrame(rows, columns=columns)


def _evaluate(
    study: OptimisationStudy, runner: CaseRunner, case: Case, wanted: Sequence[str]
) -> dict[str, float]:
    """Results of one design."""
    _, values = runner.evaluate(case)
    joined = join_sides(pd.DataFrame([values])).iloc[0]
    found = {name: float(joined[column_name(BOTH, name)]) for name in OUTPUTS}
    return found | stiffnesses(study, case, wanted) | {BORDER: values[BORDER]}


def stiffnesses(study: OptimisationStudy, case: Case, wanted: Sequence[str]) -> dict[str, float]:
    """Mean stiffness of a design over the flexions of some laxity tests, at the lowest friction.

    By the names of :data:`kneewear.settings.optimisation.STIFFNESS`, N/mm or N m/deg.
    ConvergenceError if a test has no neutral position.
    """
    laxity = study.optimisation.laxity
    if not wanted or laxity is None:
        return {}
    own = apply_case(study, case)
    friction = min(laxity.friction)
    tests = {STIFFNESS[name] for name in wanted}
    only = laxity.model_copy(update=dict.fromkeys(laxity.tests.keys() - tests))
    implant, _ = build_implant(own.implant)
    bench = Bench(implant, own.grid, own.table, own.simulation, coulomb(friction))
    table = summarise_loops(drive_loops(bench, only, friction, case.name), only)
    mean = table.groupby("test")["stiffness"].mean()
    return {name: float(mean[STIFFNESS[name]]) for name in wanted}


def design_case(study: OptimisationStudy, values: Mapping[str, float] | pd.Series) -> Case:
    """Case of a design: the settings that its variables change; NaN changes none.

    `values` are those of the variables by name; the number of the `design` names the case.
    """
    settings = study.model_dump(mode="json")
    changes = [
        variable.at(float(values[name]))
        for name, variable in study.optimisation.variables.items()
        if np.isfinite(values[name])
    ]
    name = f"design {int(values['design'])}"
    return changed_case(study, name, changed_settings(settings, changes))


def values_as_set(study: OptimisationStudy) -> dict[str, float]:
    """Values of the variables that leave the study's settings as they are.

    NaN for a variable whose settings differ from each other.
    """
    settings = study.model_dump(mode="json")
    return {
        name: _value_as_set(settings, variable)
        for name, variable in study.optimisation.variables.items()
    }


def _value_as_set(settings: dict[str, object], variable: Factor) -> float:
    """Value of one variable."""
    if variable.change == "add" or (variable.change == "multiply" and variable.of is None):
        return 0.0 if variable.change == "add" else 1.0
    paths = variable.settings
    at = [location for path in paths for location in setting_locations(settings, path)]
    values = {float(value_at(settings, location)) for location in at}
    if len(values) > 1:
        return float("nan")
    base = 1.0
    if variable.of is not None:
        base = float(value_at(settings, next(setting_locations(settings, variable.of))))
    return values.pop() / base
