"""Key results and findings as records."""

from __future__ import annotations

import logging
import re

import pandas as pd
import pytest

from kneewear.base.findings import Reported
from kneewear.base.sides import BOTH
from kneewear.errors import NOT_COMPUTED, Finding, InputDataError
from kneewear.io.documents import save_json
from kneewear.report.derived import Tables
from kneewear.report.specification import KeyResultPart
from kneewear.report.summary import KeyResult, key_results
from kneewear.runs.finished import outcome
from kneewear.runs.joblog import job_log
from kneewear.runs.provenance import reported_findings
from kneewear.wear.posterior import ALL_LAWS
from tests.report.pages import written


def test_key_results_of_wear_are_those_of_the_centre_case(whole):
    page = written("wear", whole.settings, whole.tables)
    centre = page.tables["centre"]
    own = centre[centre["quantity"] == "wear_volume"]["value"].sum()
    density = whole.settings["wear"]["density_mg_per_mm3"]
    assert page.results["wear_volume",].value == pytest.approx(own)
    assert page.results["wear_mass",].value == pytest.approx(density * own)
    for side in ("medial", "lateral"):
        row = centre[(centre["quantity"] == "damage_depth") & (centre["side"] == side)]
        assert page.results["damage_depth", side].value == row["value"].item()


def test_pressure_is_judged_by_the_limit_of_the_settings(whole):
    largest = written("wear", whole.settings, whole.tables).results["max_pressure",].value
    for limit, outside in ((largest + 1.0, False), (largest - 1.0, True)):
        report = whole.settings["report"] | {"pressure_limit_mpa": limit}
        page = written("wear", whole.settings | {"report": report}, whole.tables)
        result = page.results["max_pressure",]
        assert (result.limit, result.outside) == (limit, outside)


def test_published_error_stands_beside_the_null_model(whole):
    page = written("wear", whole.settings, whole.tables)
    comparison = whole.tables["comparison"]
    rows = comparison[~comparison["calibration"].astype(bool)]
    result = page.results["published_error",]
    assert result.value == pytest.approx(100.0 * rows["relative_error"].abs().median())
    assert result.null_model == pytest.approx(100.0 * rows["null_error"].abs().median())


def test_interval_of_uncertain_constants_is_that_of_the_first_life(single):
    intervals = pd.DataFrame(
        [
            (side, quantity, 1.0, 2.0, "2.5 to 97.5")
            for side in (BOTH, "medial", "lateral")
            for quantity in ("wear_volume", "damage_depth", "max_wear_depth")
        ],
        columns=["side", "quantity", "lower", "upper", "percentiles"],
    )
    page = written("wear", single.settings, single.tables | {"constant_intervals": intervals})
    lives = list(dict.fromkeys(single.tables["cases"]["life"]))
    first, second = (page.results["max_wear_depth", life] for life in lives)
    assert (first.low, first.high) == (1.0, 2.0)
    assert (second.low, second.meaning) == (None, "")
    ranges = page.tables["model_ranges"]
    assert ranges[["volume_low", "depth_high"]].iloc[0].tolist() == [1.0, 2.0]


def test_failed_cases_and_side_studies_are_findings(whole):
    failures = pd.DataFrame(
        {"case": ["a"], "activity": ["gait"], "frame": [3], "residual": [1.0], "reason": ["slid"]}
    )
    failed = pd.DataFrame({NOT_COMPUTED: ["no file"]})
    tables = whole.tables | {"failures": failures, "model_spread": failed}
    page = written("wear", whole.settings, tables)
    records = {one.finding.check: one.finding for one in page.findings}
    assert records["failed_case"].severity == "refuse"
    assert records["failed_case"].found == "slid"
    assert records["side_study"].found == "not computed: no file"
    assert page.findings[0].finding.check == "failed_case"


def test_cases_beyond_validity_are_counted(whole):
    validity = whole.tables["validity"].copy()
    beyond = validity["case"].isin(validity["case"].unique()[:3])
    validity["max_pressure_above_limit"] = beyond & (validity["side"] == "medial")
    validity["avg_pressure_above_limit"] = False
    page = written("wear", whole.settings, whole.tables | {"validity": validity})
    (row,) = page.tables["validity_counts"].to_dict("records")
    assert (row["cases"], row["of"]) == (3, validity["case"].nunique())
    assert set(page.tables["all_cases"].query("validity == 'outside'")["case"]) == set(
        validity["case"].unique()[:3]
    )
    assert "validity" in [one.finding.check for one in page.findings]


@pytest.mark.parametrize(
    ("statistic", "value"),
    [("first", 3.0), ("sum", 2.0), ("max", 3.0), ("mean", 2 / 3), ("count", 3), ("largest", -4.0)],
)
def test_statistics_of_a_key_result(statistic, value):
    tables = Tables({"t": pd.DataFrame({"value": [3.0, -4.0, 3.0]})}, {"study": "s"})
    part = KeyResultPart(table="t", name="x", statistic=statistic)
    (result,) = key_results([part], tables)
    assert result.value == pytest.approx(value)


