"""A million random poses: every result finite, no pressure negative.

`python -m benchmarks.robustness [count]` evaluates the default implant at random poses of six kinds
and writes results/benchmarks/robustness.csv: how many of each are in contact, and the time. It ends
with an error at the first result that is not finite or not possible;
`tests/contact/test_robustness.py` runs a few thousand.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.spatial.transform import Rotation

from kneewear import default_study
from kneewear.contact.foundation import ElasticLayer, SmallStrain, confined_modulus
from kneewear.contact.pair import ContactModel, ContactPair
from kneewear.contact.resultant import ContactResult
from kneewear.contact.traction import Damping, Friction
from kneewear.geometry.distance_tabulation import build_distance_table
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.table import tabulate_surface
from kneewear.io.documents import save_table

OUTPUT = Path("results/benchmarks/robustness.csv")
KINDS = ("contact", "none", "deep", "edge", "tilted", "off")
SHARES = (0.3, 0.1, 0.15, 0.2, 0.15, 0.1)
MODEL_SHARES = {"table": 0.6, "search": 0.3, "ray": 0.1}
BATCH = 4096
CELLS = 30, 30


def build_models() -> dict[str, ContactModel]:
    """The default implant with distances from the table, by search, and along rays with motion."""
    study = default_study()
    implant, _ = build_implant(study.implant)
    grid = build_grid(implant, *CELLS)
    law = SmallStrain(confined_modulus(463.0, 0.46))
    tables = {side: build_distance_table(s, 5e-5) for side, s in implant.femoral.items()}
    choices = {
        "table": lambda side: {"distance_table": tables[side]},
        "search": lambda side: {},
        "ray": lambda side: {
            "method": "ray",
            "correction": "mid_surface",
            "direction": "mid_surface",
            "friction": Friction(0.1, 0.05, 1.0),
            "damping": Damping(0.01),
        },
    }
    models = {}
    for name, choose in choices.items():
        pairs = {
            side: ContactPair(
                grid,
                n,
                implant.femoral[side],
                tabulate_surface(implant.femoral[side], 61, 31),
                **choose(side),
            )
            for n, side in enumerate(grid.sides)
        }
        layers = {
            side: ElasticLayer(law, grid.thickness[n].ravel()[pairs[side].index])
            for n, side in enumerate(grid.sides)
        }
        models[name] = ContactModel(pairs, layers)
    return models


def touching_height(model: ContactModel) -> float:
    """Height of the upright component at first touch, mm."""
    low, high = 0.0, 100.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        touches = model.evaluate(np.eye(3), [0.0, middle, 0.0]).wrench.any()
        low, high = (middle, high) if touches else (low, middle)
    return high


def random_poses(
    count: int, height: float, seed: int
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Kind, rotation and translation of random poses; `height` is that of the first touch."""
    random = np.random.default_rng(seed)
    for first in range(0, count, BATCH):
        yield from _batch(min(BATCH, count - first), height, random)


def _batch(
    count: int, height: float, random: np.random.Generator
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    kind = random.choice(KINDS, count, p=SHARES)
    turn = random.normal(0.0, [0.01, 0.1, 0.5], (count, 3))
    position = random.normal(0.0, [5.0, 0.0, 0.5], (count, 3))
    position[:, 1] = height - random.uniform(0.0, 0.6, count)
    position[:, 1] += np.where(kind == "none", random.uniform(1.0, 100.0, count), 0.0)
    position[:, 1] -= np.where(kind == "deep", random.uniform(0.5, 60.0, count), 0.0)
    edge, tilted, off = (kind == name for name in ("edge", "tilted", "off"))
    position[edge] += random.uniform([-35.0, -3.0, -35.0], [35.0, 0.0, 35.0], (edge.sum(), 3))
    turn[tilted] = random.uniform(-np.pi, np.pi, (tilted.sum(), 3))
    position[tilted] += random.uniform(-20.0, 20.0, (tilted.sum(), 3))
    away = random.choice([-1.0, 1.0], (off.sum(), 3))
    position[off] += away * random.uniform(30.0, 300.0, (off.sum(), 3))
    yield from zip(kind.tolist(), Rotation.from_rotvec(turn).as_matrix(), position, strict=True)


def check(result: ContactResult) -> bool:
    """True if there is contact; raise if a number is impossible."""
    active = 0
    for part in result.values():
        numbers = [part.wrench, part.stiffness, part.damping, part.torque, part.direction]
        if not all(np.isfinite(array).all() for array in numbers):
            raise ArithmeticError("a result is not finite")
        if not (np.isfinite(part.pressure).all() and (part.pressure >= 0.0).all()):
            raise ArithmeticError("a pressure is negative or not finite")
        if not (part.penetration > 0.0).all():
            raise ArithmeticError("an active element does not penetrate")
        active += part.active_elements
    return active > 0


def measure(count: int) -> pd.DataFrame:
    """Evaluate and check: of every model and kind the poses, those in contact, and the time."""
    models = build_models()
    height = touching_height(models["table"])
    random = np.random.default_rng(3)
    velocity = random.normal(0.0, [30.0, 30.0, 30.0, 1.0, 1.0, 1.0])
    rows = []
    for number, (name, share) in enumerate(MODEL_SHARES.items()):
        seen, touching = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0)
        begin = time.perf_counter()
        for kind, rotation, position in random_poses(round(share * count), height, number):
            moving = velocity if name == "ray" else None
            seen[kind] += 1
            touching[kind] += check(models[name].evaluate(rotation, position, moving))
        duration = time.perf_counter() - begin
        for kind in KINDS:
            rows.append(
                {
                    "model": name,
                    "kind": kind,
                    "poses": seen[kind],
                    "in_contact": touching[kind],
                    "model_duration_s": duration,
                }
            )
        print(pd.DataFrame(rows[-len(KINDS) :]).to_string(index=False), flush=True)
    return pd.DataFrame(rows)


def main(count: int = 1_000_000) -> None:
    """Evaluate, check, count, and write the counts."""
    table = measure(count)
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    save_table(table, OUTPUT)
    poses, touching = table["poses"].sum(), table["in_contact"].sum()
    print(f"{poses} poses, {touching} in contact: all possible; written to {OUTPUT}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
