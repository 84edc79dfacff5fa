"""The page of a static study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from kneewear.report.element_study import PUBLISHED_BOUNDS, convergence_errors
from kneewear.report.names import quantity_name
from kneewear.report.page import Section, fill_template, images, provenance_section
from kneewear.report.position_scan import scan_sentences, scans_positions
from kneewear.report.sections import Table, make_table, plain_table, shown
from kneewear.sides import POST, SIDES

CASE = ["material", "flexion_deg", "posterior_mm", "load_n"]
FORMS = {
    "published": "its tangent modulus taken as a secant one, as published",
    "integrated": "its stress-strain curve itself",
}


def render_static_page(
    study: Mapping[str, Any],
    tables: Mapping[str, pd.DataFrame],
    figures: Mapping[str, bytes],
    provenance: Mapping[str, Any],
) -> str:
    """Write the page of a static study.

    Parameters
    ----------
    study : mapping
        Settings of the study as plain builtins.
    tables : mapping of name to DataFrame
        `static`, `material_comparison` and `fit_quality`; `element_convergence` and
        `grid_sensitivity` where elements were studied.
    figures : mapping of name to bytes
        Figures as SVG or PNG.
    provenance : mapping
        Versions, inputs and wall times.

    Returns
    -------
    str
        HTML that needs no other file and no network.
    """
    several = (
        _pressure_section(tables, figures),
        _material_section(study, tables, figures),
        _element_section(tables, figures),
        Section(
            "implant",
            "Implant",
            tables=(plain_table("Deviation of the surfaces", tables["fit_quality"]),),
        ),
        provenance_section(study, provenance),
    )
    return fill_template(
        study,
        heading="Static contact of a knee",
        key_results=list(key_results(tables)),
        what_was_run=what_was_run(study),
        chapters=[section for section in several if section is not None],
    )


def key_results(tables: Mapping[str, pd.DataFrame]) -> Iterable[str]:
    """Sentences that tell the outcome."""
    static = tables["static"]
    bearing = static[static["side"].isin(SIDES)]
    for material, own in bearing.groupby("material", sort=False):
        peaks = own.loc[own["quantity"] == "max_pressure", "value"]
        means = own.loc[own["quantity"] == "avg_pressure", "value"]
        yield (
            f"{_words(str(material)).capitalize()} material: maximum pressure "
            f"{peaks.min():.1f} to {peaks.max():.1f} MPa, average pressure {means.min():.1f} to "
            f"{means.max():.1f} MPa."
        )
    yield from _post_sentences(static)
    if scans_positions(static):
        yield from scan_sentences(static)
    yield _balance_sentence(static)
    yield from material_sentences(tables["material_comparison"])
    if "element_convergence" in tables:
        yield from element_sentences(tables["element_convergence"])


def what_was_run(study: Mapping[str, Any]) -> list[str]:
    """Plain sentences on the study."""
    static, simulation = study["static"], study["simulation"]
    free = ", ".join(name.replace("_", "-") for name in static["free"])
    place = (
        "set down"
        if "anterior_posterior" in static["free"]
        else f"held {_listed(static['posterior_mm'])} mm behind the insert's origin"
    )
    elements = (
        f"about {static['active_elements']} loaded elements a pair in every case"
        if static["active_elements"] is not None
        else f"{study['grid']['rows']} by {study['grid']['columns']} elements a pair"
    )
    return [
        f"{study['implant']['name']}, {_thickness(study['implant'])}, "
        f"{study['implant']['knee']} knee (all results are shown as those of a right knee).",
        f"Flexion {_listed(static['flexion_deg'])}°; the femur {place}; loads "
        f"{_listed(static['load_n'])} N straight down, {static['load_line_mm']:g} mm medial of the "
        "insert's origin.",
        f"Free: {free}. All other coordinates are held. No friction.",
        f"Elastic foundation on {elements}; linear material: Young's modulus "
        f"{simulation['youngs_modulus_mpa']:g} MPa, Poisson's ratio "
        f"{simulation['poisson_ratio']:g}.",
        *(
            f"{_words(name).capitalize()}: {_law(law)}."
            for name, law in static["materials"].items()
        ),
    ]


def material_sentences(comparison: pd.DataFrame) -> Iterable[str]:
    """How the materials' pressures differ, beside what is published where there is something."""
    for _, row in comparison[comparison["load_n"].isna()].iterrows():
        beside = (
            f" (published: {row['published_mean_mpa']:+.2f} MPa)"
            if pd.notna(row.get("published_mean_mpa"))
            else ""
        )
        yield (
            f"{quantity_name(row['quantity'])}, {_words(row['material'])} against "
            f"{_words(row['reference'])}: {row['mean_mpa']:+.2f} MPa on average{beside}, lower in "
            f"{row['cases_below']} of {row['cases']} cases."
        )
        if row["quantity"] == "max_pressure" and pd.notna(row.get("measured_least_mpa")):
            yield _below_measured(comparison, row)


