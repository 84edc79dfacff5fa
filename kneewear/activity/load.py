"""Axial load over one cycle from a measured curve."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from kneewear.activity.cycles import close_cycle, resample_cycle
from kneewear.activity.settings import LoadSettings
from kneewear.base.checks import checks, judge
from kneewear.errors import Finding, InputDataError

Array = NDArray[np.float64]

# Standard gravity as orthopaedics rounds it, m/s2.
GRAVITY = 9.81
# The maximum of a cycle is above this many body weights, unless the file is in kN or body weights.
MIN_PEAK = 0.05
# Negative forces of sensors within this part of the peak are noise (some 20 to 50 N in swing).
NOISE_PART = 0.04
# What a sample without any force is given, of the peak, and a side, of the load of its frame.
MIN_PART = 0.005
MIN_SHARE = 0.02
# Peaks up to this are percent of body weight: in newtons they are less than a child weighs.
_MAX_PERCENT = 600.0
# Medial share above which a medial force may be the total: the lateral side then carries 56 % of it
# at most (54 % over a gait of subject DM). Below it the leg would be in valgus.
_APPARENT_SHARE_OF_TOTAL = 1.0 / 1.56
# No insert is wider than twice this, mm.
FARTHEST_LINE = 60.0


def scale_ground_reaction(force: ArrayLike, limits: tuple[float, float]) -> Array:
    """Axial knee load, body weights, from a vertical ground reaction, any unit.

    load = low + (high - low) (force - min) / (max - min), with the limits low and high (0.25 and
    3.0 in Bei 2003, section 4.2.1, after Taylor et al. 1998, 2001): the shape of the ground
    reaction; no muscle force is computed. ValueError if the force is constant.
    """
    force = np.asarray(force, dtype=float)
    span = np.ptp(force)
    if span == 0:
        raise ValueError("a constant ground reaction cannot be scaled to a range of loads")
    return limits[0] + (limits[1] - limits[0]) * (force - force.min()) / span


def clip_noise(load: pd.DataFrame, settings: LoadSettings) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Measured forces without the negative noise of sensors, and notes that count it.

    The column load is the sum where the file has sides. Negative forces within `NOISE_PART` of its
    peak become zero; a sample without any force gets `MIN_PART` of the peak, because every frame
    needs a load. InputDataError where the force of a side pulls by more.
    """
    sides = ("medial", "lateral") if "medial" in load else ()
    if settings.kind == "ground_reaction":
        return load, ()
    peak = float((load["medial"] + load["lateral"] if sides else load["load"]).max())
    notes = []
    for name in sides or ("load",):
        values = load[name].to_numpy(dtype=float)
        least = int(values.argmin())
        if sides and values[least] < -NOISE_PART * peak:
            raise InputDataError(
                settings.file,
                f"a force of {values[least]:g} with a peak of both sides of {peak:g}",
                f"positive (compressive) forces, noise within {100 * NOISE_PART:g} % of the peak",
                "Reverse the sign, or correct the zero of the sensor.",
                f"column '{getattr(settings.columns, name)}', data row {least + 1}",
            )
        noise = (values < 0.0) & (values >= -NOISE_PART * peak)
        if noise.any():
            load = load.assign(**{name: np.where(noise, 0.0, values)})
            notes.append(
                f"{noise.sum()} of {noise.size} samples of the {name} force were negative (to "
                f"{values[least]:.3g}), noise of the sensor: set to zero"
            )
    if sides:
        load = load.assign(load=load["medial"] + load["lateral"])
    empty = (load["load"] == 0.0).to_numpy()
    if notes and empty.any():
        least_load = MIN_PART * peak
        load = load.assign(load=np.where(empty, least_load, load["load"]))
        if sides:
            load = load.assign(medial=np.where(empty, 0.5 * least_load, load["medial"]))
        notes.append(
            f"{empty.sum()} samples without any force: given {100 * MIN_PART:g} % of the peak"
        )
    return load, tuple(notes)


