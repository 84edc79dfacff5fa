"""The page of an uncertainty study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from kneewear.report.names import quantity_name, unit_name
from kneewear.report.page import (
    Section,
    citations_section,
    fill_template,
    images,
    provenance_section,
)
from kneewear.report.retrievals import MEASURED
from kneewear.report.sections import Table, make_table, plain_table, shown, what_was_run
from kneewear.report.uncertainty import SHOWN, constant_name, signed
from kneewear.sides import SIDES
from kneewear.studies.uncertainty.indices import LARGEST_WIDTH
from kneewear.studies.uncertainty.intervals import prediction_interval
from kneewear.studies.uncertainty.samples import column_name

HEADINGS = {
    "monte_carlo": "Prediction intervals of wear",
    "one_at_a_time": "Sensitivity of wear, one constant at a time",
    "variance_based": "Variance-based sensitivity of wear",
}
# Constants a sentence names.
NAMED = 3


def render_uncertainty_page(
    study: Mapping[str, Any],
    tables: Mapping[str, pd.DataFrame],
    figures: Mapping[str, bytes],
    provenance: Mapping[str, Any],
) -> str:
    """Write the page of an uncertainty study.

    Parameters
    ----------
    study : mapping
        Settings of the study as plain builtins.
    tables : mapping of name to DataFrame
        That of the method by its name, `samples`, `discretisation` and `fit_quality`.
    figures : mapping of name to bytes
        Figures as SVG or PNG.
    provenance : mapping
        Versions, inputs and wall times.

    Returns
    -------
    str
        HTML that needs no other file and no network.
    """
    method = study["uncertainty"]["method"]
    results = {
        "monte_carlo": _interval_sections,
        "one_at_a_time": _effect_sections,
        "variance_based": _index_sections,
    }[method]
    samples = tables["samples"]
    return fill_template(
        study,
        heading=HEADINGS[method],
        key_results=[*key_results(study, tables), *_failures(samples), *_cut_off(samples)],
        what_was_run=[*_samples_run(study, samples), *what_was_run(study)],
        chapters=[
            *results(study, tables, figures),
            _constants_section(study),
            _discretisation_section(tables["discretisation"]),
            Section(
                "implant",
                "Implant",
                tables=(plain_table("Deviation of the surfaces", tables["fit_quality"]),),
            ),
            citations_section(study),
            provenance_section(study, provenance),
        ],
    )


def key_results(study: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Sentences that tell the outcome, whether it has converged among them."""
    method = study["uncertainty"]["method"]
    tell = {
        "monte_carlo": _interval_sentences,
        "one_at_a_time": _effect_sentences,
        "variance_based": _index_sentences,
    }[method]
    return list(tell(tables[method], study["uncertainty"]["level_percent"]))


def _interval_sentences(found: pd.DataFrame, level: float) -> Iterator[str]:
    for _, row in found[found["quantity"].isin(["damage_depth", "wear_volume"])].iterrows():
        yield (
            f"{quantity_name(row['quantity'])}, {row['side']}: {shown(row['lower'], 3)} to "
            f"{shown(row['upper'], 3)} {unit_name(row['unit'])} holds {level:g} % of such knees "
            f"(median {shown(row['median'], 3)}, without changes {shown(row['nominal'], 3)})."
        )
    open_ = found[~found["converged"].astype(bool)]
    yield (
        "Every end of an interval is known to a tenth of the interval's width."
        if open_.empty
        else f"Not converged: {len(open_)} of {len(found)} intervals have an end that is known "
        "worse than to a tenth of their width. Take more samples."
    )


def _effect_sentences(found: pd.DataFrame, level: float) -> Iterator[str]:
    for quantity in ("damage_depth", "wear_volume", "max_pressure"):
        for side in SIDES:
            own = found[(found["quantity"] == quantity) & (found["side"] == side)]
            first = own.iloc[np.argsort(-own["effect_percent"].abs(), kind="stable")[:NAMED]]
            words = ", ".join(
                f"{constant_name(row['constant'])} ({signed(row['effect_percent'], 1)} %)"
                for _, row in first.iterrows()
            )
            yield f"{quantity_name(quantity)}, {side}, changes most with {words}."
    yield (
        "Changes are those of one standard deviation of the constant alone; interactions do not "
        "show."
    )


def _index_sentences(found: pd.DataFrame, level: float) -> Iterator[str]:
    for quantity in ("damage_depth", "wear_volume", "max_pressure"):
        for side in SIDES:
            own = found[(found["quantity"] == quantity) & (found["side"] == side)]
            words = ", ".join(
                f"{constant_name(row['constant'])} ({row['total']:.2f} ± {row['total_error']:.2f})"
                for _, row in own.sort_values("total", ascending=False)[:NAMED].iterrows()
            )
            yield f"{quantity_name(quantity)}, {side}; largest total indices: {words}."
    yield convergence_sentence(found)