def element_sentences(table: pd.DataFrame) -> Iterable[str]:
    """Errors with few elements beside the published bounds."""
    errors = convergence_errors(table)
    for wanted, bound in PUBLISHED_BOUNDS:
        found = errors[errors["wanted"] == wanted]
        if not found.empty:
            parts = ", ".join(
                f"{quantity_name(row['quantity'].removesuffix('_mpa')).lower()} "
                f"{row['median_percent']:.1f} % (at most {row['greatest_percent']:.1f} %)"
                for _, row in found.iterrows()
            )
            yield (
                f"Median error over random places of about {wanted} loaded elements: {parts}; "
                f"published: at most {bound:g} %."
            )


def _pressure_section(tables: Mapping[str, pd.DataFrame], figures: Mapping[str, bytes]) -> Section:
    return Section(
        "pressure",
        "Poses and pressures",
        (
            "Each case was settled from above the insert, independently of the others. Forces on "
            "the insert and pressures of every case stand in the table.",
        ),
        images(figures, "position_scan", "static_pressure", "static_sections"),
        folded=(_case_table(tables["static"]),),
    )


def _material_section(
    study: Mapping[str, Any], tables: Mapping[str, pd.DataFrame], figures: Mapping[str, bytes]
) -> Section | None:
    comparison = tables["material_comparison"]
    if comparison.empty:
        return None
    published = (
        "The source (Bei 2003) compared its model with measurements that stand in a figure only, "
        "and its implant is not public: shapes and signs are compared, not values. What can be "
        "compared is the difference between the two published materials, for the measurements "
        "drop out of it. Of its standard deviation only limits are known."
        if "published_mean_mpa" in comparison
        else ""
    )
    forms = {law["nonlinear_form"] for law in study["static"]["materials"].values()}
    softer = (
        "The published form puts the tangent modulus where the law of the layer asks for a secant "
        "one; at an exponent of 3 its cubic term is three times too soft, so that it lies below "
        "the integrated form everywhere."
        if len(forms) > 1
        else ""
    )
    return Section(
        "materials",
        "Materials",
        (published, softer),
        images(figures, "material_comparison"),
        tables=(_comparison_table(comparison),),
    )


def _element_section(
    tables: Mapping[str, pd.DataFrame], figures: Mapping[str, bytes]
) -> Section | None:
    if "element_convergence" not in tables:
        return None
    errors = convergence_errors(tables["element_convergence"])
    return Section(
        "elements",
        "Elements",
        (
            "Pressures are taken at the middle of elements, so their largest and mean values "
            "depend on where the patch meets the elements; sums over elements, force and torque, "
            "depend far less on it.",
        ),
        images(figures, "element_convergence", "grid_sensitivity"),
        tables=(_error_table(errors),),
    )


def _case_table(static: pd.DataFrame) -> Table:
    """Pressures and forces, one row a case and side."""
    quantities = {
        "force_posterior": "force, posterior (N)",
        "force_superior": "force, superior (N)",
        "max_pressure": "maximum pressure (MPa)",
        "avg_pressure": "average pressure (MPa)",
        "contact_area": "area (mm²)",
        "active_elements": "loaded elements",
    }
    own = static[static["quantity"].isin(quantities)]
    wide = own.pivot_table(
        index=[*CASE, "side"], columns="quantity", values="value", sort=False
    ).reset_index()
    wide = wide[wide["active_elements"] > 0]
    head = ("material", "flexion (°)", "posterior (mm)", "load (N)", "side")
    rows = wide[[*CASE, "side", *quantities]].to_numpy().tolist()
    return make_table("Every case", (*head, *quantities.values()), rows)


