"""What the page says of the regression's models."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from kneewear.regression.models import ENOUGH, PLANE, POWER_LAW
from kneewear.report.names import quantity_name, unit_name
from kneewear.report.sections import Table, make_table, shown


def model_sentences(models: pd.DataFrame) -> Iterator[str]:
    """Say where a plane is enough and what does better.

    Parameters
    ----------
    models : DataFrame
        Table of :func:`kneewear.regression.models.compare_models`, not empty.
    """
    planes = models[models["model"] == PLANE]
    short = planes[~planes["plane_is_enough"].astype(bool)]
    yield (
        f"Left out of the fit and predicted by the plane, cases err by "
        f"{planes['leave_one_out_percent'].min():.1f} to "
        f"{planes['leave_one_out_percent'].max():.1f} % of the mean (root mean square); within "
        f"{100 * ENOUGH:g} % a plane is taken to be enough, which it is for "
        f"{len(planes) - len(short)} of {len(planes)} results."
    )
    power = models[models["model"] == POWER_LAW]
    if not power.empty:
        yield (
            "The power law factor × thickness^p × mass^q has no more coefficients, cannot turn "
            "round between the cases, and errs by "
            f"{power['leave_one_out_percent'].min():.1f} to "
            f"{power['leave_one_out_percent'].max():.1f} %. Neither may be used beyond the "
            "simulated cases."
        )
    tested = models[models["p_value"].notna()]
    curved = tested.groupby("model", sort=False)["p_value"].agg(lambda p: int((p < 0.05).sum()))
    if not curved.empty:
        of_each = tested.groupby("model")["p_value"].size().max()
        yield (
            "F tests of what further terms add to the plane (p below 0.05): "
            + ", ".join(f"{name} in {count} of {of_each}" for name, count in curved.items())
            + ". Residuals of a computation are no noise, so that this tells systematic "
            "curvature, not chance."
        )


def model_table(models: pd.DataFrame) -> Table:
    """Leave-one-out error of every model, and the power law.

    Parameters
    ----------
    models : DataFrame
        Table of :func:`kneewear.regression.models.compare_models`.

    Returns
    -------
    Table
        One row a life, side and quantity.
    """
    keys = [*(["life"] if "life" in models else []), "quantity", "side"]
    names = list(dict.fromkeys(models["model"]))
    rows = []
    for _, own in models.groupby(keys, sort=False):
        by_model = own.set_index("model")
        first = own.iloc[0]
        rows.append(
            (
                *([first["life"]] if "life" in models else []),
                quantity_name(first["quantity"]),
                first["side"],
                *(shown(by_model["leave_one_out_percent"].get(name), 2) for name in names),
                bool(first["plane_is_enough"]),
                *(
                    shown(by_model[name].get(POWER_LAW, float("nan")), 3)
                    for name in ("factor", "thickness_exponent", "mass_exponent")
                ),
                unit_name(first["unit"]),
            )
        )
    head = [
        *(["Life"] if "life" in models else []), "Quantity", "Side",
        *(f"{name.capitalize()} (%)" for name in names), "Plane is enough",
        "Power law: factor", "p of thickness (mm)", "q of mass (kg)", "Unit",
    ]  # fmt: skip
    return make_table(
        "Error of cases left out of the fit, per cent of the mean, by model", head, rows
    )


def point_table(points: pd.DataFrame) -> Table:
    """Every case beside what the plane makes of it.

    Parameters
    ----------
    points : DataFrame
        Table of :func:`kneewear.regression.models.predict_cases`.
    """
    own = points[points["model"] == PLANE]
    columns = {
        "thickness_mm": "Thickness (mm)",
        "body_mass_kg": "Body mass (kg)",
        "side": "Side",
        "quantity": "Quantity",
        "value": "Computed",
        "fitted": "Plane",
        "leave_one_out_residual": "Error when left out",
        "confidence_low95": "Mean from",
        "confidence_high95": "to",
        "prediction_low95": "A case from",
        "prediction_high95": "to",
    }
    life = {"life": "Life"} if "life" in points else {}
    chosen = own[[*life, *columns]].assign(quantity=own["quantity"].map(quantity_name))
    return make_table(
        "Cases beside the plane, with 95 % confidence and prediction limits",
        [*life.values(), *columns.values()],
        chosen.to_numpy(dtype=object),
    )
