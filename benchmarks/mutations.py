"""Share of wrong inputs that change wear without a finding, by door.

`python -m benchmarks.mutations` makes 500 seeded mutations of the settings, the motion and the load
of a study, and of a table of ligaments: other units, reversed signs, exchanged or shifted columns,
missing and repeated rows, and slips of a digit or a decimal point. Each is checked as before a
study. One that passes without a finding is computed on few elements and frames, with the trial of
its motion on the bearing, which a study shows too. It is silent where that passes and the wear
volume (of ligaments, the sum of tensions at the start) changes by more than a tenth. Numbers by
door are in results/benchmarks/mutations.csv, every mutation is in mutation_list.csv beside it. Each
seed takes about ten minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

import kneewear
from kneewear.base.files import value_at
from kneewear.base.keys import range_at
from kneewear.base.variables import replace_at
from kneewear.errors import Finding, InputDataError, KneewearError
from kneewear.geometry.knee import KneeModel
from kneewear.io import shapes
from kneewear.io.documents import save_table
from kneewear.knees import inputs as multibody_inputs
from kneewear.knees.inputs import load_parts, start_poses
from kneewear.motion.placement import check_placement
from kneewear.study import files as study_inputs
from kneewear.study.files import FileReader, check_inputs, load_shapes, model_files
from kneewear.study.inputs import CaseInputs, exact_knee
from kneewear.study.settings import validate_study
from kneewear.study.study import Study, WearStudy
from kneewear.wear.accumulation import accumulate_wear

FOLDER = Path("results/benchmarks")
COUNT = 500
SEED = 1
VERDICTS = ("refused", "warned", "harmless", "unsolved", "silent")
# Changes of wear that matter.
LIMIT = 0.1
# Units, radians and slips of the decimal point; a sign.
FACTORS = (1e-3, 1e-2, 0.1, 10.0, 100.0, 1e3, np.pi / 180.0, 180.0 / np.pi, -1.0, 25.4, 4.448)
SMALL: dict[str, Any] = {
    "grid": {"rows": 24, "columns": 18},
    "coarse_grid": {"rows": 24, "columns": 18},
    "simulation": {"analysis": "quasi_static", "frames": 24, "distance": "exact"},
    "variables": {"thickness_mm": [8], "body_mass_kg": [75]},
    "report": {"compare_with_published": False, "spread": {"samples": 0}},
    "wear": {"blocks": 1, "mixing": "linear"},
}
# Real files where there are some, the example's else; study, activity, and ligaments.
REAL = "config/evidence/dm_measured.yaml", "measured_force", "config/evidence/tkr_soft_tissue.yaml"
EXAMPLE = "config/example_meshes.yaml", "example_gait", None
# Knees by the settings of their shapes and elements.
_KNEES: dict[str, KneeModel] = {}
# Blocks whose numbers are of the knee and not of the computation.
BLOCKS = ("implant", "simulation", "wear", "activities", "insert", "patient")


@dataclass(frozen=True)
class Outcome:
    """Outcome of a mutation: refused, warned, harmless, unsolved or silent."""

    door: str
    mutation: str
    verdict: str
    change: float


def main() -> None:
    """Mutate, write the table and print the share of silent changes by door."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, nargs="+", default=[SEED])
    chosen = parser.parse_args()
    tables = [pd.DataFrame(run(chosen.count, seed)).assign(seed=seed) for seed in chosen.seed]
    every = pd.concat(tables)
    save_table(every, FOLDER / "mutation_list.csv")
    counts = pd.concat(map(count_verdicts, tables))
    save_table(counts, FOLDER / "mutations.csv")
    print(counts.to_string(index=False))
    print(every[every["verdict"] == "silent"].to_string(index=False))


def count_verdicts(table: pd.DataFrame) -> pd.DataFrame:
    """Mutations of one seed by door and by verdict, and the share of the silent ones."""
    counts = pd.crosstab(table["door"], table["verdict"]).reindex(columns=VERDICTS, fill_value=0)
    counts.loc["all"] = counts.sum()
    counts.insert(0, "seed", table["seed"].iloc[0])
    counts.insert(1, "mutations", counts[list(VERDICTS)].sum(axis=1))
    share = (100.0 * counts["silent"] / counts["mutations"]).round(2)
    return counts.assign(silent_percent=share).reset_index()


