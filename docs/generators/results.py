"""Tables of a finished study in the pages that contain a marker for them.

`<!-- table: default/tables/regression.csv columns=a,b rows=20 -->` becomes the table of that file,
with `where=column:text` its rows with this text in a column. In place of `table`, `twin` or `layer`
give the errors of the foundation or of the coupled layer, `orders` the observed order and the grid
convergence index of errors that fall with a count, and `gci` the same of the last three counts of a
table of values, or of errors in per cent with `errors=yes`. `materials` gives the results of each
case by a column, each as a change from the one before, and `ranks` how alike they order the cases;
`curves` gives the results of each curve of a material, and `intervals` how far they are apart. The
file is that of `results/`, its copy in `docs/snapshot/` where the study was not run, or a record in
`config/`. Tables of `records/` were written down by hand from several runs and are shown as they
are. `python -m docs.generators.results` renews the copies that finished studies have, the times and
the pictures of the gallery.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.optimize import brentq

from kneewear.study.shipped import find_study

ROOT = Path(__file__).parents[2]
RESULTS = Path(os.environ.get("KNEEWEAR_RESULTS", ROOT / "results"))
SNAPSHOT = ROOT / "docs" / "snapshot"
FE_ERRORS = {
    "max_pressure": "maximum pressure (%)",
    "middle_pressure": "in the middle of the contact (%)",
    "avg_pressure": "mean pressure (%)",
    "contact_area": "area (%)",
    "force_at_pose": "force at equal pose (%)",
}
# Longer tables are folded.
MAX_OPEN_ROWS = 15
CASE_RESULTS = {
    "max_pressure": "maximum pressure",
    "max_wear_depth": "wear depth",
    "wear_volume": "wear volume",
    "creep_depth_at_deepest_damage": "creep depth",
}
# Results whose interval is over the curve of a material: label and unit.
CURVE_RESULTS = {
    "max_pressure": "maximum pressure, MPa",
    "avg_pressure": "mean pressure, MPa",
    "max_wear_depth": "worn depth, mm",
    "creep_depth_at_deepest_damage": "creep depth, mm",
    "damage_area": "damage area, mm²",
    "wear_volume": "worn volume, mm³",
}
MARKER = re.compile(
    r"<!-- (table|errors|twin|layer|orders|gci|materials|ranks|curves|intervals): "
    r"(\S+?)((?: \w+=\S+)*) -->"
)
# Safety factor of a grid convergence index of three grids (Roache 1994, from memory).
SAFETY_FACTOR = 1.25


def with_tables(markdown: str) -> str:
    """Page whose markers are replaced by their tables."""
    return MARKER.sub(lambda match: filled(match, RESULTS), markdown)


def filled(match: re.Match[str], results: Path) -> str:
    """Text that replaces a marker."""
    kind, name, words = match.groups()
    places = [ROOT] if name.startswith("config/") else [results, SNAPSHOT]
    path = next((place / name for place in places if (place / name).is_file()), None)
    if path is None:
        return (
            f"*`results/{name}` did not exist when this page was built: "
            f"`{command(name)}` computes it, `make docs` then includes it.*"
        )
    # Records keep the digits in which they were written.
    table = pd.read_csv(path, comment="#", dtype=str if name.startswith("records/") else None)
    if table.empty:
        return f"*`{name}` had no rows when this page was built.*"
    options = dict(word.split("=") for word in words.split())
    if "where" in options:
        column, text = options["where"].split(":")
        table = table[table[column].astype(str) == text]
        # A summary is over the other columns.
        table = table.drop(columns=column) if kind in SUMMARIES else table
    if kind in SUMMARIES:
        return as_markdown(SUMMARIES[kind](table, options))
    if "columns" in options:
        table = table[[name for name in options["columns"].split(",") if name in table]]
    shown = table.head(int(options.get("rows", "40")))
    text = as_markdown(shown)
    if len(shown) < len(table):
        text += f"\n\n*The first {len(shown)} of {len(table)} rows.*"
    return text if len(shown) <= MAX_OPEN_ROWS else folded(text, f"{len(shown)} rows of {name}")


# What is shown in place of a table, by the word of its marker.
SUMMARIES: dict[str, Callable[[pd.DataFrame, dict[str, str]], pd.DataFrame]] = {
    "errors": lambda table, by: error_summary(table, by["error"], by["by"].split(",")),
    "twin": lambda table, _: fe_comparison_summary(table),
    "layer": lambda table, _: layer_summary(table),
    "orders": lambda table, by: observed_orders(table, by["error"], by["count"]),
    "gci": lambda table, by: convergence_indices(
        table, by["count"], "errors" in by, by.get("parts", "medial,lateral").split(",")
    ),
    "materials": lambda table, by: material_changes(table, by["by"]),
    "ranks": lambda table, by: rank_changes(table, by["by"]),
    "curves": lambda table, by: curve_results(table, by["by"], by["over"]),
    "intervals": lambda table, by: curve_intervals(
        table, by["by"], by["over"], by["base"], by["without"]
    ),
}


def folded(text: str, label: str) -> str:
    """Markdown that a reader opens."""
    return f'<details markdown="1"><summary>{label}</summary>\n\n{text}\n\n</details>'


def command(name: str) -> str:
    """Command that writes a table of `results/`."""
    if name == "benchmarks/cost.csv":
        return "python -m benchmarks.cost"
    if name == "benchmarks/mutations.csv":
        return "python -m benchmarks.mutations --seed 1 3"
    folder = name.split("/", maxsplit=1)[0]
    if folder == "benchmarks":
        return "make benchmark"
    if folder == "default":
        return "make study"
    file = find_study(folder)
    assert file is not None, f"no study {folder}"
    return f"make study CONFIG={file.relative_to(ROOT).as_posix()}"


def error_summary(table: pd.DataFrame, error: str, groups: list[str]) -> pd.DataFrame:
    """Number, bias and size of relative errors in each group, per cent."""
    summary = pd.DataFrame({"values": table.groupby(groups)[error].size()})
    for name, of in (
        ("mean %", lambda part: part.mean()),
        ("median size %", lambda part: part.abs().median()),
        ("95 % within %", lambda part: part.abs().quantile(0.95)),
        ("largest size %", lambda part: part.abs().max()),
    ):
        summary[name] = 100.0 * table.groupby(groups)[error].apply(of)
    return summary.reset_index()


def grid_convergence(
    counts: Sequence[float], values: Sequence[float]
) -> tuple[float, float, float]:
    """Observed order, extrapolated value and index of three grids (Roache 1994, from memory).

    Values f1, f2 and f3 at counts that grow by the factors r12 and r23 follow f + c n^-p, where the
    order p solves (f2 - f1) / (f3 - f2) = r23^p (r12^p - 1) / (r23^p - 1). Richardson's value is
    f3 + (f3 - f2) / (r23^p - 1), and the index its difference from f3 times a safety factor of
    1.25, relative to f3. Where values do not approach a limit, order and limit are nan and the
    index has the largest step.

    Parameters
    ----------
    counts : sequence of float
        Three numbers of elements, frames or blocks, rising.
    values : sequence of float
        Values of one quantity with them.

    Returns
    -------
    tuple of float
        The order, the extrapolated value, and the index as a fraction.
    """
    (n1, n2, n3), (f1, f2, f3) = counts, values
    steps = f2 - f1, f3 - f2
    first, last = math.log(n2 / n1), math.log(n3 / n2)

    def excess(order: float) -> float:
        rise = math.exp(order * last) * math.expm1(order * first) / math.expm1(order * last)
        return rise - steps[0] / steps[1]

    # Below and above what any scheme has.
    low, high = 0.01, 20.0
    if steps[1] == 0.0 or excess(low) > 0.0 or excess(high) < 0.0:
        return math.nan, math.nan, SAFETY_FACTOR * max(map(abs, steps)) / abs(f3)
    order = brentq(excess, low, high)
    left = steps[1] / math.expm1(order * last)
    return order, f3 + left, SAFETY_FACTOR * abs(left / f3)


def observed_orders(table: pd.DataFrame, error: str, count: str) -> pd.DataFrame:
    """Order and grid convergence index of an error of each contact and quantity.

    Parameters
    ----------
    table : DataFrame
        Columns contact, quantity, the count and the error in per cent of an exact value, at three
        counts or more.
    error, count : str
        Column of the error, and of what it falls with.

    Returns
    -------
    DataFrame
        Contact, quantity, the last two counts, the order p of an error proportional to count^-p
        between them; then, as if the exact value were not known, the order of the last three
        counts, the error that is left after extrapolation, the index, and beside it the error that
        the index should exceed.
    """
    rows = []
    for (contact, quantity), own in table.groupby(["contact", "quantity"], sort=False):
        last = own.sort_values(count).tail(3)
        counts, errors = last[count].tolist(), last[error].tolist()
        (_, n1, n2), (_, e1, e2) = counts, errors
        known = math.log(e1 / e2) / math.log(n2 / n1) if min(e1, e2) > 0.0 else math.nan
        order, limit, index = grid_convergence(counts, [1.0 + 0.01 * value for value in errors])
        left = f"{100.0 * (limit - 1.0):.2g}"
        shown = [_or_dash(f"{known:.1f}"), _or_dash(f"{order:.1f}"), _or_dash(left)]
        numbers = [f"{100.0 * index:.2g}", f"{e2:.2g}"]
        rows.append([contact, quantity, f"{n1:g} to {n2:g}", *shown, *numbers])
    orders = ["observed order", "order of three grids"]
    percents = ["extrapolated error (%)", "index (%)", "error (%)"]
    return pd.DataFrame(rows, columns=["contact", "quantity", count, *orders, *percents])


def _or_dash(text: str) -> str:
    return "-" if text == "nan" else text


def convergence_indices(
    table: pd.DataFrame,
    count: str,
    errors: bool = False,
    parts: Sequence[str] = ("medial", "lateral"),
) -> pd.DataFrame:
    """Observed order, extrapolated value and grid convergence index of each value of a table.

    Parameters
    ----------
    table : DataFrame
        The count, and columns of values, of which those with fewer than three are left out; a cell
        may have several values, one for each part.
    count : str
        Column of the count; of "144 x 108" the first number counts. Where no column has this name,
        the counts are the heads of the columns after the first, which has the names.
    errors : bool
        Whether cells are errors in per cent of one reference. Their index is relative to it.
    parts : sequence of str
        What the values of a cell are.
    """
    if count not in table:
        table = table.set_index(table.columns[0]).T.rename_axis(count).reset_index()
    table = table.assign(**{count: table[count].astype(str).str.split().str[0].astype(float)})
    rows = []
    for name in [name for name in table if name != count]:
        own = table[[count, name]].dropna().sort_values(count).tail(3)
        if len(own) < 3:
            continue
        cells = own[name].astype(str).str.removesuffix("%").str.split(", ")
        several = len(cells.iloc[0]) > 1
        for number, texts in enumerate(zip(*cells, strict=True)):
            values = [100.0 + float(text) if errors else float(text) for text in texts]
            order, limit, index = grid_convergence(own[count].tolist(), values)
            # No less than the rounding of the last value.
            decimals = len(texts[-1].strip().partition(".")[2])
            index = max(index, 0.5 * 10.0**-decimals / abs(values[-1]))
            left = f"{limit - 100.0:+.2g}" if errors else f"{limit:.4g}"
            shown = [
                texts[-1].strip(),
                _or_dash(f"{order:.1f}"),
                "-" if math.isnan(limit) else left,
            ]
            part = parts[number] if several else ""
            counts = " to ".join(f"{value:g}" for value in own[count])
            rows.append([name, part, counts, *shown, f"{100.0 * index:.2g}"])
    head = ["quantity", "part", count, "last value", "observed order", "extrapolated", "index (%)"]
    return pd.DataFrame(rows, columns=head)


def _covariates(table: pd.DataFrame, *others: str) -> list[str]:
    """Columns of the settings of a case, without its name and `others`."""
    results = next(n for n, name in enumerate(table) if name.startswith("both_"))
    return [name for name in table.columns[:results] if name not in ("case", *others)]


def _results_by(table: pd.DataFrame, by: str) -> dict[str, dict[str, pd.Series]]:
    """Results of both sides for each value of a column, by quantity, over the other settings.

    A depth or pressure is the larger one of the sides, a volume their sum.
    """
    index = _covariates(table, by)
    return {
        str(value): {
            quantity: part.set_index(index)[f"both_{quantity}"] for quantity in CASE_RESULTS
        }
        for value, part in table.groupby(by, sort=False)
    }


def material_changes(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """Results of each case with the first material, and their changes with the others, per cent.

    The second material is compared with the first, all further ones with the second.

    Parameters
    ----------
    table : DataFrame
        Results of a study, a row for each case and material.
    by : str
        Column of the material.
    """
    results = _results_by(table, by)
    first, second, *others = results
    columns: dict[str, pd.Series] = {}
    for quantity, label in CASE_RESULTS.items():
        base, elastic = results[first][quantity], results[second][quantity]
        columns[f"{label}: {first}"] = base
        changes = [elastic / base, *(results[name][quantity] / elastic for name in others)]
        percents = (100.0 * (pd.concat(changes, axis=1) - 1.0)).round() + 0.0
        joined = percents.apply(lambda row: ", ".join(map(_percent, row)), axis=1)
        columns[f"{label}: {', '.join([second, *others])} (%)"] = joined
    return pd.DataFrame(columns).reset_index()


def _percent(value: float) -> str:
    """Change with its sign; a dash where a case failed."""
    return "-" if pd.isna(value) else f"{value:+.0f}"


def rank_changes(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """Rank correlation (Spearman) of the cases, and the most places that one moves, by material.

    Each material is compared as in `material_changes`.
    """
    results = _results_by(table, by)
    first, second, *others = results
    rows = []
    for before, after in [(first, second), *((second, name) for name in others)]:
        row = {"from": before, "to": after}
        for quantity, label in CASE_RESULTS.items():
            both = [results[name][quantity] for name in (before, after)]
            # Places among the cases that neither material failed.
            ranks = pd.concat(both, axis=1, keys=(0, 1)).dropna().rank()
            moved = int((ranks[1] - ranks[0]).abs().max())
            row[f"{label}: correlation, places"] = f"{ranks[0].corr(ranks[1]):.3f}, {moved}"
        rows.append(row)
    return pd.DataFrame(rows)


def curve_results(table: pd.DataFrame, by: str, over: str) -> pd.DataFrame:
    """Results of each value of a column and each case, at all values of another column in a cell.

    Parameters
    ----------
    table : DataFrame
        Results of a study, a row for each case.
    by, over : str
        Column of the curve of a material, and of the part of its plastic strain that stays.
    """
    cases = [by, *_covariates(table, by, over)]
    columns = {
        label: table.groupby(cases, sort=False)[f"both_{quantity}"].agg(
            lambda values: ", ".join(_cell(value) for value in values)
        )
        for quantity, label in CURVE_RESULTS.items()
    }
    return pd.DataFrame(columns).reset_index()


def curve_intervals(
    table: pd.DataFrame, by: str, over: str, base: str, without: str
) -> pd.DataFrame:
    """Change of results from curve to curve, by what stays of the strain, and the whole interval.

    Parameters
    ----------
    table : DataFrame
        Results of a study, a row for each case.
    by, over : str
        Column of the curve of a material, and of the part of its plastic strain that stays.
    base, without : str
        Curve that others are compared with, and one that is left out.

    Returns
    -------
    DataFrame
        For each case and quantity the results of `base`; the changes of each other curve, per cent
        at each value of `over`, and of `over` alone, per cent of its first value; and the interval
        over all curves and values of `over`.
    """
    rows = []
    kept = table[table[by] != without]
    cases = _covariates(table, by, over)
    for case, own in kept.groupby(cases, sort=False):
        for quantity, label in CURVE_RESULTS.items():
            values = own.set_index([by, over])[f"both_{quantity}"].unstack(by, sort=False)
            first, reference = values[base].iloc[0], values[base]
            row = dict(zip(cases, case, strict=True)) | {
                "quantity": label,
                base: ", ".join(_cell(value) for value in reference),
                f"{over} (%)": _span(100.0 * (reference.iloc[1:] / first - 1.0), "+.0f"),
            }
            for name in values.columns.drop(base):
                changes = 100.0 * (values[name] / reference - 1.0)
                row[f"{name} (%)"] = _span(changes, "+.0f")
            rows.append(
                row | {"interval": f"{_cell(values.min().min())} to {_cell(values.max().max())}"}
            )
    return pd.DataFrame(rows)


def fe_comparison_summary(table: pd.DataFrame) -> pd.DataFrame:
    """Error of the foundation over the frames of each compared case and side."""
    rows = []
    for label, own in _by_case_and_side(table):
        row = dict(label)
        for name, head in FE_ERRORS.items():
            row[head] = _span(own[name]["foundation_error_percent"], "+.0f")
        row["modulus of equal force (MPa)"] = _span(
            own["effective_modulus"]["finite_elements"], ".0f"
        )
        row["mesh error of maximum and middle pressure (%)"] = ", ".join(
            f"{own[name]['mesh_error_percent'].max():.1f}" for name in list(FE_ERRORS)[:2]
        )
        rows.append(row)
    return pd.DataFrame(rows)


def layer_summary(table: pd.DataFrame) -> pd.DataFrame:
    """Error of the coupled layer over the frames of each case and side of a twin."""
    rows = []
    for label, own in _by_case_and_side(table):
        row = label | {
            head: _span(own[name]["layer_error_percent"], "+.1f")
            for name, head in FE_ERRORS.items()
        }
        fine = own["max_pressure"]["fine_layer_error_percent"]
        row["maximum on columns half as wide (%)"] = _span(fine, "+.1f")
        stress = own["middle_von_mises"]
        if stress["layer_error_percent"].notna().all():
            row["von Mises in the middle (%)"] = _span(stress["layer_error_percent"], "+.1f")
            row["its mesh error (%)"] = _span(stress["mesh_error_percent"], ".1f")
        rows.append(row)
    return pd.DataFrame(rows)


def _by_case_and_side(
    table: pd.DataFrame,
) -> Iterator[tuple[dict[str, str], dict[str, pd.DataFrame]]]:
    """Case and side as they are shown, and the rows of each quantity."""
    for (case, side), part in table.groupby(["case", "side"], sort=False):
        shown = case.replace("_", ", ").replace("mm", " mm").replace("kg", " kg")
        own = {str(name): one for name, one in part.groupby("quantity")}
        yield {"case": shown, "side": side}, own


def _span(values: pd.Series, form: str) -> str:
    """Smallest and largest value, or both as one."""
    ends = [f"{value:{form}}" for value in (values.min(), values.max())]
    return " to ".join(dict.fromkeys("0" if float(end) == 0.0 else end for end in ends))


def as_markdown(table: pd.DataFrame) -> str:
    """Table in Markdown, numbers to three digits."""
    lines = ["| " + " | ".join(str(name) for name in table.columns) + " |"]
    lines.append("|" + "---|" * len(table.columns))
    lines += ["| " + " | ".join(_cell(value) for value in row) + " |" for row in table.to_numpy()]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:.3g}"
    return str(value).replace("|", "/")


def copy_tables(results: Path, pages: Path, snapshot: Path) -> list[str]:
    """Copy the tables that pages show; returns the names of those that no study has written."""
    names = {
        name
        for page in sorted(pages.rglob("*.md"))
        for _, name, _ in MARKER.findall(page.read_text())
        if not name.startswith(("config/", "records/"))
    }
    for name in sorted(names):
        if (results / name).is_file():
            (snapshot / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(results / name, snapshot / name)
    return sorted(name for name in names if not (results / name).is_file())


def copy_times(results: Path, studies: Path, snapshot: Path) -> None:
    """Copy machine and seconds of finished studies that `studies` has a file for."""
    for path in sorted(results.glob("*/provenance.json")):
        study = path.parent.name
        if study == "default" or any(studies.rglob(f"{study}.yaml")):
            found = json.loads(path.read_text("utf-8"))
            kept = {name: found[name] for name in ("machine", "wall_time_s")}
            (snapshot / study).mkdir(parents=True, exist_ok=True)
            (snapshot / study / path.name).write_text(json.dumps(kept, indent=1) + "\n")


def copy_pictures(results: Path, record: Path, images: Path) -> None:
    """Renew the pictures of the gallery whose figure a finished study has."""
    known = pd.read_csv(record, comment="#", dtype=str, keep_default_na=False)
    for row in known[known["figure"] != ""].itertuples():
        figure = results / str(row.study) / "figures" / str(row.figure)
        if figure.is_file():
            shutil.copyfile(figure, images / str(row.picture))


if __name__ == "__main__":
    copy_pictures(RESULTS, SNAPSHOT / "records" / "gallery.csv", ROOT / "docs" / "images")
    copy_times(RESULTS, ROOT / "config", SNAPSHOT)
    for missing in copy_tables(RESULTS, ROOT / "docs", SNAPSHOT):
        print(f"results/{missing} does not exist; `{command(missing)}` computes it.")  # noqa: T201
