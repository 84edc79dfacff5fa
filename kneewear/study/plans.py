"""Tables of cases: the value of every variable in every case of a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from kneewear.base.files import Location
from kneewear.base.variables import Variable, is_unchanged, locations_of
from kneewear.errors import InputDataError
from kneewear.study.study import Study

Array = NDArray[np.float64]

CASE = "case"
# Columns of plans of samples: number of the balanced group; nominal (nothing changed), draw, low,
# high, A, B or mixed; and the variable that is low, high or mixed.
BLOCK = "block"
ROLE = "role"
VARIED = "variable"
NOMINAL = "nominal"

Row = dict[str, Any]

# Largest correlation of a variable between the halves of a variance-based plan: total indices are
# variances of their differences.
MAX_ALIKE = 0.5


def plan_cases(study: Study, rows: Sequence[Mapping[str, Any]] = ()) -> pd.DataFrame:
    """Value of every variable in every case of a study.

    Parameters
    ----------
    study : Study
        Settings with variables and a plan.
    rows : sequence of mapping
        Rows of the file of a plan `table`, by the names of its columns.

    Returns
    -------
    DataFrame
        One row per case: its unique name `case`; for samples `block`, `role` and `variable`; the
        columns of the file that are no variables; and a column for each variable, NaN where it
        leaves the settings as they are.

    Notes
    -----
    Random numbers follow from the seed of the study. Each sample of `monte_carlo` draws from a
    generator of its own, so it depends on no other sample.
    """
    makers: dict[str, Callable[[Study], Iterator[Row]]] = {
        "factorial": _combinations,
        "latin_hypercube": _points,
        "sobol": _points,
        "monte_carlo": _draws,
        "one_at_a_time": _steps,
        "variance_based": _blocks,
    }
    plan = study.cases.plan
    made = _table_rows(study, rows) if plan == "table" else makers[plan](study)
    planned = list(made)
    table = pd.DataFrame(planned)
    if CASE not in table:
        table.insert(0, CASE, _case_names(study, planned))
    return table


def _case_names(study: Study, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Names of cases: by their values in a factorial plan, numbers in others."""
    if study.cases.plan == "factorial":
        names = [study.case_label(variable_values(study, row)) for row in rows]
        if all(names):
            return names
    return [f"c{number:05d}" for number in range(len(rows))]


def variable_values(study: Study, row: Mapping[Any, Any]) -> dict[str, Any]:
    """Values of the variables in a row of a plan, without those that change nothing."""
    return {
        name: row[name] for name in study.variables if name in row and not is_unchanged(row[name])
    }


def _combinations(study: Study) -> Iterator[Row]:
    """All combinations of the levels; the last variable varies fastest."""
    levels = [variable.level_values for variable in study.variables.values()]
    for values in product(*levels):
        yield dict(zip(study.variables, values, strict=True))


