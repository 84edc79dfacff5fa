"""Phantoms: scans of inserts with known wear, drawn by seed; needs numpy and scipy only.

    python -m benchmarks.retrieval.phantoms FOLDER --seeds 5

writes for each family and seed `FAMILY_SEED_scan.ply`, `FAMILY_SEED_reference.ply` where the family
has one, and `truth.csv`, which a program under test does not read. Shapes, scars, offsets and noise
are formulas of this file; no wear model or fit of kneewear is used.
"""

from __future__ import annotations

import argparse
import csv
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

Array = NDArray[np.float64]

FAMILIES = Path(__file__).with_name("families.csv")
# Points of the surface, mm: half size of the plan, and distance.
_HALF_LENGTH = 22.0
_HALF_WIDTH = 38.0
_STEP = 0.5
# Middle of a plateau, half of its width, rounding of its rims, radii of its sections, mm.
_MIDDLE = 21.0
_LAND = 13.0
_RIM = 5.0
_SAGITTAL = 55.0
_CORONAL = 32.0
# Notch for the ligament, mm.
_NOTCH_WIDTH = 7.0
_NOTCH_FROM = 12.0
# Pose of a scan in the frame of its file: rotation, rad, and translation, mm.
_TURN = 0.02
_SHIFT = 3.0


@dataclass(frozen=True)
class Phantom:
    """A scan with its reference and its truth.

    Points are (n, m, 3), mm, x posterior, y superior, z medial of a right knee; `volumes` are those
    removed from the medial and the lateral plateau, mm3. `unmoved` is the scan in the frame of the
    reference.
    """

    name: str
    scan: Array
    reference: Array | None
    present: NDArray[np.bool_]
    whole: NDArray[np.bool_]
    volumes: tuple[float, float]
    unmoved: Array
    wear: Array


def read_families() -> list[dict[str, Any]]:
    """Families of `families.csv`."""
    lines = FAMILIES.read_text("utf-8").splitlines()
    rows: list[dict[str, Any]] = []
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        words = {"family", "reference", "design", "scar"}
        rows.append({k: v if k in words else float(v) for k, v in row.items()})
    return rows


def make_phantom(family: dict[str, Any], seed: int) -> Phantom:
    """Phantom of a family."""
    rng = np.random.default_rng([zlib.crc32(family["family"].encode()), seed])
    x = np.arange(-_HALF_LENGTH, _HALF_LENGTH + 1e-9, _STEP)
    z = np.arange(-_HALF_WIDTH, _HALF_WIDTH + 1e-9, _STEP)
    x, z = np.meshgrid(x, z, indexing="ij")
    height = arcs(x, z) if family["design"] == "arcs" else _ellipsoids(x, z)
    slope_x, slope_z = np.gradient(height, _STEP)
    upright = 1.0 / np.sqrt(1.0 + slope_x**2 + slope_z**2)
    wear = _scars(family, rng, x, z)
    offset = 1e-3 * (
        family["offset_mean_um"]
        + family["offset_sd_um"] * smooth_field(rng, x.shape, family["length_mm"])
    )
    noise = 1e-3 * family["noise_um"]
    worn = height + offset / upright - wear + noise * rng.standard_normal(x.shape)
    unworn = height
    if family["reference"] == "own":
        unworn = height + offset / upright + noise * rng.standard_normal(x.shape)
    whole = ~((np.abs(z) < _NOTCH_WIDTH) & (x > _NOTCH_FROM))
    present = whole.copy()
    for _ in range(int(family["holes"])):
        at = rng.uniform([-15.0, -30.0], [15.0, 30.0])
        present &= np.hypot(x - at[0], z - at[1]) > rng.uniform(1.0, 2.5)
    turn = scipy.spatial.transform.Rotation.from_rotvec(rng.uniform(-_TURN, _TURN, 3))
    unmoved = np.stack([x, worn, z], -1)
    scan = turn.apply(unmoved.reshape(-1, 3)) + rng.uniform(-_SHIFT, _SHIFT, 3)
    reference = None if family["reference"] == "none" else np.stack([x, unworn, z], -1)
    volumes = [float(wear[side].sum() * _STEP**2) for side in (z > 0, z < 0)]
    return Phantom(
        f"{family['family']}_{seed}",
        scan.reshape(*x.shape, 3),
        reference,
        present,
        whole,
        (volumes[0], volumes[1]),
        unmoved,
        wear,
    )


def arcs(x: Array, z: Array) -> Array:
    """Coronal arc between rounded rims, revolved about a transverse axis."""
    across = np.abs(np.abs(z) - _MIDDLE)
    rise = _CORONAL - np.sqrt(_CORONAL**2 - np.minimum(across, _LAND) ** 2)
    angle = np.arcsin(_LAND / _CORONAL)
    over = np.clip(across - _LAND, 0.0, _RIM * np.sin(angle))
    top = np.sqrt(_RIM**2 - (over - _RIM * np.sin(angle)) ** 2) - _RIM * np.cos(angle)
    rise = rise + np.where(across > _LAND, top, 0.0)
    radius = _SAGITTAL - rise
    return np.asarray(rise + radius - np.sqrt(radius**2 - x**2))


def _ellipsoids(x: Array, z: Array) -> Array:
    """Dishes that are parts of ellipsoids, unlike on both sides, below a plane."""
    height = np.full(x.shape, 5.0)
    for side, (length, width, depth) in ((1.0, (36.0, 21.0, 9.0)), (-1.0, (40.0, 20.0, 7.5))):
        q = (x / length) ** 2 + ((z - side * _MIDDLE) / width) ** 2
        dish = depth * (1.0 - np.sqrt(np.maximum(1.0 - q, 0.0)))
        # A smooth minimum rounds the rims.
        own = -1.2 * np.log(np.exp(-dish / 1.2) + np.exp(-5.0 / 1.2))
        height = np.where(side * z > 0, own, height)
    return height


