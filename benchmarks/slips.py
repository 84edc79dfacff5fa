"""One slip of one number at a time, and which of them change a result without a word.

`python -m benchmarks.slips [key ...]` gives every number of the built-in wear study, or those whose
keys start with the given texts, each usual slip of its unit (`kneewear/base/slips.csv`). A slip
that no check of settings and files notices is computed: one case on few elements, by equilibria
without tables of distances. Where a result changes by more than 10 %, the motion is tried on the
bearing, as `check` does. It writes results/benchmarks/slips.csv, one row for each number and slip,
and prints the numbers of which a slip stays silent. A list of numbers is judged by its first one.

A change that is a legitimate choice, such as half of the months, is silent and stays so.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

import kneewear as kw
from kneewear import default_settings_file
from kneewear.base.files import Location
from kneewear.base.keys import range_at
from kneewear.base.ranges import Slip, slips
from kneewear.base.types import entries_of, numbers_in
from kneewear.errors import InputDataError, KneewearError
from kneewear.io.documents import save_table
from kneewear.study.consistency import contact_of, geometry_of
from kneewear.study.files import check_inputs
from kneewear.study.settings import read_study
from kneewear.study.study import CaseStudy
from kneewear.study.trials import build_trial

OUTPUT = Path("results/benchmarks/slips.csv")
# Blocks whose numbers are settings of the computation, and laws that the study does not use.
LEFT_OUT = ("grid", "coarse_grid", "table", "report", "seed", "wear.laws", "activities.stairs")
ROOT = Path(__file__).parents[1]
CHANGE = 0.10
RESULTS = ("wear_volume", "max_wear_depth", "damage_volume", "max_pressure", "mass_loss")
# One case, enough elements for some per cent.
SMALL: Mapping[str, Any] = {
    "grid": {"rows": 20, "columns": 15},
    "coarse_grid": {"rows": 20, "columns": 15},
    "table": {"u_points": 41, "v_points": 21},
    "variables": {"thickness_mm": [10], "body_mass_kg": [75]},
    "simulation": {"frames": 24, "analysis": "quasi_static", "distance": "exact"},
    "analyses": {"regression": None},
}
COLUMNS = ["key", "unit", "slip", "given", "silent", "check", "severity", "change"]


def given_with(slip: Slip, right: float) -> float | None:
    """Number that somebody gives whose right value has the slip; None if no number has it."""
    if slip.how == "times":
        return right / slip.factor
    if slip.how == "less":
        return slip.factor - right
    return slip.factor / right if right else None


def numbers(study: CaseStudy) -> Iterator[tuple[Location, float]]:
    """Yield location and value of the first number of every quantity that is not zero."""

    def inside(block: Any, at: Location) -> Iterator[tuple[Location, float]]:
        for key, value in entries_of(block):
            here = (*at, key)
            if isinstance(value, int | float) and not isinstance(value, bool):
                yield here, float(value)
            else:
                yield from inside(value, here)

    seen = set()
    for at, value in inside(study, ()):
        span = range_at(type(study), at)
        # Two entries of a list are one number, two bumps are not the same curve.
        name = ".".join(str(step) for step in at if not isinstance(step, int))
        if span is not None and value and name not in seen and list(numbers_in(value)):
            seen.add(name)
            yield at, value


def changed(settings: dict[str, Any], at: Location, value: float) -> dict[str, Any]:
    """Settings with another value at a location; whole numbers stay whole."""
    settings = deepcopy(settings)
    block: Any = settings
    for step in at[:-1]:
        block = block[step]
    whole = isinstance(block[at[-1]], int) and float(value).is_integer()
    block[at[-1]] = int(value) if whole else value
    return settings


def _contact(study: CaseStudy) -> str:
    """Fingerprint of what the contact of a study depends on."""
    return contact_of(study, tuple(study.simulated_activities()))


@dataclass
class Computed:
    """Results of studies, each knee and each cycle computed once."""

    knees: dict[str, Any] = field(default_factory=dict)
    cycles: dict[str, Any] = field(default_factory=dict)

    def results(self, study: CaseStudy) -> pd.Series:
        """Results of both sides of the only case."""
        shape, contact = geometry_of(study), _contact(study)
        if shape not in self.knees:
            self.knees = {shape: kw.build_knee(study), **dict(list(self.knees.items())[:1])}
        if contact not in self.cycles:
            self.cycles = {contact: kw.simulate(self.knees[shape], study)} | dict(
                list(self.cycles.items())[-1:]
            )
        cycles = self.cycles[contact]
        table = kw.tabulate_cases(cycles, kw.accumulate_wear(cycles, study), study)
        chosen = table[table["quantity"].isin(RESULTS)]
        return chosen.set_index(["side", "quantity"])["value"].astype(float)


def judged(study: CaseStudy) -> dict[str, str]:
    """Severities of the findings about settings and files, by check."""
    return {item.check: item.severity for item in check_inputs(study, ROOT)}


def tried(study: CaseStudy) -> dict[str, str]:
    """Verdicts of the trial of the motions on the bearing, by quantity."""
    trial = build_trial(study, ROOT, {})
    tables = [trial.place(each, advises=False).table for each in trial.activities]
    return {
        f"placement: {row.quantity}": str(row.verdict)
        for table in tables
        for row in table.itertuples()
        if row.verdict != "pass"
    }


class Judge:
    """A study whose numbers get slips, with its own findings and results."""

    def __init__(self) -> None:
        self.base = read_study(SMALL, defaults=default_settings_file())
        self.settings, self._computed = self.base.model_dump(mode="json"), Computed()
        self._own = judged(self.base) | tried(self.base)
        self._right = self._computed.results(self.base)

    def row(self, at: Location, given: float) -> dict[str, Any]:
        """First finding of a number at a location, and the change of results if there is none."""
        change, noticed = 0.0, dict[str, str]()
        try:
            study = read_study(changed(self.settings, at, given), defaults=default_settings_file())
            noticed = self._further(judged(study))
            if not noticed:
                results = self._computed.results(study)
                change = float((results / self._right - 1.0).abs().max())
            # Wear alone moves nothing.
            if change > CHANGE and _contact(study) != _contact(self.base):
                noticed = self._further(tried(study))
        except InputDataError as error:
            noticed = {error.finding.check or "refused": "refuse"}
        except (KneewearError, ValueError):
            noticed = {"not computed": "refuse"}
        check, severity = next(iter(noticed.items()), ("", ""))
        silent = change > CHANGE and not noticed
        return {"change": change, "check": check, "severity": severity, "silent": silent}

    def _further(self, noticed: Mapping[str, str]) -> dict[str, str]:
        return {name: verdict for name, verdict in noticed.items() if name not in self._own}


def main(chosen: tuple[str, ...]) -> int:
    """Judge and compute every slip."""
    logging.disable(logging.CRITICAL)
    judge = Judge()
    rows: list[dict[str, Any]] = []
    for at, value in numbers(judge.base):
        key = ".".join(map(str, at))
        if key.startswith(LEFT_OUT) or (chosen and not key.startswith(chosen)):
            continue
        _, span = range_at(type(judge.base), at)
        for slip in slips(span.unit):
            given = given_with(slip, value)
            if given is not None and given != value:
                row = {"key": key, "unit": span.unit, "slip": slip.name, "given": given}
                rows.append(row | judge.row(at, given))
                if rows[-1]["silent"]:
                    print(f"{key}: {given:g} {slip.name}, {100 * rows[-1]['change']:.0f} %")
        OUTPUT.parent.mkdir(parents=True, exist_ok=True)
        save_table(pd.DataFrame(rows, columns=COLUMNS), OUTPUT)
    table = pd.DataFrame(rows, columns=COLUMNS)
    matters = table[(table["check"] != "") | (table["change"] > CHANGE)]
    print(
        f"{table['key'].nunique()} numbers, {len(table)} slips, {len(matters)} noticed or of more "
        f"than {100 * CHANGE:g} %, {int(table['silent'].sum())} of them silent"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(tuple(sys.argv[1:])))