def test_no_page_has_a_line_twice(whole):
    finding = Finding("motion.spike", "warn", "a.csv", "a spike", "none", "Check it.")
    findings = [Reported(finding, job) for job in ("settings", "read", "read", "solve")]
    page = written("wear", whole.settings, whole.tables, findings=findings)
    for text in (page.page, page.appendix):
        lines = re.findall(r"<li data-check.*</li>", text)
        assert len(set(lines)) == len(lines)
        assert sum("a spike" in line for line in lines) == 1


def test_warnings_of_a_job_are_records_and_can_be_ignored(tmp_path, whole):
    finding = Finding("motion.spike", "warn", "file.csv", "a spike", "none", "Check it.")
    with job_log(tmp_path / "read/one.log"):
        logger = logging.getLogger("kneewear")
        logger.warning("%s", finding)
        for number in range(2):
            logger.warning("case %d slid", number)
    reported = reported_findings(whole.settings, tmp_path)
    assert [(one.job, one.finding.found) for one in reported if one.job == "read"] == [
        ("read", "a spike"),
        ("read", "case 0 slid"),
        ("read", "case 1 slid"),
    ]
    assert reported[-1].alike == reported[-2].alike == "case %d slid"
    settings = whole.settings | {"checks": {"ignore": ["motion.spike"]}}
    ignored = reported_findings(settings, tmp_path)
    assert finding not in [one.finding for one in ignored]
    assert ignored[-1].finding.severity == "note"
    with job_log(tmp_path / "read/one.log"):
        pass
    assert not [one for one in reported_findings(whole.settings, tmp_path) if one.job == "read"]


def test_outcome_is_written_from_the_summary(tmp_path, whole):
    with pytest.raises(InputDataError):
        outcome(tmp_path)
    shown, hidden = (Finding("", "warn", "", text, "", "") for text in ("slid", "before"))
    findings = [Reported(shown, "solve"), Reported(hidden, "settings")]
    page = written("wear", whole.settings, whole.tables, findings=findings)
    (tmp_path / "report").mkdir()
    save_json(page.summary, tmp_path / "report/summary.json")
    lines = "\n".join(outcome(tmp_path)[0])
    assert page.results["wear_volume",].amount in lines
    assert "(solve): slid" in lines
    assert "before" not in lines
    assert lines.endswith(str(tmp_path / "report/index.html"))


@pytest.mark.parametrize("law", ["archard", "cross_shear_saturation", "pressure_power"])
def test_interval_of_lost_volume_is_that_of_all_laws(single, law):
    life = single.tables["cases"]["life"].iloc[0]
    rows = [
        (one, life, side, quantity, unit, 3.0 * scale, 4.0 * scale, 5.0 * scale, 90.0)
        for one, scale in ((ALL_LAWS, 1.0), ("archard", 2.0), ("cross_shear_saturation", 0.1))
        for side in ("medial", "lateral", BOTH)
        for quantity, unit in (("wear_volume", "mm3"), ("wear_mass", "mg"))
    ]
    columns = ["law", "life", "side", "quantity", "unit", "low", "median", "high", "percent"]
    intervals = pd.DataFrame(rows, columns=columns).assign(laboratories=5, measurements=8)
    settings = {**single.settings, "wear": {**single.settings["wear"], "wear_law": law}}
    page = written("wear", settings, single.tables | {"wear_intervals": intervals})
    volume = page.results["wear_volume", life]
    assert (volume.low, volume.high) == pytest.approx((3.0, 5.0))
    assert len(page.tables["whole_intervals"]) == 6


def test_class_of_polyethylene_without_measurements_is_a_note(single):
    settings = single.settings | {
        "wear": single.settings["wear"] | {"material_class": "crosslinked"}
    }
    notes = {
        checked: [one.finding for one in written("wear", own, single.tables).findings]
        for checked, own in (("known", single.settings), ("unknown", settings))
    }
    found = {
        name: [one.severity for one in ones if one.check == "wear_interval"]
        for name, ones in notes.items()
    }
    assert found == {"known": [], "unknown": ["note"]}


@pytest.mark.parametrize(
    ("value", "low", "high", "shown"),
    [
        (108.84, 108.6, 109.05, "108.6 to 109.0"),
        (108.84, 105.0, 112.0, "105 to 112"),
        (108.84, 108.84, 108.84, "109 to 109"),
    ],
)
def test_ends_of_a_narrow_interval_differ(value, low, high, shown):
    assert KeyResult("a", "A", value, "mm3", {}, low=low, high=high).interval == shown
