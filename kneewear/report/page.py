"""The page of a study: one self-contained HTML file."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kneewear.report import models, outcome, prediction, published, retrievals, sections
from kneewear.report.captions import FigureText, figure_text, starting_with
from kneewear.report.choices import choices
from kneewear.report.citations import citation_table
from kneewear.report.sections import Table
from kneewear.report.trade_off import trade_off_numbers
from kneewear.report.viewer import k3d_source

# Tables of `benchmarks/` by the names of their files.
BENCHMARKS = {
    "table_2_1": "Table 2-1 of Bei (2003): minimum distance and ray firing, here and printed",
    "targets": "Targets of speed and accuracy, and what was measured",
    "cost": "Seconds over cases, elements and frames",
    "distance_methods": "Times of one distance query",
    "robustness": "Random poses: every result was finite, no pressure negative",
}
BESIDE_TABLE_2_1 = (
    "Table 2-1 of Bei (2003) gives the time of an unstated number of queries on a femoral "
    "component that is not public, so that only ratios compare. Its order on single patches, ray "
    "firing slower than minimum distance, is that of a search begun nearby; begun from anywhere, "
    "minimum distance is the slower one here. Patches have as many lines as there, but are of "
    "another condyle: their deviations need not agree."
)


@dataclass(frozen=True)
class Section:
    """One chapter of the page.

    Parameters
    ----------
    anchor, title : str
        Link target and heading.
    sentences : tuple of str
        Paragraphs.
    figures : tuple of (FigureText, str)
        Words and data address of each figure.
    tables : tuple of Table
        Tables in view.
    folded : tuple of Table
        Long tables behind a click.
    tool : str
        Template of something that can be operated, empty for none; stands above the figures.
    """

    anchor: str
    title: str
    sentences: tuple[str, ...] = ()
    figures: tuple[tuple[FigureText, str], ...] = ()
    tables: tuple[Table, ...] = ()
    folded: tuple[Table, ...] = ()
    tool: str = ""


def render_page(
    study: Mapping[str, Any],
    tables: Mapping[str, pd.DataFrame],
    figures: Mapping[str, bytes],
    notes: Mapping[str, Sequence[str]],
    provenance: Mapping[str, Any] | None = None,
    view: Mapping[str, Any] | None = None,
) -> str:
    """Write the page of a study.

    Parameters
    ----------
    study : mapping
        Settings of the study as plain builtins.
    tables : mapping of name to DataFrame
        `cases`, `regression`, `correlation` and `validity`; if present also `regression_models`,
        `regression_points`, `comparison`, `regression_comparison`, `correlation_comparison`,
        `statements`, `prediction`, `variants`, `analyses`, `failures`, `fit_quality`,
        `verification`, `calibration_trade_off` (record of the calibration of the built-in implant),
        and any `benchmark_*` and `signs_*`. Tables that are empty are left out.
    figures : mapping of name to bytes
        Figures as SVG or PNG, named as by :mod:`kneewear.report.figures`.
    notes : mapping of activity name to sequence of str
        What was done to each activity's data.
    provenance : mapping, optional
        Versions, inputs, wall times and warnings.
    view : mapping, optional
        What :func:`kneewear.report.insert_view.build_insert_view` gathered; without it the page has
        no interactive view.

    Returns
    -------
    str
        HTML that needs no other file and no network.
    """
    trade_off = trade_off_numbers(
        tables["cases"], tables["regression"], tables.get("regression_models")
    )
    several = (
        _damage_section(tables, figures, view is not None),
        _regression_section(tables, figures, trade_off is not None),
        _rates_section(study, tables),
        _comparison_section(study, tables, figures),
        _prediction_section(tables),
        _validity_section(study, tables),
        _failure_section(tables),
        _dynamics_section(tables, figures),
        _methods_section(tables),
        _verification_section(tables, figures),
        _elements_section(figures),
        _activity_section(tables, figures, notes),
        _implant_section(tables, figures),
        _choices_section(study, tables),
        _benchmark_section(tables, figures),
        citations_section(study),
        provenance_section(study, provenance or {}, outcome.solved_sentence(study, tables)),
    )
    return fill_template(
        study,
        {} if view is None else {"view": view, "library": k3d_source()},
        {} if trade_off is None else {"trade_off": trade_off},
        heading="Wear of a total knee replacement",
        key_results=outcome.key_results(tables),
        key_tables=(outcome.key_table(tables["cases"]),),
        what_was_run=sections.what_was_run(study),
        chapters=[section for section in several if section is not None],
    )


def fill_template(
    study: Mapping[str, Any],
    *embedded: Mapping[str, Any],
    heading: str,
    key_results: Sequence[str],
    what_was_run: Sequence[str],
    chapters: Sequence[Section],
    key_tables: Sequence[Table] = (),
) -> str:
    """Write a page of any study.

    Parameters
    ----------
    study : mapping
        Settings of the study as plain builtins.
    *embedded : mapping
        What the tools of the sections need.
    heading : str
        What the page is about.
    key_results, what_was_run : sequence of str
        Sentences of the first section.
    chapters : sequence of Section
        The other sections.
    key_tables : sequence of Table
        Tables of the first section.

    Returns
    -------
    str
        HTML that needs no other file and no network.
    """
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        loader=PackageLoader("kneewear.report", "templates"),
    )
    environment.filters["embedded"] = _as_json
    return environment.get_template("page.html.j2").render(
        name=study["study"],
        implant=study["implant"]["name"],
        heading=heading,
        key_results=key_results,
        key_tables=key_tables,
        what_was_run=what_was_run,
        sections=chapters,
        **{name: value for part in embedded for name, value in part.items()},
    )


def _as_json(value: Any) -> Markup:
    """JSON that may stand inside a script element: nothing in it can end the element."""
    return Markup(json.dumps(value, separators=(",", ":")).replace("<", "\\u003c"))


def _damage_section(
    tables: Mapping[str, pd.DataFrame], figures: Mapping[str, bytes], viewable: bool
) -> Section | None:
    cases = tables["cases"]
    return Section(
        "damage",
        "Damage",
        (
            "Damage is wear and creep together, normal to the bearing surface. Depths stand at "
            "the place of the largest damage; areas count every element that was ever loaded; "
            "volumes include creep.",
        ),
        images(figures, "damage_maps", "wear_maps", "damage_surfaces"),
        tables=(sections.place_table(cases),),
        folded=(sections.case_table(cases),),
        tool="viewer.html.j2" if viewable else "",
    )


def _rates_section(study: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> Section:
    """Rates by side, and retrieved inserts."""
    shown = retrievals.retrieval_table(tables["cases"], study["report"]["retrievals"])
    density = study["wear"]["density_mg_per_mm3"]
    return Section(
        "rates",
        "Rates and retrievals",
        (
            "Rates are those of the whole life. Mass is lost by wear only, for creep moves "
            f"material and takes none away; density {density:g} mg/mm³.",
            "Retrieved inserts are of other designs, patients and times, and many were retrieved "
            "because they had failed: their rates say what is plausible, not what is right. "
            "Volumes are those of both sides together, thicknesses those of the side that lost "
            "more. Backside wear, which retrievals may include, is not computed.",
            "How sure such rates are, an uncertainty study of one case tells, whose page sets "
            "their prediction intervals beside the same inserts (config/monte_carlo.yaml; "
            "for the implant of subject DM config/dm_fluoroscopy.yaml with "
            "config/uncertainty/dm_monte_carlo.yaml).",
        ),
        tables=(retrievals.rates_table(tables["cases"]), *([shown] if shown.rows else [])),
    )


def _regression_section(
    tables: Mapping[str, pd.DataFrame], figures: Mapping[str, bytes], operable: bool
) -> Section:
    note = sections.regression_note(tables["cases"])
    shown: list[Table] = []
    if not tables["regression"].empty:
        shown.append(sections.regression_table(tables["regression"]))
    if _has(tables, "regression_comparison"):
        shown += sections.regression_beside_published(tables["regression_comparison"])
    compared = _has(tables, "correlation_comparison")
    correlation = tables["correlation_comparison" if compared else "correlation"]
    if not correlation.empty:
        shown.append(sections.correlation_table(correlation))
    stated = tables.get("statements", pd.DataFrame())
    if not stated.empty:
        shown.append(published.statement_table(stated))
    text = note or (
        "Each result is fitted by a₀ + a₁ × insert thickness (mm) + a₂ × body mass (kg). The last "
        "column is the insert thickness that has the effect of 10 kg less body mass; it is "
        "negative where thickness and mass act the same way. Standard errors measure how well a "
        "plane fits a computed surface, not how certain the prediction is."
    )
    left_out = " ".join(outcome.failure_sentences(tables.get("failures", pd.DataFrame())))
    known = _has(tables, "regression_models")
    enough = models.model_sentences(tables["regression_models"]) if known else ()
    if known:
        shown.insert(1, models.model_table(tables["regression_models"]))
    points = _has(tables, "regression_points")
    return Section(
        "regression",
        "Thickness and body mass",
        (text, *enough, left_out),
        images(figures, "regression_models", "regression_residuals"),
        tables=tuple(shown),
        folded=(models.point_table(tables["regression_points"]),) if points else (),
        tool="trade_off.html.j2" if operable else "",
    )


def _comparison_section(
    study: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], figures: Mapping[str, bytes]
) -> Section | None:
    if not _has(tables, "comparison"):
        return None
    standing = (
        "Implant and motion behind them are not public. Twenty constants of the built-in ones "
        "were fitted to nine of the 25 cells (10 mm at all body masses, 75 kg at all "
        "thicknesses); the other 16 were not fitted (but seen while choosing what to fit), and "
        "are counted apart. The fitted cells span 532 to 1665 kg mm of body mass times local "
        "thickness, which alone decides; the corners at 6 mm with 50 kg and 14 mm with 150 kg "
        "lie outside of it, and there the largest errors are. Average pressures come out low: an "
        "elastic foundation pressed straight down obeys maximum over mean pressure = 1 / "
        "(exponent of the maximum over "
        "load), while the published means are 5 to 20 % above that; with the source's about "
        "2500 elements the largest mean of a cycle reads about 3 % higher than here."
        if study["implant"]["source"] == "parametric"
        else "Implant and motion are others than the published ones: compare trends, not numbers."
    )
    recorded = _has(tables, "calibration_trade_off")
    record = outcome.calibration_sentences(tables["calibration_trade_off"]) if recorded else ()
    return Section(
        "comparison",
        "Comparison with published values",
        (
            "Published: Bei, Y. (2003), Dynamic simulation of knee joint contact during human "
            f"movement, dissertation, University of Florida. {standing}",
            *record,
        ),
        images(figures, "published_errors", "published_scatter", "calibration_trade_off"),
        tables=(sections.comparison_table(tables["comparison"]),),
        folded=tuple(published.published_tables(tables["comparison"])),
    )


def _prediction_section(tables: Mapping[str, pd.DataFrame]) -> Section | None:
    """The published regression for cases that were not published."""
    if not _has(tables, "prediction"):
        return None
    return Section(
        "prediction",
        "Published regression",
        tuple(prediction.prediction_sentences(tables["cases"], tables["prediction"])),
        tables=(prediction.prediction_table(tables["prediction"]),),
    )


def _validity_section(
    study: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]
) -> Section | None:
    limits = study["report"]["pressure_limit_mpa"], study["report"]["avg_pressure_limit_mpa"]
    table = sections.validity_table(tables["validity"], limits)
    return Section(
        "validity",
        "Validity",
        (
            f"The linear elastic model was compared with measured peaks of up to {limits[0]:g} "
            f"MPa, and polyethylene begins to yield at average pressures of about {limits[1]:g} "
            "MPa. Cases beyond are computed all the same, but should be trusted less.",
            outcome.validity_sentence(tables["validity"]),
            *outcome.border_sentences(tables["cases"]),
        ),
        folded=(table,) if table.rows else (),
    )


def _dynamics_section(
    tables: Mapping[str, pd.DataFrame], figures: Mapping[str, bytes]
) -> Section | None:
    """Motion, forces and areas through the cycle, and how the analyses compare."""
    text = sections.analysis_sentences(tables["analyses"]) if _has(tables, "analyses") else []
    drawn = images(figures, "motion", "forces", "areas", "analyses")
    return Section("dynamics", "Motion and forces", tuple(text), drawn) if drawn else None


def _methods_section(tables: Mapping[str, pd.DataFrame]) -> Section:
    """What other choices of method would change, and how well forces balance."""
    variants = (
        {str(name): rows for name, rows in tables["variants"].groupby("variant", sort=False)}
        if _has(tables, "variants")
        else {}
    )
    return Section(
        "methods",
        "Balance and choice of method",
        (
            outcome.balance_sentence(tables["cases"]),
            *(sections.variant_sentence(name, table) for name, table in variants.items()),
            "Pressure acts along one of two directions: that of minimum distance, for which "
            "forces derive from an elastic energy, or the normal of the surface midway between "
            "both bodies, as in the dissertation."
            if variants
            else "",
        ),
        folded=tuple(sections.variant_table(name, table) for name, table in variants.items()),
    )


def _failure_section(tables: Mapping[str, pd.DataFrame]) -> Section | None:
    if not _has(tables, "failures"):
        return None
    return Section(
        "failures",
        "Cases that failed",
        tuple(outcome.failure_sentences(tables["failures"])),
        tables=(sections.failure_table(tables["failures"]),),
    )


def _verification_section(
    tables: Mapping[str, pd.DataFrame], figures: Mapping[str, bytes]
) -> Section | None:
    if not _has(tables, "verification"):
        return None
    table = tables["verification"]
    return Section(
        "verification",
        "Closed forms",
        (
            "The engine that solved this study pressed shapes whose contact is known in closed "
            "form, on 100 by 75 elements at random places of the grid.",
            sections.verification_sentence(table),
        ),
        images(figures, "sphere_models", "refinement", "active_elements", "grid_comparison"),
        tables=(sections.verification_table(table[table["target_percent"].notna()]),),
        folded=(sections.verification_table(table[table["target_percent"].isna()]),),
    )


def _elements_section(figures: Mapping[str, bytes]) -> Section | None:
    names = (
        "element_grid", "thickness_map", "cartilage_map", "control_nets", "distance_correction",
    )  # fmt: skip
    shown = images(figures, *names)
    return Section("elements", "Surfaces, elements and thickness", (), shown) if shown else None


def _activity_section(
    tables: Mapping[str, pd.DataFrame],
    figures: Mapping[str, bytes],
    notes: Mapping[str, Sequence[str]],
) -> Section | None:
    tried = {name: tables[f"signs_{name}"] for name in notes if f"signs_{name}" in tables}
    text = (
        *(f"{name}: {note}" for name, lines in notes.items() for note in lines),
        *(str(table["verdict"].iloc[0]) for table in tried.values()),
    )
    return Section(
        "activities",
        "Activities",
        text,
        tuple(
            image
            for name in notes
            for image in images(
                figures, *(f"{kind}_{name}" for kind in ("activity", "history", "pressure"))
            )
        ),
        folded=tuple(sections.sign_table(name, table) for name, table in tried.items()),
    )


def _implant_section(
    tables: Mapping[str, pd.DataFrame], figures: Mapping[str, bytes]
) -> Section | None:
    shown = (
        (sections.plain_table("Deviation of the fitted surfaces", tables["fit_quality"]),)
        if _has(tables, "fit_quality")
        else ()
    )
    kinds = ("implant", "surface_deviation", "bearing_extraction", "distance_errors")
    drawn = images(figures, *kinds)
    return Section("implant", "Implant", (), drawn, tables=shown)


def _benchmark_section(
    tables: Mapping[str, pd.DataFrame], figures: Mapping[str, bytes]
) -> Section | None:
    """What `make benchmark` measured last, if it was run."""
    shown = [
        sections.plain_table(text, tables[f"benchmark_{name}"])
        for name, text in BENCHMARKS.items()
        if _has(tables, f"benchmark_{name}")
    ]
    if not shown:
        return None
    return Section(
        "benchmarks",
        "Benchmarks",
        (
            "Measured by make benchmark (costs by python -m benchmarks.cost, random poses by "
            "python -m benchmarks.robustness) on the machine that wrote this page. Times belong to "
            "the machine and to what else it did; ratios within one table compare.",
            BESIDE_TABLE_2_1 if _has(tables, "benchmark_table_2_1") else "",
        ),
        images(figures, "distance_methods", "cost"),
        folded=tuple(shown),
    )


def _choices_section(study: Mapping[str, Any], tables: Mapping[str, pd.DataFrame]) -> Section:
    """What a modeller chose, and how much it moves the answer."""
    text = (
        "Effects are those this study can tell: measured on its own results, or following exactly "
        "from a law that is linear in the constant. A dash means that the study did not vary the "
        "choice, not that it is without effect."
    )
    return Section("choices", "Choices of the modeller", (text,), tables=(choices(study, tables),))


def citations_section(study: Mapping[str, Any]) -> Section:
    """Sources of the methods, laws and data of this run."""
    text = "Who shows these results should cite where their methods, laws and data come from."
    return Section("citations", "Cite these", (text,), tables=(citation_table(study),))


def provenance_section(
    study: Mapping[str, Any], provenance: Mapping[str, Any], *sentences: str
) -> Section:
    """Versions, times, warnings, input files and settings."""
    kinds = (
        ("versions", "Versions", ("Package", "Version")),
        ("wall_time_s", "Time spent", ("Rule", "Seconds, all its jobs")),
        ("inputs", "Input files", ("File", "SHA-256")),
    )
    found = tuple(
        sections.mapping_table(caption, head, provenance[key])
        for key, caption, head in kinds
        if provenance.get(key)
    )
    settings = sections.mapping_table("Settings", ("Key", "Value"), dict(_leaves(study)))
    return Section(
        "provenance",
        "Provenance",
        (*sentences, *outcome.origin_sentences(provenance)),
        folded=(*found, settings),
    )


def _leaves(settings: Any, path: str = "") -> Iterable[tuple[str, str]]:
    """Settings as key paths and values."""
    if isinstance(settings, Mapping):
        for key, value in settings.items():
            yield from _leaves(value, f"{path}.{key}" if path else str(key))
    else:
        yield path, "none" if settings is None else str(settings)


def _has(tables: Mapping[str, pd.DataFrame], name: str) -> bool:
    return name in tables and not tables[name].empty


def images(figures: Mapping[str, bytes], *prefixes: str) -> tuple[tuple[FigureText, str], ...]:
    """Words and data address of the figures of some kinds."""
    return tuple(
        (figure_text(name), _data_address(figures[name]))
        for name in starting_with(figures, *prefixes)
    )


def _data_address(picture: bytes) -> str:
    """Picture as an address that holds its own data."""
    kind = "image/png" if picture.startswith(b"\x89PNG") else "image/svg+xml"
    return f"data:{kind};base64,{b64encode(picture).decode('ascii')}"
