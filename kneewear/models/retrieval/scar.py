"""Worn blocks of a bearing, and the volume removed from them.

Manufacturing tolerance and wear both lower a surface, and nothing but their shape tells them apart.
Depths and volumes are therefore averaged over the likely scars of a search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.models.retrieval.kriging import SMOOTHNESS, Drift, Field, UnwornSurface
from kneewear.models.retrieval.scar_search import (
    MAX_SCARS,
    LikelyScar,
    ScarSearch,
    from_border,
    unworn_surface,
)
from kneewear.models.retrieval.settings import ScanSettings
from kneewear.models.retrieval.surfaces import Blocks

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Fraction of a plateau, in its middle, that is measured with a smaller scar.
_MEASURED_AREA = 0.3
# Width of the band about a scar that is not used as unworn surface, mm.
_MARGIN = 3.6
# Measured blocks about holes of a scan in a scar that depths in them are predicted from: distance,
# mm, least number, and fields that are averaged.
_ABOUT_HOLES = 10.0
_MIN_ABOUT = 12
_HOLE_FIELDS = 4
# Scatter of the mean log likelihoods of walks, and of the largest ones of drifts: walks do not mix
# in so few steps, and no drift and form of wear is quite the right one. Chosen, not measured.
_SCATTER = 8.0
# Likelihood over the largest one below which a scar or drift is left out, and scars averaged at
# most.
_MIN_WEIGHT = 0.03
_MAX_AVERAGED = 14
# Fields that a prediction is averaged over, of all scars together.
_MAX_FIELDS = 12


@dataclass(frozen=True)
class Scar:
    """Worn blocks of a bearing and their depths, averaged over likely scars.

    Parameters
    ----------
    worn : array of bool, shape (n,)
        Blocks of the likeliest scar with its margin.
    probability : array, shape (n,)
        Probability that a block belongs to the scar.
    depth, depth_sd : array, shape (n,)
        Depth removed along the normal and its standard deviation, mm; NaN where not measured.
    volume, volume_sd : array, shape (3,)
        Volume removed from the medial and the lateral plateau and from both, on the blocks of
        `measured_area`, and its standard deviation, mm3.
    sources : mapping
        Standard deviation, shape (3,), mm3, by source.
    fields : tuple of Field
        Tolerance of the reference as seen on unworn blocks of the likeliest scar.
    unworn : array, shape (3,)
        Unworn fraction of each plateau and of both.
    """

    worn: Bools
    probability: Array
    depth: Array
    depth_sd: Array
    volume: Array
    volume_sd: Array
    sources: dict[str, Array]
    fields: tuple[Field, ...]
    unworn: Array


def find_scar(
    blocks: Blocks,
    drifts: Sequence[Drift],
    settings: ScanSettings,
    declared: Bools | None = None,
    excluded: Bools | None = None,
    starts: Sequence[Bools] = (),
) -> Scar:
    """Find worn blocks and their depths from deviations of a scan.

    Parameters
    ----------
    blocks : Blocks
        Deviations.
    drifts : sequence of Drift
        Functions of the drift at the blocks: alternatives that results are averaged over.
    settings : ScanSettings
        Margin about scars and their least area.
    declared : array of bool, shape (n,), optional
        Blocks that are worn as stated by the user; otherwise they are found.
    excluded : array of bool, shape (n,), optional
        Blocks with damage that is not wear, neither worn nor unworn.
    starts : sequence of array of bool, shape (n,)
        Scars that the search tries first.

    Returns
    -------
    Scar
    """
    searches, scars, usable = _searched(blocks, drifts, settings, declared, excluded, starts)
    ranked = [sorted(scars, key=item.likelihood, reverse=True)[:MAX_SCARS] for item in searches]
    shares = _shares([item.likelihood(own[0]) for item, own in zip(searches, ranked, strict=True)])
    likely: list[LikelyScar] = []
    for search, best, share in zip(searches, ranked, shares, strict=True):
        if not share:
            continue
        own = [LikelyScar(search.likelihood(scar), scar, search.drift) for scar in best]
        if declared is None and best[0].any():
            own += search.moved_borders(best[0])
        likely += [replace(item, weight=share * item.weight) for item in _weighted(own)]
    likely.sort(key=lambda item: -item.weight)
    if declared is not None:
        return _averaged(likely, blocks, usable, 0.0)
    with_margins = [replace(item, scar=_with_margin(blocks, item.scar)) for item in likely]
    return _averaged(with_margins, blocks, usable, _MEASURED_AREA)


def likeliest_scar(
    blocks: Blocks,
    drifts: Sequence[Drift],
    settings: ScanSettings,
    excluded: Bools | None = None,
) -> Bools:
    """Likeliest scar with its margin, without depths: what is fitted anew without it.

    Parameters as in `find_scar`.
    """
    searches, scars, _ = _searched(blocks, drifts, settings, None, excluded, ())
    best = max((search.likelihood(scar), n) for search in searches for n, scar in enumerate(scars))
    return _with_margin(blocks, scars[best[1]])


def _searched(
    blocks: Blocks,
    drifts: Sequence[Drift],
    settings: ScanSettings,
    declared: Bools | None,
    excluded: Bools | None,
    starts: Sequence[Bools],
) -> tuple[list[ScarSearch], list[Bools], Bools]:
    """Searches by each drift, likely scars of all, and blocks that are used."""
    usable = np.isfinite(blocks.deviation)
    if excluded is not None:
        usable &= ~excluded
    searches = [ScarSearch(blocks, drift, settings, usable) for drift in drifts]
    if declared is not None:
        return searches, [declared], usable
    scars: list[Bools] = []
    for search in searches:
        # What is likely by one drift may be far from all that a search by another one tries.
        scars += search.scars([*starts, *scars])
    return searches, scars, usable


def measured_area(blocks: Blocks, scar: Bools, least: float = _MEASURED_AREA) -> Bools:
    """Blocks that a volume is the sum of: a scar, and the middle of plateaus with a small one.

    A search finds small scars on some unworn inserts too. Summed on these alone, volumes of unworn
    inserts would scatter less than a volume of the limit does.

    Parameters
    ----------
    blocks : Blocks
    scar : array of bool, shape (n,)
    least : float
        Worn fraction of a plateau up to which its middle is measured too.
    """
    distance, measured = from_border(blocks), scar.copy()
    for side in np.unique(blocks.side):
        own = blocks.side == side
        if scar[own].mean() <= least:
            measured |= own & (distance > np.quantile(distance[own], 1.0 - _MEASURED_AREA))
    return measured


def _shares(values: Sequence[float]) -> Array:
    """Weights of drifts that sum to 1, from the largest log likelihood of each."""
    best = max(values)
    if not np.isfinite(best):
        return np.full(len(values), 1.0 / len(values))
    weights = np.exp((np.array(values) - best) / _SCATTER)
    weights[weights < _MIN_WEIGHT] = 0.0
    return np.asarray(weights / weights.sum())


def _weighted(items: Sequence[LikelyScar]) -> list[LikelyScar]:
    """Likeliest scars first; log likelihoods become weights that sum to 1."""
    best = max(item.weight for item in items)
    if not np.isfinite(best):
        # Declared on nearly the whole bearing: nothing separates them.
        return [replace(item, weight=1.0 / len(items)) for item in items]
    weighted = []
    for item in items:
        weight = float(np.exp((item.weight - best) / (_SCATTER if item.group else 1.0)))
        if weight > _MIN_WEIGHT:
            weighted.append(replace(item, weight=weight / max(item.group, 1)))
    ranked = sorted(weighted, key=lambda item: -item.weight)[:_MAX_AVERAGED]
    total = sum(item.weight for item in ranked)
    return [replace(item, weight=item.weight / total) for item in ranked]


def _with_margin(blocks: Blocks, scar: Bools) -> Bools:
    """A scar with the band about it into which wear fades unseen."""
    if not scar.any():
        return scar
    distance = scipy.ndimage.distance_transform_edt(~blocks.masked(scar)) * blocks.size
    return np.asarray((distance <= _MARGIN)[blocks.row, blocks.column])


def _averaged(likely: Sequence[LikelyScar], blocks: Blocks, usable: Bools, least: float) -> Scar:
    """Depths and volumes averaged over scars; `least` as in `measured_area`."""
    plan = blocks.points[:, [0, 2]]
    volumes, depths, depth_squares, pieces, all_fields = [], [], [], [], []
    for item in likely:
        worn, drift = measured_area(blocks, item.scar, least), item.drift
        area = np.where(worn, blocks.area, 0.0)
        sums = np.stack([area * (blocks.side == 0), area * (blocks.side == 1), area])
        fields = max(round(_MAX_FIELDS * item.weight), 2)
        surface = unworn_surface(blocks, drift, usable & ~worn).fitted(fields)
        result = surface.predict(plan, drift, sums)
        depth = np.where(usable, result.mean - blocks.deviation, np.nan)
        depth, filled_sd, holes_sd = _filled(depth, plan, worn, usable, sums)
        volumes.append(sums @ np.nan_to_num(depth))
        depths.append(depth)
        depth_squares.append(result.sd**2 + filled_sd**2)
        of_field = (result.drift_sd, result.field_sd, result.noise_sd, result.choice_sd)
        pieces.append([*of_field, holes_sd])
        all_fields.append(surface.fields)
    weights = np.array([item.weight for item in likely])
    volume = weights @ np.stack(volumes)
    drift_sd, field_sd, noise_sd, choice_sd, holes_sd = np.sqrt(
        np.einsum("s,spk->pk", weights, np.array(pieces) ** 2)
    )
    apart = np.stack(volumes) - volume
    # Of equal volumes there is a rest by rounding.
    between = weights @ np.where(np.abs(apart) > 1e-9 * np.abs(volume), apart, 0.0) ** 2
    mean = weights @ np.stack(depths)
    depth_sd = np.sqrt(weights @ (np.stack(depth_squares) + (np.stack(depths) - mean) ** 2))
    sources = {
        "position": drift_sd,
        "tolerance": field_sd,
        "form of tolerance": choice_sd,
        "scanner": noise_sd,
        "scar": np.sqrt(between),
        "holes": holes_sd,
    }
    total = np.sqrt(sum(item**2 for item in sources.values()))
    worn = likely[0].scar
    probability = weights @ np.stack([item.scar for item in likely])
    return Scar(
        worn,
        probability,
        mean,
        depth_sd,
        volume,
        total,
        sources,
        all_fields[0],
        unworn_fractions(blocks, worn),
    )


def unworn_fractions(blocks: Blocks, worn: Bools) -> Array:
    """Unworn fraction of the blocks of the medial and the lateral plateau and of both, (3,)."""
    sides = [blocks.side == 0, blocks.side == 1, np.ones(worn.size, dtype=bool)]
    return np.array([np.mean(~worn[own]) if own.any() else np.nan for own in sides])


def _filled(
    depth: Array, plan: Array, worn: Bools, usable: Bools, sums: Array
) -> tuple[Array, Array, Array]:
    """Depths, also in holes of a scan and in damage inside a scar.

    Depths about a hole are predicted into it, as unworn surface is below a scar. Returned are the
    depths and their standard deviations in holes, mm, and the standard deviations of the sums.
    """
    missing, sd, sums_sd = worn & ~usable, np.zeros(depth.size), np.zeros(len(sums))
    if not missing.any():
        return depth, sd, sums_sd
    known = usable & np.isfinite(depth)
    near = scipy.spatial.cKDTree(plan[missing]).query(plan[known])[0] < _ABOUT_HOLES
    about = np.flatnonzero(known)[near]
    if about.size < _MIN_ABOUT:
        return depth, sd, sums_sd
    # Worn surface has edges: an infinitely smooth field would be too sure of what is in a hole.
    surface = UnwornSurface(plan[about], depth[about], Drift(np.ones((about.size, 1))))
    result = surface.fitted(_HOLE_FIELDS, smoothness=SMOOTHNESS[:2]).predict(
        plan[missing], Drift(np.ones((int(missing.sum()), 1))), sums[:, missing]
    )
    filled = depth.copy()
    filled[missing], sd[missing] = result.mean, result.sd
    return filled, sd, result.total_sd
