"""Random single mutations of a real motion and load: how many are noticed, and what others change.

`python -m tests.faults.meaning_mutations --count 300 --seed 20` mutates files of the data folder
(study `config/dm_measured.yaml`: one motion under two loads), reads each as a study does, and
simulates those that were not noticed: equilibria of 25 frames on 24 x 18 elements, one case of 6 mm
and 70 kg. It prints the table of the documentation.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

import kneewear
from kneewear.activity.activity import Activity
from kneewear.errors import ConvergenceError, InputDataError
from kneewear.geometry.knee import KneeModel
from kneewear.io.curves import read_activity
from kneewear.io.study_inputs import activity_files
from kneewear.settings.base import CaseStudy
from kneewear.simulation.cases import simulate_cases
from kneewear.simulation.signs import doubtful_signs, try_signs
from kneewear.wear.accumulation import accumulate_wear
from tests.faults.faulty_files import CHECKOUT

FRAMES, ROWS, COLUMNS = 25, 24, 18
KINDS = ("scale", "sign", "swap", "shift", "drop")
FACTORS = (1e-3, np.pi / 180.0, 0.1, 0.5, 0.8, 1.2, 2.0, 10.0, 180.0 / np.pi, 1e3)
OFFSETS = (2.0, 5.0, 20.0, 60.0)
NOTICED = (
    "refused",
    "warned of",
    "warned of by the trial of signs",
    "no equilibrium",
    "not noticed",
)


@dataclass(frozen=True)
class Mutation:
    """What was changed: file, kind and a description; the changed table."""

    part: str
    kind: str
    text: str
    table: pd.DataFrame


def mutate(
    part: str, table: pd.DataFrame, columns: list[str], random: np.random.Generator
) -> Mutation:
    """One random change of one column (two of a swap) of a table of curves."""
    kind, name = str(random.choice(KINDS)), str(random.choice(columns))
    values = table[name].to_numpy(dtype=float)
    changed, text = table.copy(), name
    if kind == "scale":
        factor = float(random.choice(FACTORS))
        changed[name], text = factor * values, f"{name} times {factor:.3g}"
    elif kind == "sign":
        changed[name] = -values
    elif kind == "swap":
        others = [one for one in table.columns[1:] if one != name]
        other = str(random.choice([one for one in columns if one != name] or others))
        changed[name], changed[other] = table[other], table[name]
        text = f"{name} and {other}"
    elif kind == "shift" and random.random() < 0.5:
        size = float(random.choice(OFFSETS)) * float(random.choice([-1.0, 1.0]))
        size *= 1.0 if part == "motion" else 0.05 * float(np.ptp(values))
        changed[name], text = values + size, f"{name} plus {size:.3g}"
    elif kind == "shift":
        rows = int(random.choice([5, 10, 25, 50]))
        rolled = np.roll(values[:-1], rows)
        changed[name], text = np.append(rolled, rolled[0]), f"{name} later by {rows} rows"
    else:
        count = int(random.choice([1, 3, 10, 30]))
        first = int(random.integers(1, len(table) - count))
        if random.random() < 0.5:
            changed = table.drop(index=range(first, first + count))
            text = f"{count} rows from {first} left out"
        else:
            changed.loc[first : first + count - 1, name] = 0.0
            text = f"{name} zero in {count} rows from {first}"
    return Mutation(part, kind, text, changed)


def noticed(
    files: Mapping[str, Path], read: Callable[[Mapping[str, Path]], Activity]
) -> tuple[str, Activity | None]:
    """What a study says of its curves before the first job, and the activity."""
    try:
        activity = read(files)
    except InputDataError:
        return "refused", None
    return ("warned of" if activity.warnings else "not noticed"), activity


def wear_of(knee: KneeModel, study: CaseStudy, activity: Activity) -> tuple[float, float]:
    """Wear volume of both sides, mm3, and largest depth, mm; NaN without equilibrium."""
    settings = study.simulation.model_copy(update={"analysis": "quasi_static", "frames": FRAMES})
    try:
        history = simulate_cases(knee, activity, list(study.case_list()), settings)
    except ConvergenceError:
        return np.nan, np.nan
    if not history.cases:
        return np.nan, np.nan
    life = study.wear.model_copy(update={"lives": {"gait": {activity.name: 1.0}}})
    depth = accumulate_wear({activity.name: history}, knee.grid, life).wear_depth[0, 0]
    return float((depth * knee.grid.area).sum()), float(depth.max())


def doubted(knee: KneeModel, study: CaseStudy, activity: Activity) -> bool:
    """Whether the trial of signs, a job of the study, warns of the motion."""
    settings = study.simulation.model_copy(update={"analysis": "quasi_static", "frames": FRAMES})
    cases = list(study.case_list())
    trials = try_signs(activity, lambda one: simulate_cases(knee, one, cases, settings))
    return bool(doubtful_signs(trials, activity.name))


class _Original:
    """One activity of the study before any change; it must be unsuspicious and have a wear."""

    def __init__(self, name: str, study: CaseStudy, knee: KneeModel) -> None:
        self.name, self.knee = name, study.implant.knee
        self.settings = study.simulated_activities()[name]
        files = activity_files(study, name, CHECKOUT)
        self.files = {part: Path(path) for part, path in files.items()}
        verdict, activity = noticed(self.files, self.read)
        assert verdict == "not noticed", name
        assert activity is not None
        assert not doubted(knee, study, activity), name
        self.wear = wear_of(knee, study, activity)
        assert np.isfinite(self.wear).all(), name

    def read(self, files: Mapping[str, Path]) -> Activity:
        """The activity from these files."""
        return read_activity(self.name, self.settings, files, FRAMES, self.knee)


def run(count: int, seed: int) -> pd.DataFrame:
    """Outcome of every mutation: file, kind, text, verdict, change of wear in per cent."""
    random = np.random.default_rng(seed)
    study = kneewear.load_study(
        CHECKOUT / "config/dm_measured.yaml",
        {"grid": {"rows": ROWS, "columns": COLUMNS}, "checks": {"silence": []},
         "cases": {"thickness_mm": [6], "body_mass_kg": [70]}},
    )  # fmt: skip
    assert isinstance(study, CaseStudy)
    knee = kneewear.build_knee(study)
    originals = [_Original(name, study, knee) for name in study.simulated_activities()]
    rows = []
    with TemporaryDirectory() as folder:
        for number in range(count):
            one = originals[number % len(originals)]
            part = str(random.choice(["motion", "load"], p=[0.7, 0.3]))
            table = pd.read_csv(one.files[part], comment="#")
            names = [
                column
                for key, column in getattr(one.settings, part).columns.given().items()
                if key != "percent"
            ]
            mutation = mutate(part, table, names, random)
            path = Path(folder, one.files[part].name)
            mutation.table.to_csv(path, index=False)
            verdict, activity = noticed({**one.files, part: path}, one.read)
            wear = np.nan, np.nan
            if activity is not None and verdict == "not noticed":
                wear = wear_of(knee, study, activity)
                if part == "motion" and doubted(knee, study, activity):
                    verdict = NOTICED[2]
                elif np.isnan(wear[0]):
                    verdict = NOTICED[3]
            volume, depth = (100.0 * (a / b - 1.0) for a, b in zip(wear, one.wear, strict=True))
            rows.append((part, mutation.kind, mutation.text, verdict, volume, depth))
    return pd.DataFrame(rows, columns=["file", "kind", "text", "verdict", "volume", "depth"])


def render(found: pd.DataFrame) -> str:
    """Tables of the documentation."""
    lines = [
        "| file | mutation | number | refused | warned of | warned of by the trial of signs "
        "| no equilibrium | not noticed | median and largest change of wear volume, % "
        "| of wear depth, % |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (part, kind), group in [*found.groupby(["file", "kind"]), (("both", "all"), found)]:
        counts = " | ".join(str(int((group["verdict"] == one).sum())) for one in NOTICED)
        left = group[group["verdict"] == NOTICED[4]]
        changes = " | ".join(
            f"{left[name].abs().median():.2g} and {left[name].abs().max():.2g}"
            if len(left)
            else "-"
            for name in ("volume", "depth")
        )
        lines.append(f"| {part} | {kind} | {len(group)} | {counts} | {changes} |")
    worst = found[found["verdict"] == NOTICED[4]]
    worst = worst.drop_duplicates("text")
    worst = worst.reindex(worst["volume"].abs().sort_values(ascending=False).index).head(12)
    lines += [
        "",
        "| not noticed, largest changes | wear volume, % | wear depth, % |",
        "|---|---|---|",
    ]
    lines += [
        f"| {one.file}: {one.kind}, {one.text} | {one.volume:+.2g} | {one.depth:+.2g} |"
        for one in worst.itertuples()
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=20)
    parser.add_argument("--table", type=Path, help="also write every mutation to this CSV file")
    chosen = parser.parse_args()
    outcome = run(chosen.count, chosen.seed)
    if chosen.table:
        outcome.to_csv(chosen.table, index=False)
    print(render(outcome))