def run(count: int, seed: int, data: str | Path = "../shared/data") -> Iterator[Outcome]:
    """Yield the outcome of seeded mutations, evenly over the doors."""
    path, activity, ligaments = REAL if Path(data).is_dir() else EXAMPLE
    life = {"wear": {"lives": {"one": {activity: 1.0}, "gait": None}}}
    base = kneewear.load_study(path, SMALL)
    others = dict.fromkeys(set(base.wear.lives) - {"one"})
    base = kneewear.load_study(path, SMALL, life, {"wear": {"lives": others}})
    expected, _ = computed(base)
    doors: dict[str, Callable[[Random], Outcome]] = {
        "settings": lambda one: mutate_settings(base, expected, one),
        "motion": lambda one: mutate_file(base, activity, "motion", expected, one),
        "load": lambda one: mutate_file(base, activity, "load", expected, one),
    }
    if ligaments is not None:
        knee = kneewear.load_study(ligaments)
        doors["ligaments"] = lambda one: mutate_ligaments(knee, one)
    with files_read_once():
        for number in range(count):
            # Of its own: one mutation can be made again alone.
            random = Random(f"{seed} {number}")
            yield list(doors.values())[number % len(doors)](random)


@contextmanager
def files_read_once() -> Iterator[None]:
    """Read and judge the meshes, which no mutation changes, once for all studies of one implant."""
    read, check = cache(shapes.load_shape), study_inputs._check_implant
    judged_before: dict[str, tuple[Finding, ...]] = {}

    def check_once(study: Study, root: str | Path) -> tuple[Finding, ...]:
        key = f"{study.implant.model_dump_json()} {study.thinnest_mm}"
        if key not in judged_before:
            judged_before[key] = check(study, root)
        return judged_before[key]

    with (
        patch.object(shapes, "load_shape", read),
        patch.object(multibody_inputs, "load_shape", read),
        patch.object(study_inputs, "_check_implant", check_once),
    ):
        yield


def computed(study: WearStudy) -> tuple[float, bool]:
    """Wear volume of the first case, mm3, and whether the motions pass their trial."""
    reader = FileReader(Path())
    knee = _knee(study)
    activities = {name: reader.activity(study, name) for name in study.simulated_activities()}
    inputs = CaseInputs(study, knee, activities, exact=True, reader=reader)
    damage = accumulate_wear(inputs.cycles(study), knee.grid, study.wear)
    cases = study.case_list()
    trials = (
        check_placement(knee, activity, cases, study.simulation) for activity in activities.values()
    )
    passed = all(trial.verdict == "pass" for trial in trials)
    return float((damage["wear_depth"].values[0, 0] * knee.grid.area).sum()), passed


def _knee(study: WearStudy) -> KneeModel:
    """Knee of a study, fitted once for all studies of equal shapes."""
    blocks = study.implant, study.grid, study.coarse_grid, study.table
    key = " ".join(block.model_dump_json() for block in blocks)
    if key not in _KNEES:
        _KNEES[key] = exact_knee(study, load_shapes(study, Path()))
    return _KNEES[key]


def judged(door: str, mutation: str, settings: Any, expected: float) -> Outcome:
    """Outcome of a study with a mutation."""
    try:
        study = validate_study(settings)
        if [one for one in check_inputs(study, Path()) if one.severity == "warn"]:
            return Outcome(door, mutation, "warned", np.nan)
    except InputDataError:
        return Outcome(door, mutation, "refused", np.nan)
    try:
        volume, placed = computed(study)
    except (KneewearError, ValueError):
        return Outcome(door, mutation, "unsolved", np.nan)
    change = volume / expected - 1.0
    verdict = "harmless" if abs(change) <= LIMIT else "silent" if placed else "warned"
    return Outcome(door, mutation, verdict, change)


def mutate_settings(base: WearStudy, expected: float, random: Random) -> Outcome:
    """Another unit, sign or digit of one number of the settings."""
    settings = base.model_dump(mode="json")
    places = [at for at in _numbers(settings) if at[0] in BLOCKS and value_at(settings, at)]
    at = random.choice(
        [position for position in places if range_at(WearStudy, position) is not None]
    )
    value = float(value_at(settings, at))
    new, words = slip(value, random)
    whole = isinstance(value_at(settings, at), int)
    replace_at(settings, at, round(new) if whole else new)
    return judged("settings", f"{'.'.join(map(str, at))} {words}", settings, expected)


def slip(value: float, random: Random) -> tuple[float, str]:
    """A number with another unit or sign, or two digits exchanged."""
    if random.random() < 0.8:
        factor = random.choice(FACTORS)
        return value * factor, f"times {factor:.4g}"
    digits = f"{value:.6e}"
    places = [n for n in range(len(digits) - 4) if digits[n].isdigit() and digits[n + 2].isdigit()]
    if not places:
        return -value, "times -1"
    at = places[0]
    changed = digits[:at] + digits[at + 2] + digits[at + 1] + digits[at] + digits[at + 3 :]
    return float(changed), f"{value:g} as {float(changed):g}"