def convergence_sentence(found: pd.DataFrame) -> str:
    """Whether indices are known well enough, and what it would take."""
    known = found.dropna(subset=["first_error", "total_error"])
    widest = 2.0 * float(known[["first_error", "total_error"]].to_numpy().max(initial=0.0))
    if len(known) and known["converged"].astype(bool).all():
        return f"Converged: no interval of an index is wider than {LARGEST_WIDTH:g}."
    still = known.loc[~known["converged"].astype(bool), ["side", "quantity"]].drop_duplicates()
    return (
        f"Not converged: of {len(still)} outputs an index has an interval wider than "
        f"{LARGEST_WIDTH:g}; the widest is {shown(widest, 2)}. About "
        f"{float(f'{known.blocks_needed.max():.2g}'):.0f} blocks of samples would be needed in "
        f"place of {int(known['blocks'].min()) if len(known) else 0}. Read an index with its "
        "interval: which of two is larger is not known where their intervals overlap."
    )


def _interval_sections(
    study: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], figures: Mapping[str, bytes]
) -> list[Section]:
    found, level = tables["monte_carlo"], study["uncertainty"]["level_percent"]
    head = [
        "Quantity", "Side", "Unit", "Without changes", "Mean", "Standard deviation", "Median",
        "From", "To", "Known to ±", "Samples", "Converged",
    ]  # fmt: skip
    rows = (
        (
            quantity_name(row["quantity"]), row["side"], unit_name(row["unit"]), row["nominal"],
            row["mean"], row["standard_deviation"], row["median"], row["lower"], row["upper"],
            row["end_error"], row["samples"], bool(row["converged"]),
        )
        for row in found.to_dict("records")
    )  # fmt: skip
    words = (
        f"An interval holds the next knee drawn like these with {level:g} %, whatever the "
        "distribution. It tells what the constants below leave open and nothing of what the model "
        "leaves out.",
    )
    return [
        Section(
            "intervals",
            "Prediction intervals",
            words,
            images(figures, "predictions", "damage_spread"),
            tables=(make_table(f"Prediction intervals, {level:g} %", head, rows),),
        ),
        _retrieval_section(study, tables["samples"]),
    ]


def _retrieval_section(study: Mapping[str, Any], samples: pd.DataFrame) -> Section:
    """Rates of whole inserts with their interval, beside those of retrieved ones."""
    level = study["uncertainty"]["level_percent"]
    drawn = samples[samples["role"] == "draw"]
    rows = []
    for name, group in study["report"]["retrievals"].items():
        depth, volume = MEASURED[group["includes_creep"]]
        for key, unit, values in (
            ("linear_mm_per_year", "mm/year", _of_sides(drawn, depth).max(axis=1, skipna=False)),
            ("volume_mm3_per_year", "mm³/year", _of_sides(drawn, volume).sum(axis=1, skipna=False)),
        ):
            if (rate := group[key]) is not None:
                here = prediction_interval(values.to_numpy(float), level)
                inside = values.dropna().between(rate["low"], rate["high"]).mean()
                rows.append(
                    (
                        name,
                        f"{'thickness' if 'linear' in key else 'volume'}, "
                        f"{'with' if group['includes_creep'] else 'without'} creep",
                        unit,
                        rate["mean"],
                        f"{shown(rate['low'])} to {shown(rate['high'])}",
                        group["spread"],
                        shown(here.median, 3),
                        f"{shown(here.lower, 3)} to {shown(here.upper, 3)}",
                        f"{100 * inside:.0f} %",
                        group["source"],
                    )
                )
    head = [
        "Inserts", "Loss of", "Unit", "Mean", "From, to", "which is the", "Median here",
        f"Interval here, {level:g} %", "Samples within", "Source",
    ]  # fmt: skip
    words = (
        "Retrieved inserts are of other designs, patients and times, and many were retrieved "
        "because they had failed. Thickness is that of the side that lost more, volume that of "
        "both sides; backside wear, which retrievals may include, is not computed.",
    )
    shown_table = (make_table("Beside retrieved inserts", head, rows),) if rows else ()
    return Section("retrievals", "Beside retrieved inserts", words, tables=shown_table)


def _of_sides(samples: pd.DataFrame, quantity: str) -> pd.DataFrame:
    return samples[[column_name(side, quantity) for side in SIDES]]


def _effect_sections(
    study: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], figures: Mapping[str, bytes]
) -> list[Section]:
    found = tables["one_at_a_time"]
    told = found.assign(effect_shown=[signed(value, 2) for value in found["effect_percent"]])
    wide = _by_constant(told, "effect_shown", "effect of a standard deviation (%)")
    words = (
        "Each constant was moved one standard deviation down and up while all others kept their "
        "value. The table tells half of the difference in percent of the output: the standard "
        "deviation that the constant alone gives it.",
        "Were outputs linear in the constants, the squares of these effects would add up to the "
        "variance; one_at_a_time.csv tells each one's share, and the curvature that speaks "
        "against it.",
    )
    return [Section("effects", "Effects", words, images(figures, "effects"), tables=wide)]


