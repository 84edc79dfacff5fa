"""A million random poses: every result finite, no pressure negative.

`python -m benchmarks.robustness [count]` evaluates the default implant at random poses of six kinds
and prints how many of each are in contact, and the time. It ends with an error at the first result
that is not finite or not possible; `tests/contact/test_robustness.py` runs a few thousand.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np
from scipy.spatial.transform import Rotation

from kneewear import default_study
from kneewear.contact import (
    ContactModel,
    ContactPair,
    ContactResult,
    Damping,
    Friction,
    Layer,
    SmallStrain,
    confined_modulus,
)
from kneewear.geometry import build_distance_table, build_grid, build_implant, tabulate_surface

KINDS = ("contact", "none", "deep", "edge", "tilted", "off")
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
                grid, n, implant.femoral[side], tabulate_surface(implant.femoral[side], 61, 31),
                **choose(side),
            )
            for n, side in enumerate(grid.sides)
        }  # fmt: skip
        layers = {
            side: Layer(law, grid.thickness[n].ravel()[pairs[side].index])
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
    for _ in range(count):
        kind = KINDS[random.choice(len(KINDS), p=[0.3, 0.1, 0.15, 0.2, 0.15, 0.1])]
        turn = random.normal(0.0, [0.01, 0.1, 0.5])
        place = np.array([random.normal(0.0, 5.0), height - random.uniform(0.0, 0.6), 0.0])
        place[2] = random.normal(0.0, 0.5)
        if kind == "none":
            place[1] += random.uniform(1.0, 100.0)
        elif kind == "deep":
            place[1] -= random.uniform(0.5, 60.0)
        elif kind == "edge":
            place[[0, 2]] += random.uniform(-35.0, 35.0, 2)
            place[1] -= random.uniform(0.0, 3.0)
        elif kind == "tilted":
            turn = random.uniform(-np.pi, np.pi, 3)
            place += random.uniform(-20.0, 20.0, 3)
        elif kind == "off":
            place += random.choice([-1.0, 1.0], 3) * random.uniform(30.0, 300.0, 3)
        yield kind, Rotation.from_rotvec(turn).as_matrix(), place


def check(result: ContactResult) -> bool:
    """Whether there is contact; raises if a number is impossible."""
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


def main(count: int = 1_000_000) -> None:
    """Evaluate, check and count."""
    models = build_models()
    height = touching_height(models["table"])
    shares = {"table": 0.6, "search": 0.3, "ray": 0.1}
    random = np.random.default_rng(3)
    velocity = random.normal(0.0, [30.0, 30.0, 30.0, 1.0, 1.0, 1.0])
    total, start = 0, time.perf_counter()
    for number, (name, share) in enumerate(shares.items()):
        seen, touching = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0)
        begin = time.perf_counter()
        for kind, rotation, place in random_poses(int(share * count), height, number):
            moving = velocity if name == "ray" else None
            seen[kind] += 1
            touching[kind] += check(models[name].evaluate(rotation, place, moving))
        total += sum(touching.values())
        counts = ", ".join(f"{kind} {touching[kind]}/{seen[kind]}" for kind in KINDS)
        print(f"{name:8s} {time.perf_counter() - begin:7.1f} s   in contact: {counts}")
    print(f"{count} poses, {total} in contact, {time.perf_counter() - start:.0f} s; all possible")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
