"""Pressures of one material minus another, and the published difference (Bei 2003, 3.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from kneewear.analysis.contact_tables import LOAD, contact_table
from kneewear.analysis.declared import analysis
from kneewear.analysis.distributions import plan_columns
from kneewear.base.sides import SIDES
from kneewear.evidence.published.values import published_table
from kneewear.study.analysis_settings import MaterialsOptions
from kneewear.study.plans import CASE
from kneewear.study.study import Study

QUANTITIES = ("max_pressure", "avg_pressure")
COLUMNS = [
    "quantity",
    "material",
    "reference",
    "load_n",
    "cases",
    "mean_mpa",
    "sd_mpa",
    "rms_mpa",
    "cases_below",
]
PUBLISHED = [
    "published_mean_mpa",
    "published_sd_least_mpa",
    "published_sd_greatest_mpa",
    "measured_least_mpa",
    "measured_greatest_mpa",
]


@analysis("materials", tables=("material_comparison",))
def analyse_materials(
    results: pd.DataFrame, study: Study, options: MaterialsOptions
) -> dict[str, pd.DataFrame]:
    """Pressures of each material minus those of the first one: table `material_comparison`."""
    contact = contact_table(results, study)
    keys = [
        name for name in plan_columns(results, study) if name not in (CASE, options.between, LOAD)
    ]
    published = study.report.compare_with_published
    table = compare_materials(contact, options.between, keys, published=published)
    return {"material_comparison": table}


def compare_materials(
    contact: pd.DataFrame, between: str, keys: Sequence[str], *, published: bool
) -> pd.DataFrame:
    """Differences of each material's pressures from those of the first one.

    Parameters
    ----------
    contact : DataFrame
        Tidy table of contact, as of :func:`kneewear.analysis.contact_tables.contact_table`.
    between : str
        Column of the materials.
    keys : sequence of str
        Columns that are equal in cases that are compared.
    published : bool
        Whether to add the published difference to those over all loads.

    Returns
    -------
    DataFrame
        For each quantity and material a row over all cases (load_n empty) and one for each load:
        mean, sample standard deviation and root mean square of the differences, MPa, and the number
        of cases in which the material's pressure is the lower one. Both sides of a case are
        averaged first, as the source did with its measurements. Empty, with its header, when there
        is one material.

    Notes
    -----
    Table 3-1 of Bei (2003) lists errors of the linear and of the nonlinear model against
    measurements that are not printed. The measurements drop out of the difference of two mean
    errors. Of the standard deviation of the differences only limits follow: the difference and the
    sum of the two standard deviations. `measured_least_mpa` and `measured_greatest_mpa` say where
    the measurements lay on average, counted from the linear model's pressures: peaks with averaging
    of neighbouring sensels below them and those without above.
    """
    loaded = contact[contact["side"].isin(SIDES) & contact["quantity"].isin(QUANTITIES)]
    values = loaded.groupby(["quantity", between, *keys, "load_n"])["value"].mean()
    materials = list(dict.fromkeys(contact[between]))
    rows = [
        {"quantity": quantity, "material": material, "reference": materials[0], "load_n": load}
        | _spread(differences)
        | (_published(quantity) if published and np.isnan(load) else {})
        for quantity in QUANTITIES
        for material in materials[1:]
        for load, differences in _by_load(
            values[quantity, material] - values[quantity, materials[0]]
        )
    ]
    return pd.DataFrame(rows, columns=COLUMNS + (PUBLISHED if published else []))


def _by_load(differences: pd.Series) -> Iterator[tuple[float, pd.Series]]:
    """Yield all differences, under no load's name, then those of each load."""
    yield np.nan, differences
    loads = differences.index.get_level_values("load_n")
    for load in sorted(set(loads)):
        yield load, differences[loads == load]


def _spread(differences: pd.Series) -> dict[str, float]:
    """Mean, spread and sign of differences."""
    return {
        "cases": len(differences),
        "mean_mpa": float(differences.mean()),
        "sd_mpa": float(differences.std()),
        "rms_mpa": float(np.sqrt((differences**2).mean())),
        "cases_below": int((differences < 0.0).sum()),
    }


def _published(quantity: str) -> dict[str, float]:
    """Mean difference nonlinear - linear of Table 3-1, and limits of its standard deviation."""
    errors = published_table("table_3_1_errors")
    errors = errors[errors["quantity"] == quantity]
    mean = errors[errors["statistic"] == "mean"]
    deviation = errors[errors["statistic"] == "SD"]
    apart = (deviation["nonlinear_mpa"] - deviation["linear_mpa"]).abs()
    joined = deviation["nonlinear_mpa"] + deviation["linear_mpa"]
    return {
        "published_mean_mpa": float((mean["nonlinear_mpa"] - mean["linear_mpa"]).mean()),
        "published_sd_least_mpa": float(apart.max()),
        "published_sd_greatest_mpa": float(joined.min()),
        "measured_least_mpa": float(-mean["linear_mpa"].max()),
        "measured_greatest_mpa": float(-mean["linear_mpa"].min()),
    }