def _index_sections(
    study: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], figures: Mapping[str, bytes]
) -> list[Section]:
    found, level = tables["variance_based"], study["uncertainty"]["level_percent"]
    words = (
        "A first index is the part of an output's variance that goes away on average when the "
        "constant becomes known; a total index is the part that stays when all others become "
        "known. Their difference is the constant's share in interactions. "
        f"Intervals are of {level:g} %.",
        convergence_sentence(found),
    )
    paired = found.assign(
        first_shown=[
            f"{signed(a, 2).lstrip('+')} ± {b:.2f}"
            for a, b in found[["first", "first_error"]].to_numpy()
        ],
        total_shown=[
            f"{signed(a, 2).lstrip('+')} ± {b:.2f}"
            for a, b in found[["total", "total_error"]].to_numpy()
        ],
    )
    wide = (*_by_constant(paired, "first_shown", "first indices"),
            *_by_constant(paired, "total_shown", "total indices"))  # fmt: skip
    shown_figures = images(figures, "indices", "damage_spread")
    return [Section("indices", "Indices", words, shown_figures, tables=wide)]


def _by_constant(found: pd.DataFrame, column: str, what: str) -> tuple[Table, ...]:
    """One table a side: constants down, outputs across."""
    tables = []
    for side in SIDES:
        own = found[(found["side"] == side) & found["quantity"].isin(SHOWN)]
        wide = own.pivot(index="constant", columns="quantity", values=column)
        wide = wide.reindex(index=list(dict.fromkeys(own["constant"])), columns=list(SHOWN))
        rows = [(constant_name(str(name)), *wide.loc[name]) for name in wide.index]
        head = ["Constant", *map(quantity_name, SHOWN)]
        tables.append(make_table(f"{side.capitalize()} side: {what}", head, rows))
    return tuple(tables)


def _constants_section(study: Mapping[str, Any]) -> Section:
    """What was taken as uncertain."""
    uncertainty = study["uncertainty"]
    rows = [
        (
            constant_name(name),
            ", ".join(one["settings"]),
            {"add": "plus", "multiply": "times 1 +"}[one["change"]],
            f"{one['distribution']}, {'±' if one['distribution'] == 'uniform' else 'σ'} "
            f"{one['spread']:g}",
            one["unit"],
            one["source"],
        )
        for name, one in uncertainty["constants"].items()
    ]
    head = ["Constant", "Settings", "Change", "Distribution", "Unit", "Source"]
    words = [
        "Constants are taken as independent. σ is the standard deviation of a normal distribution, "
        "cut off at three of them; ± is half the range of a uniform one."
    ]
    if uncertainty["pose_errors"]:
        words.append(
            "Measured poses are uncertain too, by the standard deviations told with the motion."
        )
    table = make_table("Uncertain constants", head, rows)
    return Section(
        "constants", "Uncertain constants", tuple(words),
        tables=(Table(table.caption, table.header, table.rows, words=True),),
    )  # fmt: skip


def _discretisation_section(table: pd.DataFrame) -> Section:
    shown_rows = table[table["quantity"].isin(SHOWN)]
    rows = [
        (
            quantity_name(row["quantity"]), row["side"], unit_name(row["unit"]), row["here"],
            row["finer"], signed(row["difference_percent"], 2),
        )
        for row in shown_rows.to_dict("records")
    ]  # fmt: skip
    largest = float(shown_rows["difference_percent"].abs().max())
    words = (
        "The settings without changes, on the elements and frames of the samples and on twice as "
        "many rows, columns and (of built-in activities) frames. Here results differ by at most "
        f"{largest:.1f} %. Every sample errs in much the same way, so less of it is in the spread.",
    )
    head = ["Quantity", "Side", "Unit", "Samples' elements", "Twice as fine", "Difference (%)"]
    return Section(
        "discretisation",
        "Elements and frames",
        words,
        tables=(make_table("Error by discretisation", head, rows),),
    )


def _samples_run(study: Mapping[str, Any], samples: pd.DataFrame) -> list[str]:
    count = len(samples)
    method = study["uncertainty"]["method"].replace("_", " ")
    return [
        f"{count} samples ({method}), the one without changes among them; seed {study['seed']}."
    ]


def _cut_off(samples: pd.DataFrame) -> list[str]:
    """How many samples run off the elements."""
    count = int((samples["border_pressure"] > 0.0).sum())
    if not count:
        return []
    return [
        f"In {count} of {len(samples)} samples contact reaches the end of the elements and is cut "
        "off there: their areas and volumes are a little too small."
    ]


def _failures(samples: pd.DataFrame) -> list[str]:
    """How many samples have no result, and the first reason."""
    reasons = samples["failure"].dropna()
    reasons = reasons[reasons != ""]
    if reasons.empty:
        return []
    return [
        f"{len(reasons)} of {len(samples)} samples have no result and are left out; what remains "
        f"is not drawn quite as wanted. The first: {reasons.iloc[0]}"
    ]