def load_sharing(
    load: pd.DataFrame, settings: LoadSettings, frames: int, closing_percent: float
) -> tuple[dict[str, Array], tuple[str, ...]]:
    """Measured `medial_share` or `varus_moment` of an `Activity` at each frame, and notes.

    Forces, not shares, are resampled. A side that carries less than `MIN_SHARE` is given that
    much: equilibria keep both sides in contact. Nothing where the file has only the total.
    InputDataError if a share is not one, or a moment belongs to another unit than N m.
    """
    percent = load["percent"].to_numpy(dtype=float)

    def resampled(values: pd.Series) -> Array:
        closed, _ = close_cycle(percent, values.to_numpy(dtype=float), closing_percent)
        return resample_cycle(percent, closed, frames)

    total = resampled(load["load"])
    if "varus_moment_n_m" in load:
        line = 1000.0 * resampled(load["varus_moment_n_m"]) / total
        most = int(np.abs(line).argmax())
        if abs(line[most]) > FARTHEST_LINE:
            raise InputDataError(
                settings.file,
                f"a moment that puts the load {line[most]:.3g} mm medial of the insert's origin",
                f"a moment in N m about that origin, for a line within {FARTHEST_LINE:g} mm",
                "Check its unit and the point it is taken about; in swing both must be small.",
                f"column '{settings.columns.varus_moment_n_m}'",
            )
        weight = (settings.body_mass_kg or 1.0) * GRAVITY
        note = (
            f"load line from the varus moment: {line.min():.3g} to {line.max():.3g} mm medial of "
            "the insert's origin"
        )
        return {"varus_moment": line * total / weight}, (note,)
    if "medial_share" in load:
        given = load["medial_share"].to_numpy(dtype=float)
        worst = int(np.abs(given - 0.5).argmax())
        if not 0.0 <= given[worst] <= 1.0:
            raise InputDataError(
                settings.file,
                f"a share of {given[worst]:g}",
                "a share from 0 to 1",
                "Divide percent by 100.",
                f"column '{settings.columns.medial_share}', data row {worst + 1}",
            )
        load = load.assign(medial=load["medial_share"] * load["load"])
    if "medial" not in load:
        return {}, ()
    medial = resampled(load["medial"])
    measured = medial / total
    share = np.clip(measured, MIN_SHARE, 1.0 - MIN_SHARE)
    notes = [
        f"measured medial share: {100 * medial.sum() / total.sum():.3g} % of the force over the "
        f"cycle, {100 * measured[total.argmax()]:.3g} % at its peak, {100 * share.min():.3g} to "
        f"{100 * share.max():.3g} % by frame"
    ]
    few = int(np.sum(share != measured))
    if few:
        notes.append(
            f"{few} of {frames} frames have a side with less than {100 * MIN_SHARE:g} % of the "
            "load, and were given that much"
        )
    return {"medial_share": share}, tuple(notes)


def judge_sharing(load: pd.DataFrame, settings: LoadSettings) -> tuple[Finding, ...]:
    """Findings about the measured sides of a load, columns as of `clip_noise`.

    The medial share at the largest load, and how far both sides are loaded together.
    """
    if "medial" not in load and "medial_share" not in load:
        return ()
    row = int(load["load"].to_numpy().argmax())
    share = load["medial"] / load["load"] if "medial" in load else load["medial_share"]
    column = settings.columns.medial or settings.columns.medial_share
    remedy = "Medial and lateral may be exchanged: check the names of the columns."
    where = f"column '{column}', data row {row + 1}"
    medial = share * load["load"]
    lateral = load["load"] - medial
    together = 1.0
    if np.ptp(medial) > 0.0 and np.ptp(lateral) > 0.0:
        together = float(np.corrcoef(medial, lateral)[0, 1])
    shifted = "One side may be shifted, reversed or of another trial: check its column."
    found = (
        _judge_excess(medial, lateral, settings, f"column '{column}'"),
        judge("load.medial_share", float(share[row]), settings.file, remedy, where),
        judge("load.sides", together, settings.file, shifted, f"column '{column}'"),
    )
    return tuple(one for one in found if one is not None)


def _judge_excess(
    medial: pd.Series, lateral: pd.Series, settings: LoadSettings, where: str
) -> Finding | None:
    """Finding about a medial force that may be the total of both sides."""
    both = medial + lateral
    # A total exceeds each of its parts in every frame, but so does the medial side of many legs.
    if float(medial.sum() / both.sum()) < _APPARENT_SHARE_OF_TOTAL:
        return None
    excess = float(np.min(medial - lateral) / np.max(both))
    remedy = (
        "The column may be the load of both sides: name it `load` then. A leg in varus has such "
        "forces, too."
    )
    return judge("load.medial_excess", excess, settings.file, remedy, where)


