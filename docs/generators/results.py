"""Tables of a finished study in the pages that contain a marker for them.

`<!-- table: default/tables/regression.csv columns=a,b rows=20 -->` becomes the table of that file,
with `where=column:text` its rows with this text in a column, with `twin` in place of `table` the
errors of the foundation,
in `results/`, of its copy in `docs/snapshot/` where the study was not run, or of a record in
`config/`. `python -m docs.generators.results` renews the copies that finished studies have.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd

ROOT = Path(__file__).parents[2]
RESULTS = Path(os.environ.get("KNEEWEAR_RESULTS", ROOT / "results"))
SNAPSHOT = ROOT / "docs" / "snapshot"
TWIN_ERRORS = {
    "max_pressure": "maximum pressure (%)",
    "middle_pressure": "in the middle of the contact (%)",
    "avg_pressure": "mean pressure (%)",
    "contact_area": "area (%)",
    "force_at_pose": "force at equal pose (%)",
}
MARKER = re.compile(r"<!-- (table|errors|twin): (\S+?)((?: \w+=\S+)*) -->")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace markers by their tables."""
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
    table = pd.read_csv(path, comment="#")
    if table.empty:
        return f"*`{name}` had no rows when this page was built.*"
    options = dict(word.split("=") for word in words.split())
    if kind == "errors":
        return as_markdown(error_summary(table, options["error"], options["by"].split(",")))
    if kind == "twin":
        return as_markdown(twin_summary(table))
    if "where" in options:
        column, text = options["where"].split(":")
        table = table[table[column].astype(str) == text]
    if "columns" in options:
        table = table[[name for name in options["columns"].split(",") if name in table]]
    shown = table.head(int(options.get("rows", "40")))
    rest = f"\n\n*The first {len(shown)} of {len(table)} rows.*" if len(shown) < len(table) else ""
    return as_markdown(shown) + rest


def command(name: str) -> str:
    """Command that writes a table of `results/`."""
    if name == "benchmarks/cost.csv":
        return "python -m benchmarks.cost"
    folder = name.split("/", maxsplit=1)[0]
    if folder == "benchmarks":
        return "make benchmark"
    return "make study" + ("" if folder == "default" else f" CONFIG=config/{folder}.yaml")


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


def twin_summary(table: pd.DataFrame) -> pd.DataFrame:
    """Error of the foundation over the frames of each case and side of a finite-element twin."""
    rows = []
    for (case, side), part in table.groupby(["case", "side"], sort=False):
        own = {name: one for name, one in part.groupby("quantity")}
        row = {
            "case": case.replace("_", ", ").replace("mm", " mm").replace("kg", " kg"),
            "side": side,
        }
        for name, head in TWIN_ERRORS.items():
            row[head] = _span(own[name]["foundation_error_percent"], "+.0f")
        row["modulus of equal force (MPa)"] = _span(
            own["effective_modulus"]["finite_elements"], ".0f"
        )
        row["mesh error of maximum and middle pressure (%)"] = ", ".join(
            f"{own[name]['mesh_error_percent'].max():.1f}" for name in list(TWIN_ERRORS)[:2]
        )
        rows.append(row)
    return pd.DataFrame(rows)


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
        if not name.startswith("config/")
    }
    for name in sorted(names):
        if (results / name).is_file():
            (snapshot / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(results / name, snapshot / name)
    return sorted(name for name in names if not (results / name).is_file())


if __name__ == "__main__":
    for missing in copy_tables(RESULTS, ROOT / "docs", SNAPSHOT):
        print(f"results/{missing} does not exist; `{command(missing)}` computes it.")  # noqa: T201
