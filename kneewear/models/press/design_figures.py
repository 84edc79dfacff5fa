"""Figures of studies of designs: contact over flexion, worst cases, and laxity loops."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from kneewear.base.sides import SIDES
from kneewear.geometry.implant import Implant
from kneewear.models.press.static_figures import draw_elements, draw_plateau
from kneewear.models.press.tables import first_condition
from kneewear.report import style
from kneewear.report.tables import quantity_name, rows_with, words

OVER_FLEXION = {"contact_area": "mm²", "avg_pressure": "MPa", "max_pressure": "MPa"}
# Of the coefficients of friction.
LINES = ("-", "--", "-.", ":")


def draw_characterisation(
    tables: Mapping[str, pd.DataFrame], contact: xr.Dataset, implants: Mapping[str, Implant]
) -> dict[str, Figure]:
    """Figures of a contact characterisation.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Tables `contact` and `worst_cases`.
    contact : Dataset
        As of :func:`kneewear.motion.press_results.join_cases`.
    implants : mapping of str to Implant
        Implant of each design.
    """
    return {
        "contact_over_flexion": draw_contact_over_flexion(with_design(tables["contact"])),
        "worst_case_pressure": draw_worst_cases(tables["worst_cases"], implants, contact),
    }


def with_design(table: pd.DataFrame) -> pd.DataFrame:
    """Table with a column of designs, also where there is only one."""
    return table if "design" in table else table.assign(design="design")


@style.styled
def draw_contact_over_flexion(contact: pd.DataFrame) -> Figure:
    """Area and pressures of each design and side: the first condition, and the range of all."""
    sides = [side for side in SIDES if side in set(contact["side"])]
    figure, panels = style.new_figure(
        2.8 * len(sides), len(sides), len(OVER_FLEXION), sharex=True, sharey="col"
    )
    first = first_condition(contact, "design")
    for row, side in zip(panels, sides, strict=True):
        for axes, (quantity, unit) in zip(row, OVER_FLEXION.items(), strict=True):
            for number, design in enumerate(dict.fromkeys(contact["design"])):
                colour = style.SERIES[number % len(style.SERIES)]
                part = rows_with(contact, design=design, side=side, quantity=quantity)
                limits = part.groupby("flexion_deg")["value"].agg(["min", "max"])
                axes.fill_between(
                    limits.index, limits["min"], limits["max"], color=colour, alpha=0.15, lw=0
                )
                chosen = rows_with(part, **first)
                axes.plot(
                    chosen["flexion_deg"],
                    chosen["value"],
                    "o-",
                    ms=3.5,
                    color=colour,
                    label=words(design),
                )
            axes.set_title(f"{quantity_name(quantity)}, {side}")
            axes.set_ylabel(f"{quantity_name(quantity)} ({unit})")
    for axes in panels[-1]:
        axes.set_xlabel("flexion (deg)")
        axes.set_ylim(bottom=0.0)
    style.share_legend(figure, panels[0, 0], 6, below=True)
    return figure


@style.styled
def draw_worst_cases(
    worst: pd.DataFrame, implants: Mapping[str, Implant], contact: xr.Dataset
) -> Figure:
    """Pressure of each design under the condition of its largest one."""
    rows = rows_with(worst, quantity="max_pressure").to_dict("records")
    figure, panels = style.panels_in_rows(len(rows), 2, 2.8)
    top = max(float(row["value"]) for row in rows)
    for axes, row in zip(panels, rows, strict=True):
        design = str(row["design"])
        for side in implants[design].plateaus:
            draw_plateau(axes, implants[design], side)
            cells = draw_elements(axes, contact, row["case"], side, top)
        axes.autoscale_view()
        style.show_plan(axes)
        share = f"{100 * row['medial_share']:g} % medial, " if "medial_share" in row else ""
        axes.set_title(
            f"{words(design)}: {row['value']:.1f} MPa {row['side']}\n"
            f"{row['flexion_deg']:g}°, {row['load_n']:g} N, {share}"
            f"{row['tibial_external_rotation_deg']:g}° external"
        )
    figure.colorbar(cells, ax=panels, label="pressure (MPa)", shrink=0.7, pad=0.01)
    return figure


def draw_laxity(loops: pd.DataFrame, laxity: pd.DataFrame) -> dict[str, Figure]:
    """Figures of a laxity study; only of tests that vary by design, friction and flexion."""
    return {"laxity_loops": draw_loops(with_design(loops), with_design(laxity))}


@style.styled
def draw_loops(loops: pd.DataFrame, laxity: pd.DataFrame) -> Figure:
    """Loops, one row of panels per test and one column per flexion; crosses mark subluxations."""
    tests, flexions = (list(dict.fromkeys(loops[key])) for key in ("test", "flexion_deg"))
    frictions = sorted(set(loops["friction"]))
    designs = list(dict.fromkeys(loops["design"]))
    figure, panels = style.new_figure(
        1.9 * len(tests) + 0.5, len(tests), len(flexions), sharey="row"
    )
    for row, test in zip(panels, tests, strict=True):
        for axes, flexion in zip(row, flexions, strict=True):
            part = rows_with(loops, test=test, flexion_deg=flexion)
            ends = rows_with(laxity, test=test, flexion_deg=flexion)
            for (design, friction), loop in part.groupby(["design", "friction"], sort=False):
                number = designs.index(str(design)) % len(style.SERIES)
                look = LINES[frictions.index(friction) % len(LINES)]
                label = f"{words(str(design))}, friction {friction:g}"
                axes.plot(
                    loop["displacement"],
                    loop["load"],
                    look,
                    color=style.SERIES[number],
                    lw=1.1,
                    label=label,
                )
                end = rows_with(ends, design=design, friction=friction)["subluxation_at"].item()
                at = loop[loop["displacement"] == end]
                if len(at):
                    axes.plot(end, at["load"].iloc[0], "x", color=style.SERIES[number], ms=6)
            axes.set_xlabel(f"displacement ({part['displacement_unit'].iloc[0]})")
            axes.set_title(f"{flexion:g}°")
        row[0].set_ylabel(f"{test.replace('_', '-')}\n({part['load_unit'].iloc[0]})")
    style.share_legend(figure, panels[0, 0], 4, below=True)
    return figure