def judge_peak(load: pd.DataFrame, settings: LoadSettings, sampled: Array) -> tuple[Finding, ...]:
    """Finding where closing and resampling changed the peak of a load from that of its file.

    `sampled` are the forces of `axial_load`.
    """
    values = load["load"].to_numpy(dtype=float)
    if settings.kind == "ground_reaction":
        values = scale_ground_reaction(values, settings.load_range_body_weights or (0.0, 1.0))
    peak = float(values.max()) / ((settings.body_mass_kg or 1.0 / GRAVITY) * GRAVITY)
    change = abs(float(sampled.max()) / peak - 1.0)
    remedy = "Raise simulation.frames, or cut the cycle in swing."
    found = judge("load.processing", change, settings.file, remedy)
    return () if found is None else (found,)


def axial_load(
    load: pd.DataFrame, settings: LoadSettings, frames: int, closing_percent: float
) -> tuple[Array, tuple[str, ...]]:
    """Axial load at each frame, body weights, and notes on its processing.

    `load` has columns percent and load (body weights, N, or a ground reaction in any unit).
    InputDataError if the load is not positive, or in another unit.
    """
    percent, values = (load[name].to_numpy(dtype=float) for name in ("percent", "load"))
    notes = []
    if settings.kind == "ground_reaction":
        limits = settings.load_range_body_weights
        if limits is None:
            raise ValueError("a ground reaction needs load_range_body_weights")
        if np.ptp(values) == 0:
            raise InputDataError(
                settings.file,
                f"a constant ground reaction of {values[0]:g}",
                "a curve with a minimum and a maximum",
                "Check `columns.load`, or use kind: axial_load.",
            )
        values = scale_ground_reaction(values, limits)
        notes.append(f"ground reaction scaled linearly to {limits[0]:g}-{limits[1]:g} body weights")
    if settings.body_mass_kg is not None:
        values = values / (settings.body_mass_kg * GRAVITY)
        notes.append(f"axial force in N divided by the weight of {settings.body_mass_kg:g} kg")
    _check_body_weights(values, settings)
    closed, gap = close_cycle(percent, values, closing_percent)
    if gap:
        notes.append(
            f"load gap of {float(gap):+.3g} body weights between 100 and 0 percent blended out "
            f"over the last {closing_percent:g} percent"
        )
    sampled = resample_cycle(percent, closed, frames)
    if sampled.min() <= 0:
        raise InputDataError(
            settings.file,
            f"a resampled load down to {sampled.min():.3g} body weights",
            "a load that stays positive",
            "Give more samples, or a load that is positive everywhere.",
        )
    notes.append(
        f"load of {len(percent)} samples resampled to {frames} frames: {sampled.mean():.3g} body "
        f"weights on average over the cycle, {sampled.min():.3g} to {sampled.max():.3g}"
    )
    return sampled, tuple(notes)


def _check_body_weights(values: Array, settings: LoadSettings) -> None:
    """Refuse loads that pull or are in another unit."""
    columns = settings.columns
    column = f"column '{columns.load or columns.medial}'"
    unit = "body weights" if settings.body_mass_kg is None else "body weights after division"
    if values.min() <= 0:
        row = int(values.argmin())
        raise InputDataError(
            settings.file,
            f"a load of {values[row]:g} {unit}",
            "a positive (compressive) load",
            "Reverse the sign, or use kind: ground_reaction to scale the curve.",
            f"{column}, data row {row + 1}",
        )
    most = checks()["load.peak"].range.highest
    if values.max() > most:
        raise InputDataError(
            settings.file,
            f"a load of {values.max():g}",
            f"body weights, below {most:g}",
            "These look like percent of body weight: divide by 100."
            if settings.body_mass_kg is None and values.max() <= _MAX_PERCENT
            else "This looks like newtons: use kind: axial_force_n with body_mass_kg.",
            f"{column}, data row {int(values.argmax()) + 1}",
        )
    if settings.body_mass_kg is not None and values.max() < MIN_PEAK:
        raise InputDataError(
            settings.file,
            f"a maximum force of {values.max() * settings.body_mass_kg * GRAVITY:.3g} N",
            f"more than {MIN_PEAK:g} of the weight of {settings.body_mass_kg:g} kg",
            "This looks like body weights or kN: use kind: axial_load, or convert to N.",
            column,
        )
