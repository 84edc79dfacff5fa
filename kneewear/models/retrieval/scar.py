"""Worn blocks of a bearing, and the volume removed from them.

Manufacturing tolerance and wear both lower a surface, and nothing but their shape tells them apart.
Candidates of the scar, level sets of the deviation, are therefore compared by their likelihood:
deviations are drift, a random field of the tolerance and noise everywhere, and in addition a field
of wear, which fades to zero at the border of the scar. Borders of the likeliest are
then moved at random by their likelihoods, and results averaged over the likely scars.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.models.retrieval.kriging import (
    SMOOTHNESS,
    Drift,
    Field,
    UnwornSurface,
    correlation,
    likelihood,
    likely_fields,
)
from kneewear.models.retrieval.settings import ScanSettings
from kneewear.models.retrieval.surfaces import Blocks

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Iterations of the envelope; ratio of the weights of blocks below it and above it: an expectile
# near the unworn surface even where nine tenths are worn.
_ENVELOPE_STEPS = 40
_BELOW = 0.02
# Candidates: worn fractions of the plateaus, depths, mm, ratios to the best fraction, and
# smoothing of the deviation, mm.
_FRACTIONS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_LEVELS = (0.01, 0.02, 0.035, 0.055)
_NEIGHBOURS = (0.0, 0.7, 0.85, 1.0, 1.15, 1.35)
_SMOOTHING = (1.5, 4.0)
_ROUNDS = 2
# Ellipses that are tried as scars: ratios of their axes to the plateau's, steps of centre and half
# axes, mm, and moves in one direction.
_ELLIPSE_SIZES = (0.4, 0.55, 0.7, 0.85)
_ELLIPSE_STEPS = (4.0, 2.0, 1.0)
_ELLIPSE_MOVES = 4
# Blocks of the likelihood of candidates, at most.
_SAMPLE = 220
# Wear of a scar: SD of its mean depth, mm; SD of its variation, mm, over a distance, mm, and the
# power of the depth that it grows by; and width over which it fades, mm.
_WEAR_DEPTH = 0.15
_WEAR_VARIATION = ((0.08, 10.0, 1.0), (0.02, 4.0, 2.0))
_FADING = 5.0
# Depth of a usual scar, mm; these numbers grow with the depth of deeper ones.
_USUAL_DEPTH = 0.25
# Roughness of a scar's depth, mm.
_WEAR_ROUGHNESS = 0.005
# Tolerance of inserts: SD of 15 to 60 um. CAD deviates by 26 to 37 um on average (PMC3369103,
# quoted, not read).
_USUAL_TOLERANCE = 0.03
_TOLERANCE_SPREAD = 0.35  # of its natural logarithm
# Fraction of a plateau, in its middle, that is measured with a smaller scar.
_MEASURED_AREA = 0.3
# Width of the band about a scar that is not used as unworn surface, mm.
_MARGIN = 3.6
# Measured blocks about holes of a scan in a scar that depths in them are predicted from: distance,
# mm, least number, and fields that are averaged.
_ABOUT_HOLES = 10.0
_MIN_ABOUT = 12
_HOLE_FIELDS = 4
# Borders of scars moved by random distances: SD, mm, over a length, mm; part that a step changes,
# steps, and scars that are kept of a walk.
_BORDER_MOVES = ((2.0, 6.0), (3.0, 15.0))
_BORDER_CHANGE = 0.25
_BORDER_STEPS = 600
_BORDERS = 3
# Scatter of the mean log likelihoods of walks: they do not mix in so few steps, and no drift and
# form of wear is quite the right one. Chosen, not measured.
_SCATTER = 8.0
# Likelihood over the largest one below which a scar is left out, level sets among those that are
# averaged at most, and scars averaged at most.
_MIN_WEIGHT = 0.03
_MAX_SCARS = 4
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


def envelope(deviation: Array, drift: Drift) -> Array:
    """Drift near the upper border of deviations, mm.

    Wear only removes: unworn blocks are the highest ones, however few they are.
    """
    basis = drift.orthogonal().columns
    # Coefficients with a prior distribution are values about zero.
    prior = _USUAL_TOLERANCE * np.eye(basis.shape[1])[basis.shape[1] - drift.expected :]
    values = np.r_[deviation, np.zeros(drift.expected)]
    weight = np.ones(len(deviation))
    fitted = np.zeros_like(deviation)
    for _ in range(_ENVELOPE_STEPS):
        root = np.sqrt(weight)
        rows = np.vstack([root[:, None] * basis, prior])
        scaled = np.r_[root, np.ones(drift.expected)] * values
        fitted = basis @ np.linalg.lstsq(rows, scaled, rcond=None)[0]
        weight = np.where(deviation > fitted, 1.0, _BELOW)
    return fitted


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
    likely: list[_Likely] = []
    for search in searches:
        ranked = sorted(scars, key=search.likelihood, reverse=True)[:_MAX_SCARS]
        own = [_Likely(search.likelihood(scar), scar, search.drift) for scar in ranked]
        if declared is None and ranked[0].any():
            own += search.moved_borders(ranked[0])
        # No drift is quite the form of an insert, so that their likelihoods decide nothing.
        likely += _weighted(own)
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
) -> tuple[list[_Search], list[Bools], Bools]:
    """Searches by each drift, likely scars of all, and blocks that are used."""
    usable = np.isfinite(blocks.deviation)
    if excluded is not None:
        usable &= ~excluded
    searches = [_Search(blocks, drift, settings, usable) for drift in drifts]
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


@dataclass(frozen=True)
class _Likely:
    """A scar with a drift, and its weight or log likelihood.

    `group` is the number of scars that have this mean of their log likelihoods together, 0 for a
    scar that has it by itself.
    """

    weight: float
    scar: Bools
    drift: Drift
    group: int = 0


def _weighted(items: Sequence[_Likely]) -> list[_Likely]:
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


class _Search:
    """Search of likely scars among level sets of the deviation."""

    def __init__(self, blocks: Blocks, drift: Drift, settings: ScanSettings, usable: Bools) -> None:
        self.blocks, self.drift, self.settings, self.usable = blocks, drift, settings, usable
        chosen = np.random.default_rng(0).permutation(np.flatnonzero(usable))[:_SAMPLE]
        self.sample = np.sort(chosen)
        plan = blocks.points[self.sample][:, [0, 2]]
        self.distance = scipy.spatial.distance.squareform(scipy.spatial.distance.pdist(plan))
        self.known: dict[bytes, float] = {}
        self.ellipse: Bools | None = None
        self._set_depth(1.0)

    def _set_depth(self, ratio: float) -> None:
        """Set the covariance of wear for scars so many times deeper than usual ones."""
        self.wear = (_WEAR_DEPTH * ratio) ** 2 * np.ones_like(self.distance)
        for sd, length, power in _WEAR_VARIATION:
            # Deep scars vary more, and the more over short distances: they have edges.
            self.wear += (sd * ratio**power) ** 2 * correlation(self.distance, length, "gaussian")
        self.roughness = _WEAR_ROUGHNESS * ratio

    def scars(self, starts: Sequence[Bools] = ()) -> list[Bools]:
        """Scars that were tried, the likeliest first; `starts` are tried before others."""
        best = np.zeros(self.usable.size, dtype=bool)
        low = np.zeros(self.usable.size)
        usable = self.usable
        low[usable] = envelope(self.blocks.deviation[usable], self.drift.at(usable))
        low -= np.where(usable, self.blocks.deviation, 0.0)
        self._set_depth(max(float(np.quantile(low[usable], 0.99)) / _USUAL_DEPTH, 1.0))
        result: dict[bytes, tuple[float, Bools]] = {}

        def judge(scar: Bools) -> None:
            result[scar.tobytes()] = (self.likelihood(scar), scar)

        # Of both plateaus together first: one that is taken for unworn hides the other's scar.
        everywhere = np.ones(usable.size, dtype=bool)
        judge(best)
        for scar in self._candidates(from_border(self.blocks), everywhere, _FRACTIONS[::2]):
            judge(scar)
        for scar in starts:
            judge(scar)
        sides = [self.blocks.side == side for side in np.unique(self.blocks.side)]
        self.ellipse = self._likeliest_ellipses(sides)
        judge(self.ellipse)
        best = max(result.values(), key=lambda item: item[0])[1]
        for number in range(_ROUNDS):
            start = best
            for scar in self._candidates(low, everywhere, _FRACTIONS, _LEVELS):
                judge(scar)
            best = max(result.values(), key=lambda item: item[0])[1]
            for own in sides:
                near = best[own].mean() * np.array(_NEIGHBOURS)
                for scar in self._candidates(low, own, tuple(near[near < 1.0])):
                    judge(np.where(own, scar, best))
                best = max(result.values(), key=lambda item: item[0])[1]
            if number and (start == best).all():
                break
            low = self._lowered(best)
        ranked = sorted(result.values(), key=lambda item: -item[0])
        return [scar for _, scar in ranked[:_MAX_SCARS]]

    def _candidates(
        self,
        low: Array,
        own: Bools,
        fractions: tuple[float, ...],
        levels: tuple[float, ...] = (),
    ) -> Iterator[Bools]:
        """Level sets of how low some blocks are, by worn fractions and by depths, mm."""
        blocks = self.blocks
        inside = blocks.masked(own)
        used = blocks.masked(own & self.usable)
        image = blocks.image(np.where(own & self.usable, low, 0.0), 0.0) * used
        for width in _SMOOTHING if levels else _SMOOTHING[:1]:
            sigma = width / blocks.size
            weight = scipy.ndimage.gaussian_filter(used.astype(float), sigma)
            smooth = scipy.ndimage.gaussian_filter(image, sigma)
            smooth = np.divide(smooth, weight, out=np.zeros_like(smooth), where=weight > 1e-3)
            quantiles = np.quantile(smooth[inside], [1.0 - item for item in fractions])
            for level in (*quantiles, *levels):
                above = (smooth > level) & inside
                label, count = scipy.ndimage.label(above)
                sizes = scipy.ndimage.sum_labels(above, label, np.arange(1, count + 1))
                large = sizes * blocks.size**2 >= self.settings.smallest_scar_mm2
                scar = np.isin(label, 1 + np.flatnonzero(large))
                scar = scipy.ndimage.binary_fill_holes(scar) & inside
                yield np.asarray(scar[blocks.row, blocks.column] & own)

    def _likeliest_ellipses(self, sides: Sequence[Bools]) -> Bools:
        """Ellipses on each plateau, moved and stretched while they become likelier.

        Level sets follow a scar only where the unworn surface is known already; a reconstructed
        shape that was drawn into a scar has none that is like it.
        """
        plan = self.blocks.points[:, [0, 2]]
        boxes = [(plan[own].min(axis=0), plan[own].max(axis=0)) for own in sides]

        def scar_of(ellipses: Array) -> Bools:
            return _ellipse_scar(plan, sides, ellipses)

        tried = [
            np.array([np.r_[low + high, size * (high - low)] / 2.0 for low, high in boxes])
            for size in _ELLIPSE_SIZES
        ]
        known, ellipses = max(
            ((self.likelihood(scar_of(item)), item) for item in tried), key=lambda pair: pair[0]
        )
        directions = [*np.eye(4), *-np.eye(4), np.array([0.0, 0.0, 1.0, 1.0])]
        for step, number in product(_ELLIPSE_STEPS, range(len(sides))):
            for direction in directions:
                for _ in range(_ELLIPSE_MOVES):
                    moved = ellipses.copy()
                    moved[number] += step * direction
                    value = self.likelihood(scar_of(moved))
                    if value <= known:
                        break
                    ellipses, known = moved, value
        return scar_of(ellipses)

    def _fading(self, scar: Bools) -> Array:
        """Factor of wear at the sampled blocks: rises from 0 outside the scar to 1 inside it."""
        blocks = self.blocks
        distance = np.zeros(scar.size)
        for side in (0, 1):
            own = blocks.side == side
            outside = blocks.masked(own & ~scar)
            if not outside.any():
                distance[own] = _FADING
                continue
            image = scipy.ndimage.distance_transform_edt(~outside) * blocks.size
            distance[own] = image[blocks.row, blocks.column][own]
        return np.where(scar, np.minimum(distance / _FADING, 1.0), 0.0)[self.sample]

    def likelihood(self, scar: Bools) -> float:
        """Restricted log likelihood of the sampled deviations with a scar."""
        key = scar.tobytes()
        if key in self.known:
            return self.known[key]
        if not self._unworn_enough(scar):
            self.known[key] = -np.inf
            return -np.inf
        self.known[key] = max(self._likelihood(scar, *item) for item in self._tolerances(scar))
        return self.known[key]

    def _unworn_enough(self, scar: Bools) -> bool:
        """True where the sampled blocks outside a scar show the drift."""
        size = self.sample.size
        least = max(self.settings.least_unworn * size, self.drift.count + 5)
        return bool((~scar[self.sample]).sum() >= least)

    def _tolerances(self, scar: Bools) -> list[tuple[Array, float]]:
        """Covariances of the likeliest tolerances, and the logarithms of their priors."""
        rows, sample = np.flatnonzero(~scar[self.sample]), self.sample
        drift = self.drift.at(sample).at(rows)
        distances, values = self.distance[np.ix_(rows, rows)], self.blocks.deviation[sample][rows]
        result = []
        for item in likely_fields(distances, values, drift, coarse=True)[:3]:
            covariance = item.sd**2 * correlation(self.distance, item.length, item.smoothness)
            covariance[np.diag_indices_from(covariance)] += item.sd**2 * item.nugget
            unusual = np.log(max(item.sd, 1e-4) / _USUAL_TOLERANCE) / _TOLERANCE_SPREAD
            result.append((covariance, -0.5 * max(unusual, 0.0) ** 2))
        return result

    def _likelihood(self, scar: Bools, tolerance: Array, prior: float) -> float:
        """Restricted log likelihood with a scar and a covariance of the tolerance."""
        fading = self._fading(scar)
        wear = fading[:, None] * self.wear * fading
        wear[np.diag_indices_from(wear)] += np.where(fading > 0.0, self.roughness**2, 0.0)
        values, drift = self.blocks.deviation[self.sample], self.drift.at(self.sample)
        return likelihood(tolerance + wear, values, drift) + prior

    def moved_borders(self, scar: Bools) -> list[_Likely]:
        """Scars drawn by their likelihoods, from two starts: the likeliest scar and an ellipse.

        Level sets of a deviation follow the tolerance: a border leaves out what is high by chance,
        and their likelihoods say nothing of borders between them. An ellipse does not follow it.
        """
        starts = [scar] if self.ellipse is None else [scar, self.ellipse]
        every = _BORDER_STEPS // (2 * _BORDERS)
        result = []
        for start in starts:
            if not np.isfinite(self.likelihood(start)):
                continue
            walk = list(self._walk(start))[_BORDER_STEPS // 2 :]
            mean = float(np.mean([value for _, value in walk]))
            chosen = [item for item, _ in walk[every - 1 :: every]]
            result += [_Likely(mean, item, self.drift, len(chosen)) for item in chosen]
        return result

    def _walk(self, scar: Bools) -> Iterator[tuple[Bools, float]]:
        """Scars with borders moved by smooth random distances, and their log likelihoods.

        Metropolis steps of which a normal distribution of the distances is the prior
        (preconditioned Crank-Nicolson).
        """
        blocks, rng = self.blocks, np.random.default_rng(0)
        start, moved = _inside_border(blocks, scar), np.zeros(scar.size)
        for step in range(_BORDER_STEPS):
            if step in (0, _BORDER_STEPS // 4):
                tolerance = self._tolerances(scar)[0]
                known = self._likelihood(scar, *tolerance)
            own = blocks.side == step % 2
            proposed = np.sqrt(1.0 - _BORDER_CHANGE**2) * moved
            proposed += _BORDER_CHANGE * _border_move(rng, blocks)
            proposed = np.where(own, proposed, moved)
            candidate, value = np.asarray(start + proposed > 0.0), -np.inf
            if self._unworn_enough(candidate):
                value = self._likelihood(candidate, *tolerance)
            if np.log(rng.uniform()) < value - known:
                moved, scar, known = proposed, candidate, value
            yield scar, known

    def _lowered(self, scar: Bools) -> Array:
        """Lowering of blocks against the surface predicted from those outside a scar, mm."""
        surface = _unworn_surface(self.blocks, self.drift, self.usable & ~scar).fitted(
            1, coarse=True
        )
        result = surface.predict(
            self.blocks.points[:, [0, 2]], self.drift, np.zeros((0, scar.size))
        )
        return np.where(self.usable, result.mean - self.blocks.deviation, 0.0)


def _ellipse_scar(plan: Array, sides: Sequence[Bools], ellipses: Array) -> Bools:
    """Blocks at plan positions (n, 2) within the ellipse (x, z, half axes) of their side."""
    scar = np.zeros(len(plan), dtype=bool)
    for own, values in zip(sides, ellipses, strict=True):
        distance = (plan - values[:2]) / np.maximum(values[2:], 1.0)
        scar |= own & ((distance**2).sum(axis=1) < 1.0)
    return scar


def _inside_border(blocks: Blocks, scar: Bools) -> Array:
    """Distance of blocks from the border of a scar, mm: positive inside it."""
    image = blocks.masked(scar)
    inside = scipy.ndimage.distance_transform_edt(np.pad(image, 1))[1:-1, 1:-1]
    outside = scipy.ndimage.distance_transform_edt(~image)
    return np.asarray(((inside - outside) * blocks.size)[blocks.row, blocks.column])


def _border_move(rng: np.random.Generator, blocks: Blocks) -> Array:
    """Smooth random distances at the blocks, mm."""
    shape = (blocks.row.max() + 1, blocks.column.max() + 1)
    total = np.zeros(shape)
    for sd, length in _BORDER_MOVES:
        sigma = length / np.sqrt(2.0) / blocks.size
        noise = scipy.ndimage.gaussian_filter(rng.standard_normal(shape), sigma, mode="wrap")
        total += sd * 2.0 * np.sqrt(np.pi) * sigma * noise
    return np.asarray(total[blocks.row, blocks.column])


def _unworn_surface(blocks: Blocks, drift: Drift, unworn: Bools) -> UnwornSurface:
    plan = blocks.points[unworn][:, [0, 2]]
    return UnwornSurface(plan, blocks.deviation[unworn], drift.at(unworn))


def _averaged(likely: Sequence[_Likely], blocks: Blocks, usable: Bools, least: float) -> Scar:
    """Depths and volumes averaged over scars; `least` as in `measured_area`."""
    plan = blocks.points[:, [0, 2]]
    volumes, depths, depth_squares, pieces, all_fields = [], [], [], [], []
    for item in likely:
        worn, drift = measured_area(blocks, item.scar, least), item.drift
        area = np.where(worn, blocks.area, 0.0)
        sums = np.stack([area * (blocks.side == 0), area * (blocks.side == 1), area])
        fields = max(round(_MAX_FIELDS * item.weight), 2)
        surface = _unworn_surface(blocks, drift, usable & ~worn).fitted(fields)
        result = surface.predict(plan, drift, sums)
        depth = np.where(usable, result.mean - blocks.deviation, np.nan)
        depth, filled_sd, holes_sd = _filled(depth, plan, worn, usable, sums)
        volumes.append(sums @ np.nan_to_num(depth))
        depths.append(depth)
        depth_squares.append(result.sd**2 + filled_sd**2)
        of_field = (result.drift_sd, result.field_sd, result.noise_sd, result.choice_sd)
        pieces.append([*of_field, holes_sd])
        all_fields.append(surface.fields)
    weights = _between_drifts(likely, np.stack(volumes), np.array(pieces))
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


def _between_drifts(likely: Sequence[_Likely], volumes: Array, pieces: Array) -> Array:
    """Weights of scars, of which each drift has the inverse of the variance of its volume.

    `volumes` (n, 3) and standard deviations by source, `pieces` (n, k, 3), belong to the scars.
    """
    weights = np.array([item.weight for item in likely])
    own, variance = volumes[:, -1], (pieces[..., -1] ** 2).sum(axis=1)
    for drift in {id(item.drift): item.drift for item in likely}.values():
        used = np.array([item.drift is drift for item in likely])
        part = weights[used] / weights[used].sum()
        spread = part @ (variance[used] + (own[used] - part @ own[used]) ** 2)
        weights[used] = part / max(spread, 1e-9)
    return np.asarray(weights / weights.sum())


def from_border(blocks: Blocks) -> Array:
    """Distance of blocks from the border of their plateau, mm, (n,): scars lie in the middle."""
    distance = np.zeros(blocks.side.size)
    for side in np.unique(blocks.side):
        own = blocks.side == side
        padded = np.pad(blocks.masked(own), 1)
        image = scipy.ndimage.distance_transform_edt(padded)[1:-1, 1:-1]
        distance[own] = image[blocks.row, blocks.column][own] * blocks.size
    return distance


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
