"""The page of a study: one self-contained HTML file.

`templates/page.html.j2` is the skeleton of every page; `templates/{kind}.html.j2` holds the prose
and sections of one study kind. Templates call the functions of the modules `facts`, `case_facts`
and `decision` by these names.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from kneewear.errors import NOT_COMPUTED
from kneewear.report import case_facts, decision, facts, tables
from kneewear.report.captions import FigureText, figure_text, starting_with, template_data
from kneewear.settings.checks import checks, heard
from kneewear.settings.files import settings_leaves
from kneewear.sides import SIDES
from kneewear.wear.laws import WEAR_LAWS

DOI = re.compile(r"https://doi\.org/\S+")
# Warnings that differ in their numbers alone are shown once.
NUMBER = re.compile(r"\d[\d.]*(e[+-]?\d+)?")


def render_page(
    kind: str,
    study: Mapping[str, Any],
    frames: Mapping[str, pd.DataFrame],
    figures: Mapping[str, bytes],
    provenance: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
    part: str = "page",
    **parts: Any,
) -> str:
    """Write the page of a study, its appendix, or its summary: HTML that needs no other file.

    Of the `part` the "page" holds the results, the "appendix" method, verification and provenance,
    and the "summary" what fits on a few sheets of paper (see :mod:`kneewear.report.pdf`).
    `kind` names the template; `study` are the settings as plain builtins, `frames` the tables by
    their file names (empty ones count as missing, except `cases`; failed side studies are stated),
    `figures` SVG or PNG by name, `provenance` versions, inputs, wall times and warnings, and
    `defaults` the settings that a summary compares with. `parts` are further values of the
    template: `files`, addresses of the figures beside the page; `endings`, of the titles of figures
    (see :func:`kneewear.report.captions.figure_text`); of a wear study `activities` by
    name, whose remarks are its `notes`, and `view` (of
    :func:`kneewear.report.insert_view.build_insert_view`).
    """
    endings = parts.pop("endings", {})
    notes = {name: one.remarks for name, one in parts.get("activities", {}).items()}
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.do"],
        loader=PackageLoader("kneewear.report", "templates"),
    )
    environment.filters |= {
        "embedded": _as_json, "linked": _linked, "listed": tables.listed,
        "quantity": tables.quantity_name,
        "shown": tables.shown, "span": tables.span, "unit": tables.unit_name,
        "words": tables.words,
    }  # fmt: skip
    environment.globals |= {
        "sides": SIDES, "make_table": tables.make_table, "mapping": mapping_table,
        "pictures": lambda *prefixes: pictures(figures, *prefixes, endings=endings),
        "library": library,
        "settings_leaves": settings_leaves, "grouped_warnings": grouped_warnings,
        "citations": citations, "data_frame": pd.DataFrame,
        "facts": facts, "case_facts": case_facts, "decision": decision, "heard": heard,
        "check_ranges": check_ranges, "wear_laws": WEAR_LAWS,
    }  # fmt: skip
    return environment.get_template(f"{kind}.html.j2").render(
        study=study,
        tables={
            name: table
            for name, table in frames.items()
            if NOT_COMPUTED not in table and (name == "cases" or len(table))
        },
        not_computed=not_computed(frames),
        provenance=provenance or {},
        contents=[],
        skeleton="summary.html.j2" if part == "summary" else "page.html.j2",
        appendix=part == "appendix",
        changed_settings=changed_settings(study, defaults or {}) if part == "summary" else None,
        has_appendix=kind not in ("preflight", "comparison"),
        **{"view": None, "notes": notes, "activities": {}, "files": {}} | parts,
    )


def not_computed(frames: Mapping[str, pd.DataFrame]) -> dict[str, list[str]]:
    """Names of the tables of failed side studies by reason."""
    found: dict[str, list[str]] = {}
    for name, table in frames.items():
        if NOT_COMPUTED in table:
            found.setdefault(str(table[NOT_COMPUTED].iloc[0]), []).append(name)
    return found


def pictures(
    figures: Mapping[str, bytes], *prefixes: str, endings: Mapping[str, str] | None = None
) -> list[tuple[str, FigureText, str]]:
    """Names, words and data addresses of the figures of some kinds."""
    return [
        (name, figure_text(name, endings), _data_address(figures[name]))
        for name in starting_with(figures, *prefixes)
    ]


def _data_address(picture: bytes) -> str:
    """Picture as an address that holds its own data."""
    kind = "image/png" if picture.startswith(b"\x89PNG") else "image/svg+xml"
    return f"data:{kind};base64,{b64encode(picture).decode('ascii')}"


def _as_json(value: Any) -> Markup:
    """JSON for a script element: nothing in it can end the element."""
    return Markup(json.dumps(value, separators=(",", ":")).replace("<", "\\u003c"))


def _linked(text: str) -> Markup:
    """Text whose digital object identifiers are links."""
    return Markup(DOI.sub(r'<a href="\g<0>">\g<0></a>', str(escape(text))))


@cache
def library(package: str, path: str) -> Markup:
    """Text of a file of a browser library: K3D-jupyter and ITables (DataTables), MIT licence."""
    # Their Python halves are not imported: that would bring all of Jupyter in.
    file = distribution(package).locate_file(path)
    text = Path(str(file)).read_text(encoding="utf-8")
    return Markup(text.replace("</script", "<\\/script"))


def check_ranges(silence: Sequence[str]) -> pd.DataFrame:
    """Ranges of all checks of plausibility, and which are silenced."""
    rows = [
        (check.name, check.quantity, *check.ranges, check.source, check.name in silence)
        for check in checks().values()
    ]
    names = ["Check", "Quantity", "No warning", "Accepted", "Source", "Silenced"]
    return pd.DataFrame(rows, columns=names)


def mapping_table(caption: str, heads: Sequence[str], values: Mapping[str, Any]) -> tables.Table:
    """Table of names and values."""
    return tables.make_table(caption, pd.DataFrame(list(values.items()), columns=list(heads)))


def changed_settings(study: Mapping[str, Any], defaults: Mapping[str, Any]) -> pd.DataFrame:
    """Settings whose value is not that of the default study, but name and kind of the study.

    Of blocks that the default study lacks, such as those of other kinds, all settings of one
    block are a row.
    """
    here, usual = settings_leaves(study), settings_leaves(defaults)
    blocks: dict[str, list[str]] = {}
    rows = []
    for key, value in here.items():
        if key in usual and value != usual[key] and key not in ("study", "kind"):
            rows.append((key, value, usual[key]))
        elif key not in usual and value != "none":
            block, _, name = key.rpartition(".")
            blocks.setdefault(block or name, []).append(f"{name} {value}")
    rows += [(block, ", ".join(values), "–") for block, values in blocks.items()]
    return pd.DataFrame(rows, columns=["key", "here", "default"])


def grouped_warnings(warnings: Iterable[tuple[str, str]]) -> list[tuple[str, str, int]]:
    """Log, message and number of further warnings that differ from it in numbers alone."""
    alike: dict[tuple[str, str], list[str]] = {}
    for log, message in warnings:
        alike.setdefault((log, NUMBER.sub("", message)), []).append(message)
    return [(log, found[0], len(found) - 1) for (log, _), found in alike.items()]


def citations(study: Mapping[str, Any]) -> pd.DataFrame:
    """References of the methods, laws and data of a run, each once; columns use and source."""
    known = template_data("citations")
    if study["kind"] == "fe_knee":
        cited = dict(known["fe_knee"])
        if study["fe_knee"]["bones"]["source"] == "natural":
            cited |= known["natural_bones"]
        return pd.DataFrame(cited.items(), columns=["use", "source"])
    wear, implant = study["wear"], study["implant"]
    rows: list[tuple[str, str]] = list(known["always"].items())
    law = wear["wear_law"]
    rows += [(f"Wear law “{tables.words(law)}”", source) for source in WEAR_LAWS[law].references]
    rows.append(("Creep law", known["creep_laws"][wear["creep_law"]]))
    if wear["recovery_minutes"]:
        rows.append(("Recovery of creep", known["recovery"]))
    own = known["own_data"]
    if implant["source"] == "parametric":
        rows.append(("Implant: built-in shape, calibrated on published results", known["bei"]))
    else:
        rows.append((f"Implant: {implant['name']}", own.format("its shape files")))
    for name in sorted({name for shares in wear["lives"].values() for name in shares}):
        if study["activities"][name]["source"] != "parametric":
            rows.append((f"Activity {name}", own.format("its motion and load files")))
        else:
            source = known["bei"] if name == "gait" else known["representative"]
            rows.append((f"Activity {name}: built-in curves", source))
    for name, insert in study["report"]["retrievals"].items():
        rows.append((f"Retrieved inserts: {name}", insert["source"]))
    frame = pd.DataFrame(rows, columns=["use", "source"])
    return frame.groupby("source", sort=False)["use"].agg("; ".join).reset_index()