def _scars(family: dict[str, Any], rng: np.random.Generator, x: Array, z: Array) -> Array:
    """Depth removed, measured vertically, mm."""
    wear = np.zeros(x.shape)
    if family["scar"] == "none":
        return wear
    share = rng.uniform(0.4, 0.6)
    for side, part in ((1.0, share), (-1.0, 1.0 - share)):
        v = z - side * _MIDDLE
        land = 2.0 * _LAND * 2.0 * (_HALF_LENGTH - 2.0)
        area = (1.0 - family["unworn"]) * land
        own = np.zeros(x.shape)
        if family["scar"] == "milled":
            length = np.sqrt(area * rng.uniform(1.2, 2.0))
            at = rng.uniform(-2.0, 2.0, 2)
            own[(np.abs(x - at[0]) < length / 2) & (np.abs(v - at[1]) < area / length / 2)] = 1.0
        elif family["scar"] == "ellipsoids":
            own = _cap(rng, x, v, area, 0.5, 1)
        else:
            own = _cap(rng, x, v, area, rng.uniform(0.8, 1.8), 3)
        wear += own * family["volume_mm3"] * part / (own.sum() * _STEP**2)
    return wear


def _cap(
    rng: np.random.Generator, x: Array, z: Array, area: float, power: float, count: int
) -> Array:
    """Sum of shifted elliptical caps with about the area."""
    long = np.sqrt(area / np.pi * rng.uniform(1.3, 2.2))
    wide = min(area / np.pi / long, _LAND - 1.0)
    long = min(area / np.pi / wide, _HALF_LENGTH - 2.0)
    total = np.zeros(x.shape)
    for _ in range(count):
        shrink = 1.0 if count == 1 else rng.uniform(0.7, 1.0)
        at = rng.uniform(-1.0, 1.0, 2) * [0.15 * long, 0.1 * wide]
        turn = rng.uniform(-0.2, 0.2)
        u, v = x - at[0], z - at[1]
        u, v = u * np.cos(turn) + v * np.sin(turn), v * np.cos(turn) - u * np.sin(turn)
        q = (u / (shrink * long)) ** 2 + (v / (shrink * wide)) ** 2
        total += np.maximum(1.0 - q, 0.0) ** power
    return np.where(np.abs(z) < _LAND + 2.0, total, 0.0)


def smooth_field(
    rng: np.random.Generator, shape: tuple[int, ...], length: float, step: float = _STEP
) -> Array:
    """Random field of mean 0 and SD 1 with correlation exp(-d^2 / (2 length^2))."""
    thin = max(int(length / step / 6.0), 1)
    sigma = length / np.sqrt(2.0) / step / thin
    pad = int(np.ceil(4.0 * sigma))
    size = [n // thin + 3 + 2 * pad for n in shape]
    field = scipy.ndimage.gaussian_filter(rng.standard_normal(size), sigma) * np.sqrt(4 * np.pi)
    field = field[pad:-pad, pad:-pad] * sigma
    if thin > 1:
        rows, columns = (np.arange(n) / thin for n in shape)
        at = np.meshgrid(rows, columns, indexing="ij")
        return np.asarray(scipy.ndimage.map_coordinates(field, at, order=3))
    return np.asarray(field[: shape[0], : shape[1]])


def triangles(present: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Triangles (k, 3) of a grid of points between those that are present, normals up."""
    number = np.arange(present.size).reshape(present.shape)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    faces = np.concatenate([np.stack(item, -1).reshape(-1, 3) for item in ((a, d, c), (a, c, b))])
    return faces[present.ravel()[faces].all(axis=1)]


def write_ply(path: Path, points: Array, faces: NDArray[np.int64]) -> None:
    """Write a binary PLY of single precision."""
    points = points.reshape(-1, 3)
    head = (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {len(points)}\n"
        "property float x\nproperty float y\nproperty float z\n"
        f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    rows = np.empty(len(faces), dtype=[("count", "u1"), ("corners", "<i4", (3,))])
    rows["count"], rows["corners"] = 3, faces
    path.write_bytes(head.encode() + points.astype("<f4").tobytes() + rows.tobytes())


def write_phantom(folder: Path, phantom: Phantom) -> None:
    """Write the files of a phantom."""
    write_ply(folder / f"{phantom.name}_scan.ply", phantom.scan, triangles(phantom.present))
    if phantom.reference is not None:
        path = folder / f"{phantom.name}_reference.ply"
        write_ply(path, phantom.reference, triangles(phantom.whole))


def main() -> None:
    """Write the test set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--family", action="append")
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    with (chosen.folder / "truth.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["phantom", "family", "reference", "side", "volume_mm3"])
        for family in read_families():
            if chosen.family and family["family"] not in chosen.family:
                continue
            for seed in range(chosen.seeds):
                phantom = make_phantom(family, seed)
                write_phantom(chosen.folder, phantom)
                values = zip(
                    ("medial", "lateral", "both"),
                    (*phantom.volumes, sum(phantom.volumes)),
                    strict=True,
                )
                for side, value in values:
                    name = family["family"]
                    rows.writerow([phantom.name, name, family["reference"], side, f"{value:.4f}"])


if __name__ == "__main__":
    main()