def _comparison_table(comparison: pd.DataFrame) -> Table:
    """Differences of the materials."""
    columns = {
        "quantity": "quantity",
        "material": "material",
        "reference": "against",
        "load_n": "load (N)",
        "mean_mpa": "mean (MPa)",
        "sd_mpa": "standard deviation (MPa)",
        "rms_mpa": "root mean square (MPa)",
        "cases_below": "cases below",
        "cases": "cases",
        "published_mean_mpa": "published mean (MPa)",
        "published_sd_least_mpa": "published deviation, least (MPa)",
        "published_sd_greatest_mpa": "greatest (MPa)",
    }
    chosen = {name: head for name, head in columns.items() if name in comparison}
    table = comparison[list(chosen)].copy()
    table["quantity"] = [quantity_name(name) for name in table["quantity"]]
    table["load_n"] = ["all" if pd.isna(load) else shown(load) for load in table["load_n"]]
    return make_table(
        "Differences of the materials' pressures", list(chosen.values()), table.to_numpy().tolist()
    )


def _error_table(errors: pd.DataFrame) -> Table:
    """Errors by number of loaded elements."""
    table = errors.assign(
        quantity=[quantity_name(name.removesuffix("_mpa")) for name in errors["quantity"]]
    )
    head = ("quantity", "wanted", "loaded elements", "median error (%)", "greatest error (%)")
    caption = "Errors by number of loaded elements"
    return make_table(caption, head, table.to_numpy().tolist())


def _below_measured(comparison: pd.DataFrame, whole: pd.Series) -> str:
    """At which loads a material's peaks lie below all measurements, going by mean errors."""
    own = comparison[
        (comparison["quantity"] == whole["quantity"])
        & (comparison["material"] == whole["material"])
        & comparison["load_n"].notna()
    ]
    below = own.loc[own["mean_mpa"] < whole["measured_least_mpa"], "load_n"]
    loads = f"at {_listed(below)} N" if len(below) else "at no load"
    return (
        f"Measured peaks lay {whole['measured_least_mpa']:+.1f} (with averaging) to "
        f"{whole['measured_greatest_mpa']:+.1f} MPa (without) from the linear material's, on "
        f"average: by this {_words(whole['material'])} lies below them {loads} (published of the "
        "nonlinear material: everywhere but at 750 N)."
    )


def _post_sentences(static: pd.DataFrame) -> Iterable[str]:
    """Where cam and post touch, if there are any."""
    post = static[(static["side"] == POST) & (static["quantity"] == "force_posterior")]
    if post.empty:
        return
    touched = post[post["value"] != 0.0]
    if touched.empty:
        yield "Cam and post touch nowhere."
        return
    angles = _listed(sorted(set(touched["flexion_deg"])))
    force = touched["value"].abs()
    yield (
        f"Cam and post touch at {angles}° only; the post carries {force.min():.0f} to "
        f"{force.max():.0f} N towards anterior."
    )


def _balance_sentence(static: pd.DataFrame) -> str:
    """How well contact balances the load."""
    worst = static.loc[static["quantity"] == "residual", "value"].max()
    return f"Contact balances the load along all free coordinates within {worst:.1e} of it."


def _law(law: Mapping[str, Any]) -> str:
    """A pressure law in words."""
    strain = f"{law['strain']} strain"
    if law["material"] == "linear":
        return f"linear, {strain}"
    return f"{law['material'].replace('_', ' ')}, {FORMS[law['nonlinear_form']]}, {strain}"


def _thickness(implant: Mapping[str, Any]) -> str:
    """How thick the layer is, or both layers are."""
    if implant["source"] != "natural":
        return f"{implant['nominal_thickness_mm']:g} mm"
    natural = implant["natural"]
    tibia, femur = (
        f"{natural[key][0]:g}-{natural[key][1]:g} mm"
        for key in ("tibial_thickness_mm", "femoral_thickness_mm")
    )
    return f"cartilage clipped to {tibia} on the tibia and {femur} on the femur"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)
