"""What was run in words, and tables of the page, made from the tables of the study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kneewear.regression.fit import regression_shortfall
from kneewear.regression.groups import QUANTITIES
from kneewear.report.names import quantity_name, unit_name

SIGNIFICANT = 4


SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Table:
    """A table as text.

    Parameters
    ----------
    caption : str
        What the table shows.
    header : tuple of str
        Column heads with units.
    rows : tuple of tuple of str
        Cells; the first of a row is its head.
    words : bool
        True for a table of sentences rather than numbers.
    """

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: bool = False

    @property
    def text_columns(self) -> tuple[int, ...]:
        """Places of the columns that hold words, which begin at the left."""
        columns = enumerate(zip(*self.rows, strict=True))
        return tuple(place for place, cells in columns if not any(map(_is_number, cells)))


def shown(value: Any, digits: int = SIGNIFICANT) -> str:
    """Value as text: numbers with so many significant digits, absent ones as a dash."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | float | np.integer | np.floating):
        number = float(value)
        if not np.isfinite(number):
            return "–"
        text = f"{number:.{digits}g}"
        if "e" in text and abs(number) >= 1.0:
            text = f"{number:.0f}"
        factor, _, power = text.partition("e")
        times = f" × 10{str(int(power)).translate(SUPERSCRIPTS)}" if power else ""
        return factor.replace("-", "−") + times
    return str(value)


def signed(value: float, digits: int = 1) -> str:
    """Change as text: with its sign unless nothing is left of it."""
    text = f"{value:+.{digits}f}"
    return text.replace("-", "−") if float(text) else text[1:]


def _is_number(cell: str) -> bool:
    """Whether a cell begins like a number."""
    return cell.startswith(("+", "−", "–")) or cell[:1].isdigit()


