"""Catalogue of input that can be read and is wrong in meaning, with its verdict.

"E" is refused, "W" is accepted with a warning that names its check. The tests run every entry
(`test_implausible.py`); `python -m tests.faults.implausible` prints the table of the documentation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from tests.faults.faulty_files import CHECKOUT, example, key, with_value


@dataclass(frozen=True)
class Meaning:
    """One input that is wrong in meaning.

    `make` writes it into a folder and returns the settings file; `verdict` is "E" or "W"; `said` is
    a piece of the refusal, or the name of the check that warns.
    """

    group: str
    name: str
    make: Callable[[Path], Path]
    verdict: str
    said: str


GAIT = "activities.example_gait"
AP, SI, ML = "femur_anterior_mm", "femur_superior_mm", "femur_lateral_mm"
FLEXION, ROTATION, VARUS = "flexion_deg", "tibial_external_rotation_deg", "varus_deg"
GRF = "ground_reaction_n"
Table = Callable[[pd.DataFrame], pd.DataFrame]


def table(change: Table) -> Callable[[bytes], bytes]:
    """Change of a CSV file as a table."""

    def edit(content: bytes) -> bytes:
        changed = change(pd.read_csv(BytesIO(content), comment="#"))
        return bytes(changed.to_csv(index=False).encode())

    return edit


def motion(change: Table, *settings: tuple[str, Any]) -> Callable[[Path], Path]:
    """The example study with another motion, alive in every coordinate before the change."""

    def alive(samples: pd.DataFrame) -> pd.DataFrame:
        turn = 2.0 * np.pi * samples["percent"] / 100.0
        samples[VARUS] = 1.2 * np.sin(turn)
        samples[SI] += 0.9 * np.cos(turn)
        samples[ML] = 0.7 * np.cos(turn + 1.0)
        return change(samples)

    return example(several(*settings), motion=table(alive))


def load(change: Table, *settings: tuple[str, Any]) -> Callable[[Path], Path]:
    """The example study with another load."""
    return example(several(*settings), load=table(change))


def joint_load(scale: float = 1.0, shift: float = 0.3) -> Callable[[Path], Path]:
    """The example study with its ground reaction taken as body weights, scaled."""

    def change(samples: pd.DataFrame) -> pd.DataFrame:
        samples[GRF] = scale * (shift + 2.2 * samples[GRF] / samples[GRF].max())
        return samples

    return load(change, (f"{GAIT}.load.kind", "axial_load"),
                (f"{GAIT}.load.load_range_body_weights", None))  # fmt: skip


def several(*settings: tuple[str, Any]) -> Callable[[dict[str, Any]], None]:
    """Change of some keys of the example study."""

    def change(study: dict[str, Any]) -> None:
        for path, value in settings:
            with_value(path, value)(study)

    return change


def keys(*settings: tuple[str, Any]) -> Callable[[Path], Path]:
    """The example study with some keys changed."""
    return example(several(*settings))


def scaled(name: str, factor: float, shift: float = 0.0) -> Table:
    """One column times a factor, plus a shift."""

    def change(samples: pd.DataFrame) -> pd.DataFrame:
        samples[name] = factor * samples[name] + shift
        return samples

    return change


def exchanged(one: str, other: str) -> Table:
    """Two columns exchanged."""
    return lambda samples: samples.rename(columns={one: other, other: one})


def repeated(count: int, name: str = "percent") -> Table:
    """Several cycles as one."""

    def change(samples: pd.DataFrame) -> pd.DataFrame:
        parts = [samples.iloc[:-1].copy() for _ in range(count)]
        for number, part in enumerate(parts):
            part[name] += 100.0 * number
        joined = pd.concat([*parts, samples.tail(1).assign(**{name: 100.0 * count})])
        joined[name] /= count
        return joined

    return change


def cut(last: float) -> Table:
    """Part of the cycle stretched to all of it."""

    def change(samples: pd.DataFrame) -> pd.DataFrame:
        part = samples[samples["percent"] <= last].copy()
        part["percent"] *= 100.0 / last
        return part

    return change


def rolled(name: str, rows: int = 25) -> Table:
    """A column shifted along the cycle."""

    def change(samples: pd.DataFrame) -> pd.DataFrame:
        values = np.roll(samples[name].to_numpy()[:-1], rows)
        samples[name] = np.append(values, values[0])
        return samples

    return change


def at(name: str, rows: slice | list[int], value: float) -> Table:
    """Samples replaced by one value."""

    def change(samples: pd.DataFrame) -> pd.DataFrame:
        samples[name] = samples[name].astype(float)
        samples.loc[samples.index[rows], name] = value
        return samples

    return change


def chained(*changes: Table) -> Table:
    """Several changes in their order."""

    def change(samples: pd.DataFrame) -> pd.DataFrame:
        for one in changes:
            samples = one(samples)
        return samples

    return change


def timed(duration: float) -> Table:
    """Time instead of percent."""

    def change(samples: pd.DataFrame) -> pd.DataFrame:
        samples["percent"] *= duration / 100.0
        return samples.rename(columns={"percent": "time_s"})

    return change


def constant(samples: pd.DataFrame) -> pd.DataFrame:
    """Motion that does not move."""
    samples.loc[:, samples.columns[1:]] = samples.iloc[0, 1:].to_numpy()
    return samples


def doubled_header(content: bytes) -> bytes:
    """A header that names two columns alike."""
    return content.replace(VARUS.encode(), FLEXION.encode(), 1)


TIME = ((f"{GAIT}.motion.columns.percent", None), (f"{GAIT}.motion.columns.time_s", "time_s"))
LOAD_TIME = ((f"{GAIT}.load.columns.percent", None), (f"{GAIT}.load.columns.time_s", "time_s"))
CUT_PERCENT = 62.0
PARAMETRIC = "implant.parametric"
MESHES = "implant.meshes"
LAW = "simulation.pressure_law"
FORWARD = "simulation.forward"
DEFAULT = yaml.safe_load((CHECKOUT / "config" / "config.yaml").read_text())
RADIANS = {
    "base": 0.07,
    "bumps": [{"height": 0.9, "centre_percent": 73.0, "width_percent": 24.0}],
}
METRES = {
    "base": -0.004,
    "bumps": [{"height": 0.011, "centre_percent": 73.0, "width_percent": 24.0}],
}


def windows(block: str, **sides: list[float]) -> Callable[[Path], Path]:
    """The example study with other windows."""
    return keys(*((f"{MESHES}.{block}.{side}", value) for side, value in sides.items()))


def _angle(low: float, high: float) -> Callable[[Path], Path]:
    return keys(*((f"{MESHES}.femoral_region_mm.{side}.angle_deg", [low, high])
                  for side in ("medial", "lateral")))  # fmt: skip


MEANINGS: tuple[Meaning, ...] = (
    # Values of settings.
    Meaning("settings", "thickness 60 mm", key("cases.thickness_mm", [60]), "W",
            "settings.thickness"),
    Meaning("settings", "thickness 3 mm", key("cases.thickness_mm", [3]), "W",
            "settings.thickness"),
    Meaning("settings", "nominal thickness 1 mm", key("implant.nominal_thickness_mm", 1.0), "W",
            "settings.nominal_thickness"),
    Meaning("settings", "thickness offset -50 mm", key(f"{LAW}.thickness_offset_mm", -50), "E",
            "thickness of the elastic layer after its offset of -44 mm"),
    Meaning("settings", "thickness offset -7 mm", key(f"{LAW}.thickness_offset_mm", -7), "E",
            "thickness of the elastic layer after its offset of -1 mm"),
    Meaning("settings", "thickness offset -5 mm", key(f"{LAW}.thickness_offset_mm", -5), "W",
            "settings.effective_thickness"),
    Meaning("settings", "body mass 5 kg", key("cases.body_mass_kg", [5]), "W",
            "settings.body_mass"),
    Meaning("settings", "body mass 400 kg", key("cases.body_mass_kg", [400]), "W",
            "settings.body_mass"),
    Meaning("settings", "months 0", key("wear.months", 0), "E", "length of the life of 0 months"),
    Meaning("settings", "life of a century", key("wear.months", 1200), "W", "settings.months"),
    Meaning("settings", "creep constant of a century", key("wear.creep_months", 1200), "W",
            "settings.creep_months"),
    Meaning("settings", "1e12 cycles per year", key("wear.cycles_per_year", 1e12), "E",
            "cycles per year of 1e+12"),
    Meaning("settings", "1e4 cycles per year", key("wear.cycles_per_year", 1e4), "W",
            "settings.cycles_per_year"),
    Meaning("settings", "one cycle per year", key("wear.cycles_per_year", 1), "E",
            "cycles per year of 1"),
    Meaning("settings", "medial share 1e-9", key("simulation.medial_share", 1e-9), "W",
            "settings.medial_share"),
    Meaning("settings", "medial share 0.9999", key("simulation.medial_share", 0.9999), "W",
            "settings.medial_share"),
    Meaning("settings", "Young's modulus 1e5 MPa", key("simulation.youngs_modulus_mpa", 1e5), "W",
            "settings.modulus"),
    Meaning("settings", "Young's modulus of cartilage for polyethylene",
            key("simulation.youngs_modulus_mpa", 5), "W", "settings.modulus"),
    Meaning("settings", "Poisson's ratio 0.4999", key("simulation.poisson_ratio", 0.4999), "W",
            "settings.poisson_ratio"),
    Meaning("settings", "Poisson's ratio 0", key("simulation.poisson_ratio", 0.0), "W",
            "settings.poisson_ratio"),
    Meaning("settings", "condyle spacing 1e6 mm", key(f"{PARAMETRIC}.condyle_spacing_mm", 1e6),
            "E", "distance between the condyles of 1e+06 mm"),
    Meaning("settings", "condyle spacing 1 mm", key(f"{PARAMETRIC}.condyle_spacing_mm", 1), "E",
            "distance between the condyles of 1 mm"),
    Meaning("settings", "condyle spacing 4.6 for centimetres",
            key(f"{PARAMETRIC}.condyle_spacing_mm", 4.6), "E", "distance between the condyles"),
    Meaning("settings", "sagittal radius 1e-6 mm",
            key(f"{PARAMETRIC}.femoral_sagittal_radius_mm", 1e-6), "E",
            "sagittal radius of the condyles of 1e-06 mm"),
    Meaning("settings", "coronal radius 1e-6 mm",
            key(f"{PARAMETRIC}.femoral_coronal_radius_mm.medial", 1e-6), "E",
            "1e-06 with femoral_half_width_mm: 12"),
    Meaning("settings", "plateau tighter than its condyle",
            key(f"{PARAMETRIC}.plateau_sagittal_radius_mm", 20.0), "W", "settings.conformity"),
    Meaning("settings", "half length 1e9 mm", key(f"{PARAMETRIC}.plateau_half_length_mm", 1e9),
            "E", "600 with plateau_half_length_mm: 1e+09"),
    Meaning("settings", "plateau 600 mm long", key(f"{PARAMETRIC}.plateau_half_length_mm", 300),
            "E", "half-length of a plateau of 300 mm"),
    Meaning("settings", "plateau 80 mm long", key(f"{PARAMETRIC}.plateau_half_length_mm", 40),
            "W", "settings.plateau_length"),
    Meaning("settings", "condyle 200 mm wide", key(f"{PARAMETRIC}.femoral_half_width_mm", 100),
            "E", "half-width of a condyle of 100 mm"),
    Meaning("settings", "thickness at the lowest line 40 mm above the nominal one",
            key(f"{PARAMETRIC}.extra_thickness_mm", 40), "E", "above the nominal one of 40 mm"),
    Meaning("settings", "wear factor 1e-3", key("wear.wear_factor_mm3_per_n_m", 1e-3), "W",
            "settings.wear_factor"),
    Meaning("settings", "creep 0.5 mm/MPa", key("wear.creep_mm_per_mpa", 0.5), "W",
            "settings.creep"),
    Meaning("settings", "density 1e6", key("wear.density_mg_per_mm3", 1e6), "E",
            "density of the insert of 1e+06"),
    Meaning("settings", "density of metal", key("wear.density_mg_per_mm3", 8.3), "W",
            "settings.density"),
    Meaning("settings", "cap 1e-9 MPa", key(f"{LAW}.cap_mpa", 1e-9), "E",
            "cap of the pressure of 1e-09 MPa"),
    Meaning("settings", "cap below the usual pressure", key(f"{LAW}.cap_mpa", 5), "W",
            "settings.cap"),
    Meaning("settings", "grid of 4 rows", key("grid.rows", 4), "W", "settings.rows"),
    Meaning("settings", "grid of 4 columns", key("grid.columns", 4), "W", "settings.columns"),
    Meaning("settings", "4 frames", key("simulation.frames", 4), "W", "settings.frames"),
    Meaning("settings", "moving mass 1e9 kg", key(f"{FORWARD}.mass_kg", 1e9), "E",
            "mass of the femoral component of 1e+09 kg"),
    Meaning("settings", "moving mass in grams", key(f"{FORWARD}.mass_kg", 400), "W",
            "settings.moving_mass"),
    Meaning("settings", "damping 1e6", key(f"{FORWARD}.damping_ratio", 1e6), "E",
            "damping ratio of 1e+06"),
    Meaning("settings", "radius of gyration in metres",
            key(f"{FORWARD}.radius_of_gyration_mm", 0.025), "E", "radius of gyration of 0.025"),
    Meaning("settings", "load line 100 mm off", key("simulation.fixed_load_line_mm", 100), "E",
            "position of the load line of 100 mm"),
    Meaning("settings", "duration 5 s", key("activities.gait.duration_s", 5.0), "W",
            "settings.duration"),
    Meaning("settings", "study name of 300 characters", key("study", "a" * 300), "E",
            "a shorter text"),
    Meaning("settings", "data folder with NUL", key("data_folder", "a\0b"), "E",
            "a path with the character NUL"),
    Meaning("settings", "data folder of 100,000 characters", key("data_folder", "a" * 100_000),
            "E", "a path of 100000 characters"),
    Meaning("settings", "braces in a file name", keys((f"{MESHES}.insert", "in{sert}.stl")), "E",
            "braces in in{sert}.stl"),
    # Built-in motions and loads.
    Meaning("built-in", "flexion base 500 degrees",
            key("activities.gait.flexion_deg.base", 500.0), "E", "flexion of 5"),
    Meaning("built-in", "flexion in radians", key("activities.gait.flexion_deg", RADIANS), "W",
            "motion.flexion_range"),
    Meaning("built-in", "rotation base 60 degrees",
            key("activities.gait.tibial_external_rotation_deg.base", 60.0), "E",
            "rotation of 54.56 deg"),
    Meaning("built-in", "AP base 100 mm", key("activities.gait.femur_posterior_mm.base", 100.0),
            "E", "anterior posterior position of 98 mm"),
    Meaning("built-in", "AP base 20 mm", key("activities.gait.femur_posterior_mm.base", 20.0),
            "W", "motion.anterior_posterior"),
    Meaning("built-in", "AP in metres", key("activities.gait.femur_posterior_mm", METRES), "E",
            "range of anterior posterior position of 0.011 mm"),
    Meaning("built-in", "flexion that does not move",
            key("activities.gait.flexion_deg.bumps", []), "W", "motion.flexion_range"),
    Meaning("built-in", "load of seven body weights",
            key("activities.gait.load_body_weights.base", 4.0), "W", "load.peak"),
    Meaning("built-in", "constant small load",
            key("activities.gait.load_body_weights", {"base": 0.1, "bumps": []}), "E",
            "peak load of 0.1 body weights"),
    # Windows of meshes.
    Meaning("windows", "femoral window of [-5, 20] degrees", _angle(-5.0, 20.0), "E",
            "angle of a window of the condyles of 25 deg"),
    Meaning("windows", "femoral window of [-400, 400] degrees", _angle(-400.0, 400.0), "E",
            "angle of a window of the condyles of 800 deg"),
    Meaning("windows", "femoral window of 50 degrees", _angle(0.0, 50.0), "W",
            "settings.condyle_window"),
    Meaning("windows", "insert window of 500 mm",
            keys((f"{MESHES}.insert_region_mm.medial.x", [-250.0, 250.0])), "E",
            "length of a window of the insert of 500 mm"),
    Meaning("windows", "medial and lateral windows of the insert exchanged",
            windows("insert_region_mm", medial={"x": [-21.0, 21.0], "z": [-35.0, -12.0]},
                    lateral={"x": [-21.0, 21.0], "z": [12.0, 35.0]}), "E",
            "distance of the medial windows from the lateral ones towards medial of -47 mm"),
    Meaning("windows", "medial and lateral windows of the condyles exchanged",
            windows("femoral_region_mm", medial={"angle_deg": [-30.0, 110.0], "z": [-40.0, -9.0]},
                    lateral={"angle_deg": [-30.0, 110.0], "z": [9.0, 40.0]}), "E",
            "distance of the medial windows from the lateral ones"),
    Meaning("windows", "tolerance of a millimetre", keys((f"{MESHES}.tolerance_mm", 1.0)), "W",
            "settings.tolerance"),
    # One column in another unit.
    Meaning("unit", "AP only in metres", motion(scaled(AP, 1e-3)), "E",
            "range of anterior posterior position of 0.006 mm"),
    Meaning("unit", "rotation only in radians", motion(scaled(ROTATION, np.pi / 180)), "E",
            "range of rotation of 0.1394 deg"),
    Meaning("unit", "varus only in radians", motion(scaled(VARUS, np.pi / 180)), "E",
            "range of varus of 0.0418"),
    Meaning("unit", "superior only in metres", motion(scaled(SI, 1e-3)), "E",
            "range of superior inferior position of 0.0018"),
    Meaning("unit", "AP in centimetres", motion(scaled(AP, 0.1)), "W",
            "motion.anterior_posterior_range"),
    Meaning("unit", "AP in tenths of a millimetre", motion(scaled(AP, 10.0)), "E",
            "anterior posterior position of -50 mm"),
    Meaning("unit", "flexion in radians", motion(scaled(FLEXION, np.pi / 180)), "E", "radians"),
    # Columns exchanged or repeated.
    Meaning("columns", "rotation and flexion exchanged", motion(exchanged(FLEXION, ROTATION)),
            "E", "found"),
    Meaning("columns", "rotation read as flexion too",
            keys((f"{GAIT}.motion.columns.flexion", ROTATION)), "E",
            f"column '{ROTATION}' for flexion and rotation"),
    Meaning("columns", "same column for AP and ML",
            keys((f"{GAIT}.motion.columns.medial_lateral", AP)), "E",
            f"column '{AP}' for anterior_posterior and medial_lateral"),
    Meaning("columns", "AP copied into the column of ML",
            motion(lambda samples: samples.assign(**{ML: samples[AP]})), "E",
            "the same values as anterior posterior"),
    Meaning("columns", "percent copied into the column of flexion",
            motion(lambda samples: samples.assign(**{FLEXION: samples["percent"]})), "E",
            "found"),
    Meaning("columns", "varus and rotation exchanged", motion(exchanged(VARUS, ROTATION)), "W",
            "motion.varus_share"),
    Meaning("columns", "AP and superior exchanged", motion(exchanged(AP, SI)), "E",
            "anterior posterior position of -38 mm"),
    Meaning("columns", "flexion and AP exchanged", motion(exchanged(FLEXION, AP)), "E", "found"),
    Meaning("columns", "two columns of the same name", example(motion=doubled_header), "E",
            f"more than one column '{FLEXION}'"),
    Meaning("columns", "load read from the percent column",
            keys((f"{GAIT}.load.columns.load", "percent")), "E",
            "column 'percent' for percent and load"),
    Meaning("columns", "percent copied into the column of the load",
            load(lambda samples: samples.assign(**{GRF: samples["percent"]})), "E",
            "found the percent of the cycle"),
    # Wrong signs and places.
    Meaning("sign", "flexion reversed", motion(scaled(FLEXION, -1)), "E", "hyperextended"),
    Meaning("sign", "superior reversed", motion(scaled(SI, -1)), "E",
            "superior inferior position of -38 mm"),
    Meaning("sign", "ground reaction with the sign of the force plate", load(scaled(GRF, -1)),
            "E", "smallest ground reaction over the largest"),
    Meaning("place", "condyles 20 mm off the insert", motion(scaled(AP, 1.0, 20.0)), "W",
            "motion.anterior_posterior"),
    Meaning("place", "condyles 60 mm off the insert", motion(scaled(AP, 1.0, 60.0)), "E",
            "anterior posterior position of -65 mm"),
    Meaning("place", "15 mm towards medial", motion(scaled(ML, 1.0, -15.0)), "E",
            "medial lateral position of 14.3 mm"),
    Meaning("place", "rotation 45 degrees off", motion(scaled(ROTATION, 1.0, 45.0)), "E",
            "rotation of 42.01 deg"),
    Meaning("place", "varus 40 degrees off", motion(scaled(VARUS, 1.0, 40.0)), "E",
            "varus of 38.8 deg"),
    Meaning("place", "varus 12 degrees off", motion(scaled(VARUS, 1.0, 12.0)), "W",
            "motion.varus"),
    # Cycles.
    Meaning("cycle", "two cycles in percent", motion(repeated(2)), "E", "several cycles"),
    Meaning("cycle", "three cycles in percent", motion(repeated(3)), "E", "several cycles"),
    Meaning("cycle", "two cycles in time", motion(chained(repeated(2), timed(2.4)), *TIME), "E",
            "several cycles"),
    Meaning("cycle", "two cycles of the load in percent", load(repeated(2)), "E",
            "several cycles"),
    Meaning("cycle", "two cycles of the load in time",
            load(chained(repeated(2), timed(2.4)), *LOAD_TIME), "E",
            "duration of the load over that of the motion or the settings of 2"),
    Meaning("cycle", "stance only of a load in time",
            load(chained(lambda samples: samples[samples["percent"] <= CUT_PERCENT], timed(1.2)),
                 *LOAD_TIME), "E", "duration of the load"),
    Meaning("cycle", "stance only taken as a cycle of the load", load(cut(CUT_PERCENT)), "W",
            "load.unloaded"),
    Meaning("cycle", "stance only of the motion in time",
            motion(chained(lambda samples: samples[samples["percent"] <= 50.0], timed(1.2)),
                   *TIME), "E", "a cycle that ends where it starts"),
    Meaning("cycle", "load shifted by half a cycle", load(rolled(GRF)), "W", "load.flexed"),
    Meaning("cycle", "motion constant in every coordinate", motion(constant), "W",
            "motion.flexion_range"),
    Meaning("cycle", "load not closed",
            load(lambda samples: samples.assign(**{GRF: samples[GRF] + 2 * samples["percent"]})),
            "W", "load.gap"),
    Meaning("cycle", "load that ends far from its start",
            load(lambda samples: samples.assign(**{GRF: samples[GRF] + 9 * samples["percent"]})),
            "E", "distance of the last sample from the first over the range of the load"),
    Meaning("cycle", "half the duration of the settings",
            motion(timed(0.6), *TIME), "E", "duration of the file over that of the settings"),
    Meaning("cycle", "five rows", motion(lambda samples: samples.iloc[[0, 12, 25, 37, 50]]), "W",
            "motion.rows"),
    Meaning("cycle", "nine rows of the load",
            load(lambda samples: samples.iloc[::6].assign(**{GRF: lambda one: one[GRF] + 400})),
            "W", "load.rows"),
    Meaning("cycle", "spike in the ground reaction", load(at(GRF, [40], 900.0)), "W",
            "load.spike"),
    Meaning("cycle", "spike in the flexion", motion(at(FLEXION, [10], 40.0)), "W",
            "motion.spike"),
    Meaning("cycle", "zeros for missing values of the motion", motion(at(SI, [10, 11], 0.0)),
            "W", "motion.zeros"),
    Meaning("cycle", "zeros for missing flexion", motion(at(FLEXION, slice(33, 37), 0.0)), "W",
            "motion.zeros"),
    Meaning("cycle", "load in kilonewtons read as body weights and divided",
            joint_load(scale=0.05), "E", "peak load of 0.125 body weights"),
    Meaning("load", "load of one body weight", joint_load(scale=0.4), "W", "load.peak"),
    Meaning("load", "load of eight body weights", joint_load(scale=3.2), "W", "load.peak"),
    Meaning("load", "load of fourteen body weights", joint_load(scale=5.6), "E",
            "found a load of 14"),
    Meaning("load", "scaled to a range of 8 body weights",
            keys((f"{GAIT}.load.load_range_body_weights", [0.25, 8.0])), "W", "load.peak"),
)  # fmt: skip


def _soup(content: bytes) -> np.ndarray:
    """Corners (n, 3, 3) of a binary STL."""
    kind = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
    return np.array(np.frombuffer(content, kind, offset=84)["corners"], dtype=float)


def _stl(corners: np.ndarray) -> bytes:
    """Binary STL of corners (n, 3, 3)."""
    kind = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
    triangles = np.zeros(len(corners), kind)
    triangles["corners"] = corners
    return b" " * 80 + np.uint32(len(corners)).tobytes() + triangles.tobytes()


Soup = Callable[[np.ndarray], np.ndarray]


def mesh(part: str, change: Soup, *settings: tuple[str, Any]) -> Callable[[Path], Path]:
    """The example study with the triangles of a component changed."""
    files = {part: lambda content: _stl(change(_soup(content)))}
    return example(several(*settings), **files)


def hole(x: float, z: float, radius: float) -> Soup:
    """A round hole; axes of the file: x anterior, y superior, z lateral."""

    def change(corners: np.ndarray) -> np.ndarray:
        middle = corners.mean(axis=1)
        return corners[np.hypot(middle[:, 0] - x, middle[:, 2] - z) > radius]

    return change


def second(shift: tuple[float, float, float]) -> Soup:
    """A copy of the component beside it."""
    return lambda corners: np.concatenate([corners, corners + np.array(shift)])


def noise(rms: float) -> Soup:
    """Noise of all vertices, the same for those at one place."""

    def change(corners: np.ndarray) -> np.ndarray:
        places, number = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
        moved = places + np.random.default_rng(1).normal(0.0, rms, places.shape)
        return moved[number.ravel()].reshape(corners.shape)

    return change


def turned(degrees: float) -> Soup:
    """Turn about the medial-lateral axis."""
    angle = np.radians(degrees)
    turn = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0],
                     [0.0, 0.0, 1.0]])  # fmt: skip
    return lambda corners: corners @ turn.T


def _nearest(corners: np.ndarray, x: float, z: float) -> int:
    """Triangle nearest to a position."""
    return int(np.hypot(*(corners.mean(axis=1)[:, [0, 2]] - [x, z]).T).argmin())


def crossing(corners: np.ndarray) -> np.ndarray:
    """The component and a copy turned by a degree, which crosses it."""
    return np.concatenate([corners, turned(1.0)(corners)])


def thinned(corners: np.ndarray) -> np.ndarray:
    """About fifty triangles over the same corners, as decimation leaves them."""
    places = np.unique(corners.reshape(-1, 3), axis=0)
    xs, zs = (np.linspace(places[:, k].min(), places[:, k].max(), n) for k, n in ((0, 5), (2, 8)))
    from scipy.spatial import cKDTree

    height = places[
        cKDTree(places[:, [0, 2]]).query(
            np.stack(np.meshgrid(xs, zs, indexing="ij"), -1).reshape(-1, 2)
        )[1],
        1,
    ].reshape(5, 8)
    grid = np.stack([*np.meshgrid(xs, zs, indexing="ij"), height], axis=-1)[..., [0, 2, 1]]
    a, b, c, d = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
    quads = [np.stack(corner, axis=-2).reshape(-1, 3, 3) for corner in ((a, d, c), (a, c, b))]
    return np.concatenate(quads)  # fmt: skip


GEOMETRY = (
    Meaning("geometry", "hole of 3 mm radius in the medial bearing",
            mesh("insert", hole(0.0, -23.5, 3.0)), "E", "area of a hole of the bearing of"),
    Meaning("geometry", "hole of 3 mm radius in the lateral bearing",
            mesh("insert", hole(2.0, 23.5, 3.0)), "E", "area of a hole of the bearing of"),
    Meaning("geometry", "one triangle missing from the insert",
            mesh("insert", lambda corners: np.delete(corners, _nearest(corners, 0.0, -23.5), 0)),
            "W", "geometry.hole"),
    Meaning("geometry", "second shell 1 mm below", mesh("insert", second((0.0, -1.0, 0.0))), "E",
            "several layers"),
    Meaning("geometry", "second shell 10 um above", mesh("insert", second((0.0, 0.01, 0.0))),
            "E", "several layers"),
    Meaning("geometry", "second shell of the femoral component",
            mesh("femoral", second((0.0, -0.5, 0.0))), "E", "several layers"),
    Meaning("geometry", "copy that crosses the insert", mesh("insert", crossing), "E",
            "several layers"),
    Meaning("geometry", "noise of 50 um on the insert", mesh("insert", noise(0.05)), "W",
            "geometry.noise"),
    Meaning("geometry", "noise of 50 um on the condyles", mesh("femoral", noise(0.05)), "W",
            "geometry.noise"),
    Meaning("geometry", "femoral component scaled to 0.85",
            mesh("femoral", lambda corners: 0.85 * corners), "W", "geometry.width"),
    Meaning("geometry", "insert tilted by 7 degrees", mesh("insert", turned(7.0)), "W",
            "geometry.slope"),
    Meaning("geometry", "insert tilted by 7 degrees forwards", mesh("insert", turned(-7.0)),
            "W", "geometry.slope"),
    Meaning("geometry", "insert decimated to 56 triangles", mesh("insert", thinned), "E",
            "triangles in the window of one side"),
    Meaning("geometry", "underside 50 mm below", keys((f"{MESHES}.underside_mm", -50.0)), "E",
            "thickness at the lowest point above the nominal one of"),
    Meaning("geometry", "underside 4 mm too low", keys((f"{MESHES}.underside_mm", -4.0)), "W",
            "geometry.dwell_thickness"),
    Meaning("geometry", "nominal thickness of 1 mm for a mesh of 6 mm",
            keys(("implant.nominal_thickness_mm", 1.0)), "W", "geometry.dwell_thickness"),
)  # fmt: skip
MEANINGS += GEOMETRY


def render_table() -> str:
    """Table of the documentation."""
    lines = ["| where | what was done | verdict | what is said |", "|---|---|---|---|"]
    for one in MEANINGS:
        said = f"check `{one.said}`" if one.verdict == "W" else one.said.replace("|", "\\|")
        lines.append(f"| {one.group} | {one.name} | {one.verdict} | {said} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(render_table())
