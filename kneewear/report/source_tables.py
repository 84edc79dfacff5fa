"""Derived tables of what was run: sources to cite, ranges of checks, settings and provenance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from operator import getitem
from typing import Any

import pandas as pd

from kneewear.base.assumptions import Assumption, unconfirmed
from kneewear.base.checks import checks
from kneewear.base.files import settings_leaves
from kneewear.base.references import Reference, references
from kneewear.report.derived import Settings, derived
from kneewear.report.specification import page_data
from kneewear.report.tables import file_names, words
from kneewear.wear.law_settings import WEAR_LAWS


@derived
def assumptions(settings: Settings) -> pd.DataFrame:
    """Assumptions of `kneewear new` that nobody has confirmed."""
    rows = [entry.model_dump() for entry in unconfirmed(settings)]
    return pd.DataFrame(rows, columns=list(Assumption.model_fields))


@derived
def settings_table(settings: Settings) -> pd.DataFrame:
    """Every setting and its value."""
    return pd.DataFrame(settings_leaves(settings).items(), columns=["Key", "Value"])


@derived
def check_ranges(settings: Settings) -> pd.DataFrame:
    """Ranges of all checks of plausibility, and which are ignored."""
    ignore = settings.get("checks", {}).get("ignore", ())
    rows = [
        (
            check.name,
            check.quantity,
            check.range.usual,
            check.range.possible,
            check.range.source,
            check.name in ignore,
        )
        for check in checks().values()
    ]
    names = ["Check", "Quantity", "No warning", "Accepted", "Source", "Silenced"]
    return pd.DataFrame(rows, columns=names)


def cited_sources(settings: Settings) -> dict[str | Reference, str]:
    """Uses of each work, or sentence on data that no work is cited for, of a run."""
    uses: dict[str | Reference, list[str]] = {}
    for use, source in _cited(settings):
        uses.setdefault(source, []).append(use)
    return {source: "; ".join(joined) for source, joined in uses.items()}


@derived
def citations(settings: Settings) -> pd.DataFrame:
    """References of the methods, laws and data of a run, each once; columns source and use."""
    rows = [
        (source.text if isinstance(source, Reference) else source, use)
        for source, use in cited_sources(settings).items()
    ]
    return pd.DataFrame(rows, columns=["source", "use"])


@derived
def motion_sources(settings: Settings) -> pd.DataFrame:
    """Source of the motion of each activity that a study simulates, in words."""
    lives = settings.get("wear", {}).get("lives", {})
    activities = settings.get("activities", {})
    named = dict.fromkeys(name for shares in lives.values() for name in shares)
    # The gait and the load that `kneewear new` assumes are in a file, too, but nobody has recorded
    # them.
    assumed = {
        name: [entry.key.split(".")[:2] for entry in unconfirmed(settings) if entry.name == name]
        for name in ("gait", "load")
    }
    rows = []
    for name in [known for known in named if known in activities]:
        block = activities[name]
        kind = block["source"]
        if ["activities", name] in assumed["gait"]:
            kind = "parametric"
        elif ["activities", name] in assumed["load"]:
            kind = "built_in_load"
        source = words(f"source_{kind}")
        files = sorted({str(path) for key, path in block.items() if key.endswith("file") and path})
        rows.append((name, source, ", ".join(files)))
    frame = pd.DataFrame(rows, columns=["activity", "source", "files"])
    texts = [f"{words(name)}: {source}" for name, source, _ in rows]
    return frame.assign(text="; ".join(texts))


def _cited(settings: Settings) -> Iterator[tuple[str, str | Reference]]:
    """Uses, each with the work or the sentence on data."""
    known = page_data("citations")
    own = known["models"].get(settings.get("model"))
    if own is not None:
        yield from _works(own["always"])
        for part in own["where"]:
            if reduce(getitem, part["key"].split("."), settings) == part["value"]:
                for use, files in part["own_data"].items():
                    yield use, known["own_data"].format(files)
                yield from _works(part["sources"])
        return
    yield from _works(known["always"])
    yield from _implant_sources(settings, known)
    if "wear" in settings:
        yield from _wear_sources(settings, known)
    for name, insert in settings.get("report", {}).get("retrievals", {}).items():
        yield f"Retrieved inserts: {name}", insert["source"]


def _works(keys: Mapping[str, str]) -> Iterator[tuple[str, Reference]]:
    """Works of the package by their uses."""
    for use, key in keys.items():
        yield use, references()[key]


def _implant_sources(
    settings: Settings, known: Mapping[str, Any]
) -> Iterator[tuple[str, str | Reference]]:
    implant = settings["implant"]
    if implant["source"] == "parametric":
        use = "Implant: built-in shape, calibrated on published results"
        yield from _works({use: known["implant"]})
    else:
        yield f"Implant: {implant['name']}", known["own_data"].format("its shape files")


def _wear_sources(
    settings: Settings, known: Mapping[str, Any]
) -> Iterator[tuple[str, str | Reference]]:
    wear = settings["wear"]
    law = wear["wear_law"]
    for reference in WEAR_LAWS[law].references:
        yield f"Wear law “{words(law)}”", reference
    yield from _works({"Creep law": known["creep_laws"][wear["creep_law"]]})
    if wear["recovery_minutes"]:
        yield from _works({"Recovery of creep": known["recovery"]})
    for name in sorted({name for shares in wear["lives"].values() for name in shares}):
        if settings["activities"][name]["source"] != "parametric":
            yield f"Activity {name}", known["own_data"].format("its motion and load files")
        elif name == "gait":
            yield from _works({f"Activity {name}: built-in curves": known["gait"]})
        else:
            yield f"Activity {name}: built-in curves", known["representative"]


def provenance_tables(provenance: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """Versions, times of the rules and input files of a run, as tables."""
    heads = {
        "versions": ("Package", "Version"),
        "inputs": ("File", "SHA-256"),
        "machine": ("Machine", "Value"),
    }
    tables = {
        name: pd.DataFrame(list(provenance[name].items()), columns=list(names))
        for name, names in heads.items()
        if provenance.get(name)
    }
    if "inputs" in tables:
        tables["inputs"]["File"] = tables["inputs"]["File"].map(file_names(provenance["inputs"]))
    if provenance.get("wall_time_s"):
        tables["wall_time_s"] = _times(provenance)
    return tables


def _times(provenance: Mapping[str, Any]) -> pd.DataFrame:
    """Elapsed and processor seconds of the rules, and of all; earlier records lack the latter."""
    columns = {"wall_time_s": "Elapsed, s", "processor_s": "Of a processor, s"}
    present = {title: provenance[name] for name, title in columns.items() if provenance.get(name)}
    frame = pd.DataFrame(present)
    frame.loc["all"] = frame.sum()
    return frame.round(2).rename_axis("Rule, all its jobs").reset_index()