def make_table(caption: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    """Table from values."""
    return Table(caption, tuple(header), tuple(tuple(shown(v) for v in row) for row in rows))


def what_was_run(study: Mapping[str, Any]) -> list[str]:
    """Plain sentences on the study."""
    cases, wear, simulation = study["cases"], study["wear"], study["simulation"]
    thickness, mass = cases["thickness_mm"], cases["body_mass_kg"]
    count = len(thickness) * len(mass)
    implant = study["implant"]
    origin = (
        "built-in surfaces" if implant["source"] == "parametric" else "surfaces fitted to scans"
    )
    share = 100.0 * simulation["medial_share"]
    line = (
        f"placed at every frame so that {share:.0f} % of it is carried medially"
        if simulation["load_line"] == "solved"
        else f"kept {simulation['fixed_load_line_mm']:g} mm medial of the insert's origin"
    )
    lives = "; ".join(
        f"{life}: " + " + ".join(f"{100 * share:g} % {name}" for name, share in shares.items())
        for life, shares in wear["lives"].items()
    )
    return [
        f"{implant['name']} ({origin}, {implant['knee']} knee; all results are shown as those of "
        "a right knee).",
        f"{count} {'case' if count == 1 else 'cases'}: insert thickness {_listed(thickness)} mm, "
        f"body mass {_listed(mass)} kg.",
        f"{_analysis_words(study)} Flexion, internal-external rotation and anterior-posterior "
        "translation were prescribed; superior-inferior and medial-lateral translation and varus "
        "followed without friction.",
        f"The load acts downwards, {line}.",
        f"Elastic foundation: {_layer_words(simulation)}, Poisson's ratio "
        f"{simulation['poisson_ratio']:g}, pressure along the "
        f"{simulation['force_direction'].replace('_', ' ')} direction.",
        f"Life of {wear['months']:g} months at {_grouped(wear['cycles_per_year'])} cycles a year "
        f"({lives}). {_wear_law(wear)}; {_creep_law(wear)}. {_surface(wear)}",
        "One wear factor and one creep constant serve both sides and all cases. Wear tells only "
        "the product of wear factor and sliding: twice the factor with half the sliding gives the "
        "same depths, so neither can be found without the other.",
    ]


def _analysis_words(study: Mapping[str, Any]) -> str:
    """How the motion was found."""
    simulation, grid, coarse = study["simulation"], study["grid"], study["coarse_grid"]
    frames = f"{simulation['frames']} frames with {grid['rows']} by {grid['columns']} elements"
    if simulation["analysis"] == "quasi_static":
        return f"Each cycle was solved as a row of equilibria at {frames} a side."
    mass, damping = (simulation["forward"][name] for name in ("mass_kg", "damping_ratio"))
    return (
        f"Each cycle was found by forward dynamics of {mass:g} kg on {coarse['rows']} by "
        f"{coarse['columns']} elements a side, with {damping:g} of critical damping, and replayed "
        f"at {frames} for the pressures. Its load line was recorded from equilibria."
    )


def _wear_law(wear: Mapping[str, Any]) -> str:
    """Name of the wear law."""
    factor = f"{shown(wear['wear_factor_mm3_per_n_m'])} mm³/(N m)"
    return {
        "archard": f"Wear follows Archard's law with {factor}",
        "unified_theory": "Wear counts the work across the principal direction only (unified "
        f"theory, Wang 2001), with {factor} on a square path",
        "directional_work": "Wear counts work along the principal direction 6.4 times less than "
        f"across it (Schwenke and Wimmer 2013), with {factor} on a square path",
        "pressure_power": "The wear factor falls with pressure (Vassiliou and Unsworth 2004)",
        "cross_shear_and_pressure": "The wear factor grows with cross-shear and falls with "
        "pressure (Kang et al. 2009)",
        "contact_area": "Wear follows contact area and cross-shear, whatever the pressure "
        "(Liu et al. 2011, Abdelgaied et al. 2011)",
    }[wear["wear_law"]]


def _creep_law(wear: Mapping[str, Any]) -> str:
    """Name of the creep law."""
    if wear["creep_law"] == "strain":
        return "creep is a strain that grows with the logarithm of time (Lee and Pienkowski 1998)"
    law = f"creep is {wear['creep_mm_per_mpa']:g} mm for each MPa of the largest pressure"
    if wear["creep_time"] == "logarithm":
        law += f" at {wear['creep_months']:g} months and grows with the logarithm of time"
    return law


def _surface(wear: Mapping[str, Any]) -> str:
    """Whether the surface follows the damage."""
    if wear["blocks"] == 1 and wear["mixing"] == "linear":
        return "One cycle on the fresh surface is extrapolated to the whole life."
    order = "mix linearly in" if wear["mixing"] == "linear" else "follow each other in"
    held = (
        " Every frame keeps the medial-lateral position it had on the fresh surface."
        if wear["surface_update"]["medial_lateral"] == "held"
        else ""
    )
    return (
        f"The surface is lowered by wear and creep between {wear['blocks']} blocks of cycles; "
        f"activities {order} each of them.{held} Pressures, areas and places by frame are those of "
        "the fresh surface."
    )


def case_table(cases: pd.DataFrame) -> Table:
    """The seven quantities of every case and side."""
    chosen = cases[cases["quantity"].isin(QUANTITIES)]
    units = dict(zip(chosen["quantity"], chosen["unit"], strict=True))
    index = [*_life(cases), "thickness_mm", "body_mass_kg", "side"]
    wide = chosen.pivot_table(index=index, columns="quantity", values="value", sort=False)
    head = [f"{quantity_name(name)} ({unit_name(units[name])})" for name in QUANTITIES]
    rows = (
        (*np.atleast_1d(np.array(place, dtype=object)), *values)
        for place, values in zip(wide.index, wide[list(QUANTITIES)].to_numpy(), strict=True)
    )
    return make_table("All cases", [*map(_plain, index), *head], rows)


def place_table(cases: pd.DataFrame) -> Table:
    """Places of damage and centre of pressure by side, as ranges over the cases."""
    names = (
        ("distance_max_damage_to_max_pressure", "Largest damage to largest pressure"),
        ("damage_location_x", "Largest damage, x (posterior)"),
        ("damage_location_z", "Largest damage, z (medial)"),
        ("centre_of_pressure_x", "Centre of pressure at the largest load, x"),
        ("centre_of_pressure_z", "Centre of pressure at the largest load, z"),
        ("centre_of_pressure_x_min", "Centre of pressure, most anterior x"),
        ("centre_of_pressure_x_max", "Centre of pressure, most posterior x"),
    )
    rows = []
    for quantity, text in names:
        for side in ("medial", "lateral"):
            values = cases.loc[
                (cases["quantity"] == quantity) & (cases["side"] == side), "value"
            ].dropna()
            if len(values):
                rows.append((text, side, values.min(), values.median(), values.max()))
    head = ["Quantity", "Side", "Smallest (mm)", "Median (mm)", "Largest (mm)"]
    return make_table("Places on the insert, over all cases", head, rows)


def regression_table(regression: pd.DataFrame) -> Table:
    """Coefficients with their standard errors."""
    head = [
        "Quantity", "Side", "Unit", "a₀ (± SE)", "a₁ per mm (± SE)", "a₂ per kg (± SE)",
        "R²", "10 kg are (mm)",
    ]  # fmt: skip
    rows = [
        (
            *_life_value(row),
            quantity_name(row["quantity"]),
            row["side"],
            unit_name(row["unit"]),
            *(
                f"{shown(row[name])} ± {shown(row[error], 2)}"
                for name, error in (
                    ("a0", "a0_se"), ("a1_per_mm", "a1_se"), ("a2_per_kg", "a2_se"),
                )
            ),
            f"{row['r2']:.3f}",
            shown(row["mm_per_10kg"], 3),
        )
        for row in regression.to_dict("records")
    ]  # fmt: skip
    return make_table(
        "Regression on insert thickness and body mass", [*_life_head(regression), *head], rows
    )


def regression_beside_published(table: pd.DataFrame) -> list[Table]:
    """Coefficients beside Table 4-1, then what needs no re-fit: R2 and the equivalence."""
    coefficients: dict[str, pd.Series[Any]] = {}
    for key, text in (("a0", "a₀"), ("a1", "a₁ per mm"), ("a2", "a₂ per kg")):
        change = 100.0 * (table[key] / table[f"refit_{key}"] - 1.0)
        coefficients |= {
            f"{text}, here": table[key],
            f"{text}, printed": table[f"{key}_published"],
            f"{text}, re-fit": table[f"refit_{key}"],
            f"{text}, here against re-fit (%)": change.map(signed),
        }
    others: dict[str, pd.Series[Any]] = {}
    for key, text in (("r2", "R²"), ("mm_per_10kg", "10 kg are (mm)")):
        printed = table[f"{key}_published"]
        others |= {
            f"{text}, here": table[key],
            f"{text}, printed": printed,
            f"{text}, difference": (table[key] - printed).map(lambda value: signed(value, 3)),
        }
    caption = "Table 4-1 of Bei (2003): here, as printed"
    return [
        _by_quantity_and_side(
            f"{caption}, and re-fitted on the printed values", table, coefficients
        ),
        _by_quantity_and_side(f"{caption}, and the difference", table, others),
    ]


def _by_quantity_and_side(
    caption: str, table: pd.DataFrame, columns: Mapping[str, pd.Series[Any]]
) -> Table:
    """Some columns of every quantity and side."""
    rows = [
        (
            *_life_value(row),
            f"{quantity_name(row['quantity'])} ({unit_name(row['unit'])})",
            row["side"],
            *(shown(value, 3) for value in values),
        )
        for row, *values in zip(table.to_dict("records"), *columns.values(), strict=True)
    ]
    return make_table(caption, [*_life_head(table), "Quantity", "Side", *columns], rows)


def regression_note(cases: pd.DataFrame) -> str:
    """Why there is no regression, or empty."""
    reason = regression_shortfall(cases)
    return f"No regression: {reason}." if reason else ""


def comparison_table(comparison: pd.DataFrame) -> Table:
    """Size of the errors by quantity, calibration cells apart."""
    rows = []
    for quantity in [*QUANTITIES, None]:
        for used in (False, True):
            chosen = comparison[comparison["calibration"] == used]
            if quantity is not None:
                chosen = chosen[chosen["quantity"] == quantity]
            error = 100.0 * chosen["relative_error"]
            beyond = 100.0 * chosen["error_beyond_rounding"]
            if len(error):
                size = error.abs()
                rows.append(
                    (
                        quantity_name(quantity) if quantity else "All",
                        "fitted" if used else "not fitted",
                        len(size),
                        signed(error.mean()),
                        f"{size.median():.1f}",
                        f"{size.quantile(0.95):.1f}",
                        f"{size.max():.1f}",
                        f"{beyond.median():.1f}",
                        f"{beyond.max():.1f}",
                    )
                )
    head = ["Quantity", "Cells", "Number", "Mean error (%)", "Median |error| (%)",
            "95 % under (%)", "Largest (%)", "Median beyond rounding (%)",
            "Largest beyond rounding (%)"]  # fmt: skip
    return make_table("Error against Tables A-1, B-1 and C-1 of Bei (2003)", head, rows)


def correlation_table(correlation: pd.DataFrame) -> Table:
    """R2 on either pressure, and that of the printed values where they are compared."""
    index = [*[name for name in ("life",) if name in correlation], "quantity", "side"]
    values = [name for name in ("r2", "r2_published") if name in correlation]
    wide = correlation.pivot_table(index=index, columns="predictor", values=values, sort=False)
    columns = [(name, value) for name in ("max_pressure", "avg_pressure") for value in values]
    rows = []
    for place, row in wide.iterrows():
        *life, quantity, side = place if isinstance(place, tuple) else (place,)
        numbers = [row.get((value, name), np.nan) for name, value in columns]
        text = ["–" if np.isnan(number) else f"{number:.3f}" for number in numbers]
        rows.append((*life, quantity_name(quantity), side, *text))
    pressures = {"max_pressure": "maximum", "avg_pressure": "average"}
    whose = {"r2": "", "r2_published": ", printed values"} if len(values) > 1 else {"r2": ""}
    head = ["Quantity", "Side"]
    head += [f"R² on {pressures[name]} pressure{whose[value]}" for name, value in columns]
    return make_table(
        "How well pressure alone tells the damage", [*_life_head(correlation), *head], rows
    )


def validity_table(validity: pd.DataFrame, limits: tuple[float, float]) -> Table:
    """Cases beyond validity."""
    flags = validity[["max_pressure_above_limit", "avg_pressure_above_limit"]].astype(bool)
    rows = [
        (
            *_life_value(row), row["thickness_mm"], row["body_mass_kg"], row["side"],
            row["max_pressure_mpa"], row["max_pressure_above_limit"],
            row["avg_pressure_mpa"], row["avg_pressure_above_limit"],
        )
        for row in validity[flags.any(axis=1)].to_dict("records")
    ]  # fmt: skip
    head = [
        "Thickness (mm)", "Body mass (kg)", "Side",
        "Maximum pressure (MPa)", f"above {limits[0]:g} MPa",
        "Average pressure (MPa)", f"above {limits[1]:g} MPa",
    ]  # fmt: skip
    return make_table("Cases beyond the model's validity", [*_life_head(validity), *head], rows)


def variant_table(name: str, table: pd.DataFrame) -> Table:
    """Effect of one choice of method on the seven quantities."""
    several = table["life"].nunique() > 1
    rows = [
        (
            *_life_value(row) * several,
            quantity_name(row["quantity"]),
            row["side"],
            unit_name(row["unit"]),
            row["value"],
            row["changed"],
            signed(100.0 * row["relative_difference"], 3),
        )
        for row in table[table["quantity"].isin(QUANTITIES)].to_dict("records")
    ]
    case = ", ".join(dict.fromkeys(table["case"]))
    head = ["Quantity", "Side", "Unit", "As configured", name.capitalize(), "Difference (%)"]
    return make_table(f"With {name}, case {case}", [*["Life"] * several, *head], rows)


def variant_sentence(name: str, table: pd.DataFrame) -> str:
    """Largest effect of one choice of method on the seven quantities."""
    chosen = table[table["quantity"].isin(QUANTITIES)]
    size = 100.0 * chosen["relative_difference"].abs()
    worst = int(size.to_numpy().argmax())
    quantity, side = (str(chosen[name].iloc[worst]) for name in ("quantity", "side"))
    return (
        f"With {name}, no quantity differs by more than {size.iloc[worst]:.2g} % "
        f"({quantity_name(quantity).lower()}, {side})."
    )


def analysis_sentences(analyses: pd.DataFrame) -> list[str]:
    """How forward dynamics and equilibria compare in stance, and why they differ."""
    stance = analyses[analyses["stance"].astype(bool)]
    pressure = stance["max_pressure_mpa_forward"] / stance["max_pressure_mpa_quasi_static"] - 1.0
    share = stance["side_share_forward"] - stance["side_share_quasi_static"]
    inertia, mismatch = 100.0 * stance["inertia"].max(), 100.0 * stance["mismatch"].max()
    beyond = int((pressure.abs() > 0.01).sum())
    return [
        "In stance (loads above 40 % of the largest) peak pressures of forward dynamics and of "
        f"equilibria differ by {100.0 * np.sqrt((pressure**2).mean()):.2g} % (root mean square), "
        f"by more than 1 % in {beyond} of {len(pressure)} values and by "
        f"{100.0 * pressure.abs().max():.2g} % at most; shares of the load by "
        f"{100.0 * share.abs().max():.2g} percentage points at most.",
        f"The component's acceleration takes up to {inertia:.2g} % of the load; the finer grid "
        f"adds up to {mismatch:.2g} % to the contact that balanced it, and moves the pressures by "
        "as much.",
    ]


def failure_table(failures: pd.DataFrame) -> Table:
    """Cases that failed, and why."""
    columns = ["case", "activity", "frame", "residual", "reason"]
    rows = failures[columns].to_numpy().tolist()
    head = ["Case", "Activity", "Frame", "Residual", "Reason"]
    return make_table("Cases that could not be simulated", head, rows)


def sign_table(name: str, table: pd.DataFrame) -> Table:
    """Contact of a measured motion as given and with signs reversed."""
    heads = {
        "reversed": "Reversed",
        "driver_force_of_load": "AP driver force / load (rms)",
        "driver_moment_of_load_mm": "IE driver moment / load (rms, mm)",
        "anterior_mm": "Contact from (mm posterior)",
        "posterior_mm": "to (mm posterior)",
        "rollback": "Rollback with flexion (r)",
        "screw_home": "Screw-home with flexion (r)",
    }
    return make_table(
        f"{name}: what reversed signs would make of the contact",
        list(heads.values()),
        table[list(heads)].to_numpy(dtype=object),
    )


def verification_sentence(table: pd.DataFrame) -> str:
    """How many closed forms are met as nearly as was aimed at."""
    aimed = table[table["target_percent"].notna()]
    met = int((aimed["worst_error_percent"] <= aimed["target_percent"]).sum())
    force = table.loc[table["quantity"] == "force", "worst_error_percent"]
    return (
        f"{met} of {len(aimed)} quantities with a target meet it at the worst place; the largest "
        f"error of a force, of any shape, is {shown(force.max(), 2)} %."
    )


def verification_table(table: pd.DataFrame) -> Table:
    """Closed forms, what the engine makes of them at the worst place, and the error."""
    rows = [
        (
            row["contact"],
            row["quantity"],
            unit_name(row["unit"]),
            row["exact"],
            row["computed"],
            shown(row["worst_error_percent"], 2),
            shown(row["target_percent"], 2),
        )
        for row in table.to_dict("records")
    ]
    head = ["Contact", "Quantity", "Unit", "Exact", "Computed", "Worst error (%)", "Target (%)"]
    return make_table("Known contacts", head, rows)


def plain_table(caption: str, table: pd.DataFrame) -> Table:
    """Any table as it stands."""
    head = [str(name).replace("_mm", " (mm)").replace("_", " ") for name in table.columns]
    return make_table(caption, head, table.to_numpy().tolist())


def mapping_table(caption: str, head: tuple[str, str], values: Mapping[str, Any]) -> Table:
    """Names and values."""
    return make_table(caption, head, values.items())


def _layer_words(simulation: Mapping[str, Any]) -> str:
    """Material and pressure law in words."""
    law = simulation["pressure_law"]
    words = [f"{law['strain']} strain"] if law["strain"] == "large" else []
    if law["material"] == "linear":
        words.insert(0, f"Young's modulus {simulation['youngs_modulus_mpa']:g} MPa")
    else:
        words.insert(0, f"material {law['material'].replace('_', ' ')} ({law['nonlinear_form']})")
    if law["cap_mpa"] is not None:
        words.append(f"perfectly plastic at {law['cap_mpa']:g} MPa")
    if law["thickness_offset_mm"]:
        words.append(f"local thickness changed by {law['thickness_offset_mm']:+g} mm")
    return ", ".join(words)


def _grouped(number: float) -> str:
    """Large whole number with its thousands apart."""
    return f"{number:,.0f}".replace(",", "\u202f")


def _listed(values: Sequence[float]) -> str:
    texts = [f"{value:g}" for value in values]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _life(cases: pd.DataFrame) -> list[str]:
    return ["life"] if cases["life"].nunique() > 1 else []


def _life_head(table: pd.DataFrame) -> list[str]:
    return ["Life"] if "life" in table else []


def _life_value(row: Mapping[Any, Any]) -> tuple[str, ...]:
    return (str(row["life"]),) if "life" in row else ()


def _plain(column: str) -> str:
    names = {"thickness_mm": "Thickness (mm)", "body_mass_kg": "Body mass (kg)"}
    return names.get(column, column.capitalize())