def mutate_file(
    base: WearStudy, activity: str, part: str, expected: float, random: Random
) -> Outcome:
    """A change of the motion or the load file of the study."""
    settings = base.model_dump(mode="json")
    block = settings["activities"][activity][part]
    content = base.data_path(block["file"]).read_bytes()
    used = [name for name in block["columns"].values() if name]
    clock = block["columns"]["percent"] or block["columns"]["time_s"]
    with TemporaryDirectory() as folder:
        changed, words = mutate_table(content, used, clock, random)
        block["file"] = str(Path(folder, f"{part}.csv"))
        Path(block["file"]).write_bytes(changed)
        return judged(part, words, settings, expected)


def mutate_ligaments(base: Any, random: Random) -> Outcome:
    """A change of a table of ligaments, by the largest tension at the start."""
    settings = base.model_dump(mode="json")
    block = settings["multibody"]["ligaments"]["ligaments"]
    content = base.data_path(block["file"]).read_bytes()
    columns = [f"{axis}{end}_mm" for axis in "xyz" for end in (1, 2)]
    columns += ["linear_stiffness_n_per_strain", "slack_length_mm"]
    with TemporaryDirectory() as folder:
        changed, words = mutate_table(content, columns, None, random)
        block["file"] = str(Path(folder, "ligaments.csv"))
        Path(block["file"]).write_bytes(changed)
        try:
            study = validate_study(settings)
            if [one for one in check_inputs(study, Path()) if one.severity == "warn"]:
                return Outcome("ligaments", words, "warned", np.nan)
        except InputDataError:
            return Outcome("ligaments", words, "refused", np.nan)
        change = _tension(study) / _tension(base) - 1.0
        verdict = "silent" if not abs(change) <= LIMIT else "harmless"
        return Outcome("ligaments", words, verdict, change)


def _tension(study: Any) -> float:
    """Sum of the tensions of all ligaments at the start, N."""
    parts = load_parts(study.multibody, model_files(study, Path()))
    return float(parts.ligaments["ligaments"].evaluate(start_poses(study.multibody)).tension.sum())


def mutate_table(
    content: bytes, used: list[str], clock: str | None, random: Random
) -> tuple[bytes, str]:
    """Text of a table with one mistake, and the mistake in words."""
    table = pd.read_csv(BytesIO(content), comment="#")
    others = [name for name in used if name != clock]
    name, rows = random.choice(used), len(table)
    first, length = random.randrange(rows), random.randrange(2, max(3, rows // 4))
    kind = random.choice(
        (
            "unit",
            "unit",
            "exchange",
            "shift",
            "offset",
            "drop",
            "repeat",
            "zeros",
            "cell",
            "cell",
            "reverse",
            "cut",
        )
    )
    if kind == "unit":
        factor = random.choice(FACTORS)
        table[name] *= factor
        words = f"{name} times {factor:.4g}"
    elif kind == "exchange" and len(others) > 1:
        one, other = random.sample(others, 2)
        table[[one, other]] = table[[other, one]].to_numpy()
        words = f"{one} exchanged with {other}"
    elif kind == "shift":
        name = random.choice(others)
        table[name] = np.roll(table[name].to_numpy(), length)
        words = f"{name} later by {length} rows"
    elif kind == "offset":
        name = random.choice(others)
        size = random.choice((-1.0, 1.0)) * float(np.ptp(table[name]))
        table[name] += size
        words = f"{name} plus {size:.4g}"
    elif kind == "drop":
        table = table.drop(index=range(first, min(rows, first + length)))
        words = f"{length} rows from {first} missing"
    elif kind == "repeat":
        again = table.iloc[first : first + length]
        table = pd.concat([table.iloc[: first + length], again, table.iloc[first + length :]])
        words = f"{length} rows from {first} twice"
    elif kind == "zeros":
        name = random.choice(others)
        table[name] = table[name].astype(float)
        table.loc[table.index[first : first + length], name] = 0.0
        words = f"{name} zero in {length} rows from {first}"
    elif kind == "reverse":
        name = random.choice(others)
        table[name] = table[name].to_numpy()[::-1]
        words = f"{name} backwards"
    elif kind == "cut":
        table = table.iloc[: rows - length]
        words = f"last {length} rows missing"
    else:
        name = random.choice(used)
        table[name] = table[name].astype(float)
        new, how = slip(float(table[name].iloc[first]), random)
        table.loc[table.index[first], name] = new
        words = f"{name} in row {first} {how}"
    return table.to_csv(index=False).encode(), words


def _numbers(block: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the locations of numbers in plain builtins."""
    if isinstance(block, Mapping):
        for key, value in block.items():
            yield from _numbers(value, (*at, key))
    elif isinstance(block, list | tuple):
        for number, value in enumerate(block):
            yield from _numbers(value, (*at, number))
    elif isinstance(block, int | float) and not isinstance(block, bool):
        yield at


if __name__ == "__main__":
    main()