def _table_rows(study: Study, rows: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    """Rows of a file, each with all combinations of the variables that it has no column for."""
    columns = set(rows[0]) if rows else set()
    further = {name: one for name, one in study.variables.items() if name not in columns}
    for values in product(*(variable.level_values for variable in further.values())):
        for row in rows:
            yield {**row, **dict(zip(further, values, strict=True))}


def _points(study: Study) -> Iterator[Row]:
    """Points of a space-filling plan."""
    count, sides = study.cases.case_count(study.variables) or 0, len(study.variables)
    if study.cases.plan == "sobol":
        points = scipy.stats.qmc.Sobol(sides, scramble=True, rng=study.seed).random(count)
    else:
        points = scipy.stats.qmc.LatinHypercube(sides, rng=study.seed).random(count)
    columns = {
        name: variable.quantiles(points[:, number])
        for number, (name, variable) in enumerate(study.variables.items())
    }
    for number in range(count):
        yield {name: values[number] for name, values in columns.items()}


def _sample(role: str, block: int = 0, varied: str = "") -> Row:
    return {BLOCK: block, ROLE: role, VARIED: varied}


def _unchanged(study: Study) -> Row:
    """Values that leave the settings as they are."""
    return {
        name: np.nan if variable.is_numeric else "" for name, variable in study.variables.items()
    }


def _values_at(study: Study, probabilities: Array) -> Row:
    """Values of all variables at a point of the unit cube."""
    return {
        name: variable.quantiles(probabilities[number]).item()
        for number, (name, variable) in enumerate(study.variables.items())
    }


def _draws(study: Study) -> Iterator[Row]:
    yield _sample(NOMINAL) | _unchanged(study)
    for number in range(1, study.cases.case_count(study.variables) or 1):
        point = np.random.default_rng([study.seed, number]).random(len(study.variables))
        yield _sample("draw") | _values_at(study, point)


def _steps(study: Study) -> Iterator[Row]:
    yield _sample(NOMINAL) | _unchanged(study)
    for name, variable in study.variables.items():
        for role, sign in (("low", -1.0), ("high", 1.0)):
            value = variable.mean + sign * variable.standard_deviation
            yield _sample(role, varied=name) | _unchanged(study) | {name: value}


def _blocks(study: Study) -> Iterator[Row]:
    from SALib.sample import sobol  # noqa: PLC0415 - slow to load, and only needed here

    names = list(study.variables)
    problem = {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}
    samples = getattr(study.cases, "samples", 0)
    points = sobol.sample(problem, samples, calc_second_order=False, seed=study.seed)
    alike = _correlation_of_halves(points, len(names))
    if alike > MAX_ALIKE:
        raise InputDataError(
            "cases.samples",
            f"{samples} blocks, whose halves correlate by {alike:.2f}",
            f"halves that are independent of each other, a correlation of at most {MAX_ALIKE:g}",
            f"Take {2 * samples} or more.",
        )
    roles = [("A", ""), *(("mixed", name) for name in names), ("B", "")]
    yield _sample(NOMINAL) | _unchanged(study)
    for number, point in enumerate(points):
        block, member = divmod(number, len(roles))
        role, name = roles[member]
        yield _sample(role, block, name) | _values_at(study, point)


def _correlation_of_halves(points: Array, names: int) -> float:
    """Largest correlation of a variable between both halves of the blocks, without a sign."""
    blocks = points.reshape(-1, names + 2, names)
    first, second = blocks[:, 0], blocks[:, -1]
    return max(abs(float(np.corrcoef(first[:, n], second[:, n])[0, 1])) for n in range(names))


def stratify_samples(study: Study, samples: int) -> pd.DataFrame:
    """Plan in which few samples cover the range of every variable evenly.

    Parameters
    ----------
    study : Study
        Settings with variables.
    samples : int
        Number of samples.

    Returns
    -------
    DataFrame
        As of `plan_cases`, the case without changes first.

    Notes
    -----
    Latin hypercube (McKay, Beckman and Conover 1979, Technometrics 21, 239-245; from memory): each
    variable has one sample in each of n equally probable parts of its range. Parts of a variable
    depend on its name, the seed and n only (of a variable of the implant on the implant's name
    too), so studies that share a variable share its samples, also where other variables differ.
    """
    columns = []
    for name, variable in study.variables.items():
        of_implant = any(path.startswith("implant.") for path in variable.settings)
        text = name + study.implant.name if of_implant else name
        draw = np.random.default_rng([study.seed, samples, *text.encode()])
        columns.append((draw.permutation(samples) + draw.random(samples)) / samples)
    rows = [_sample(NOMINAL) | _unchanged(study)]
    rows += [_sample("draw") | _values_at(study, point) for point in np.stack(columns, axis=-1)]
    table = pd.DataFrame(rows)
    table.insert(0, CASE, [f"c{number:05d}" for number in range(len(table))])
    return table


def applies(settings: Mapping[str, Any], variable: Variable) -> bool:
    """True if a study, as plain builtins, has all settings of a variable."""
    try:
        places: list[Location] = [
            at for path in variable.settings for at in locations_of(settings, path)
        ]
    except KeyError:
        return False
    parametric = settings["implant"]["source"] == "parametric"
    return all(at[0] != "implant" or parametric for at in places)
