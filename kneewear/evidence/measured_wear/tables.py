"""Predicted over measured wear of tests of bearings, and which wear laws the tests refute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import pandas as pd

from kneewear.analysis.declared import analysis
from kneewear.analysis.literature import published_rows
from kneewear.evidence.synthesis.hierarchy import check_intervals
from kneewear.study.analysis_settings import MeasuredOptions
from kneewear.study.study import Study

# Verdicts of a law in a test, and in all tests of a kind of contact.
AGREES = "agrees"
REFUTED = "refuted"
CALIBRATED = "calibrated"
SURVIVES = "survives"
UNTESTED = "not tested"
# The law whose wear factor is constant.
TRIVIAL = "archard"
# A law is refuted by a ratio of predicted and measured wear off one by more than so many standard
# deviations of its logarithm.
LIMIT = 2.0
# Quantities by which laws are judged.
WEAR = ("wear_rate", "mass_rate", "test_wear_factor")


@analysis(
    "measured",
    tables=(
        "measured_wear",
        "law_verdicts",
        "law_scores",
        "prior_sensitivity",
        "laboratory_influence",
        "interval_coverage",
    ),
)
def analyse_measured(
    results: pd.DataFrame, study: Study, options: MeasuredOptions
) -> dict[str, pd.DataFrame]:
    """Compare tests of bearings by every wear law with measurements.

    Tables `measured_wear` (one row a measurement and law: predicted and published value, their
    ratio, relative standard deviations of both, deviations of its logarithm, the verdict, and the
    ratio of a constant wear factor without any calibration by motion) and `law_verdicts` (one row
    a law and kind of contact), and those of
    :func:`kneewear.evidence.synthesis.hierarchy.check_intervals`. Measurements of tests that the
    study does not compute are left out.

    Notes
    -----
    With relative standard deviations m of the measurement and u of the prediction by its inputs,
    the deviations are |ln(predicted / published)| / sqrt(ln(1 + m)^2 + ln(1 + u)^2). Inputs do not
    count where the row calibrated a constant of the law.
    """
    values = results.set_index([options.test, options.law])
    measured = published_rows("kneewear.evidence.measured_wear", "measured_wear")
    known = set(results[options.test])
    laws = list(dict.fromkeys(results[options.law]))
    ratios = _factor_ratios(study)
    rows = []
    for record in measured.to_dict("records"):
        row = {str(name): value for name, value in record.items()}
        if row["test"] not in known or (row["over"] and row["over"] not in known):
            continue
        constant = (
            _value(values, row, TRIVIAL) / _of_ratio(row, ratios) if TRIVIAL in laws else np.nan
        )
        rows += [_compared(row, law, _value(values, row, law), constant) for law in laws]
    table = pd.DataFrame(rows)
    verdicts = {"measured_wear": table, "law_verdicts": _judge_laws(table)}
    return verdicts | check_intervals(table)


def _factor_ratios(study: Study) -> dict[str, float]:
    """Ratio of the wear factor of each test."""
    tests = cast("Any", study).wear_test.tests
    return {name: test.factor_ratio for name, test in tests.items()}


def _of_ratio(row: Mapping[str, Any], ratios: Mapping[str, float]) -> float:
    """Ratio of the wear factors in a compared value; 1 of others than wear."""
    if row["quantity"] not in WEAR:
        return 1.0
    return ratios[row["test"]] / (ratios[row["over"]] if row["over"] else 1.0)


def _value(values: pd.DataFrame, row: Mapping[str, Any], law: str) -> float:
    """Predicted value of a measurement by a law."""
    column = values[row["quantity"]].to_dict()
    found = float(column[row["test"], law])
    return found / float(column[row["over"], law]) if row["over"] else found


def _compared(
    row: Mapping[str, Any], law: str, predicted: float, constant: float
) -> dict[str, object]:
    published = float(row["published"])
    calibrated = law in str(row["calibrates"]).split()
    measured, inputs = float(row["sd"]) / published, 0.01 * float(row["inputs_percent"])
    spread = float(np.hypot(np.log1p(measured), 0.0 if calibrated else np.log1p(inputs)))
    with np.errstate(divide="ignore"):
        deviations = float(np.abs(np.log(predicted / published))) / spread
    if row["quantity"] not in WEAR:
        verdict = ""
    elif calibrated:
        verdict = CALIBRATED
    else:
        verdict = AGREES if deviations <= LIMIT else REFUTED
    return {
        "measurement": row["measurement"],
        "law": law,
        "contact": row["contact"],
        "quantity": row["quantity"],
        "published": published,
        "published_sd": float(row["sd"]),
        "predicted": predicted,
        "unit": row["unit"],
        "predicted_over_measured": predicted / published,
        "measured_percent": 100.0 * measured,
        "inputs_percent": float(row["inputs_percent"]),
        "deviations": deviations,
        "verdict": verdict,
        "constant_factor_over_measured": constant / published,
        "source": row["source"],
        "read": row["read"],
        "remark": row["remark"],
    }


def _judge_laws(table: pd.DataFrame) -> pd.DataFrame:
    """Verdict of each law for moving and for stationary contacts, by its tests."""
    rows = []
    for (law, contact), part in table[table["verdict"] != ""].groupby(
        ["law", "contact"], sort=False
    ):
        refuting = part[part["verdict"] == REFUTED]
        judged = part[part["verdict"] != CALIBRATED]
        worst = part.sort_values("deviations", kind="stable").iloc[-1]
        verdict = REFUTED if len(refuting) else SURVIVES if len(judged) else UNTESTED
        rows.append(
            {
                "law": law,
                "contact": contact,
                "verdict": verdict,
                "tests": len(judged),
                "refuting": len(refuting),
                "calibrated": len(part) - len(judged),
                "worst_test": worst["measurement"],
                "worst_predicted_over_measured": worst["predicted_over_measured"],
            }
        )
    return pd.DataFrame(rows)
