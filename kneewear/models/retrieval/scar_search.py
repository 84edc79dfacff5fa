"""Search of scars: worn blocks that the deviations of a scan make likely.

Candidates of the scar, level sets of the deviation and ellipses, are compared by their likelihood:
deviations are drift, a random field of the tolerance and noise everywhere, and in addition a field
of wear, which fades to zero at the border of the scar. Borders of the likeliest are then moved at
random by their likelihoods.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.models.retrieval.kriging import (
    Drift,
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
# Borders of scars moved by random distances: SD, mm, over a length, mm; part that a step changes,
# steps, and scars that are kept of a walk.
_BORDER_MOVES = ((2.0, 6.0), (3.0, 15.0))
_BORDER_CHANGE = 0.25
_BORDER_STEPS = 600
_BORDERS = 3
# Likeliest scars that are kept of a search.
MAX_SCARS = 4


@dataclass(frozen=True)
class LikelyScar:
    """A scar with a drift, and its weight or log likelihood.

    `group` is the number of scars that have this mean of their log likelihoods together, 0 for a
    scar that has it by itself.
    """

    weight: float
    scar: Bools
    drift: Drift
    group: int = 0


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


class ScarSearch:
    """Search of likely scars by one drift."""

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
        return [scar for _, scar in ranked[:MAX_SCARS]]

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

    def moved_borders(self, scar: Bools) -> list[LikelyScar]:
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
            result += [LikelyScar(mean, item, self.drift, len(chosen)) for item in chosen]
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
        surface = unworn_surface(self.blocks, self.drift, self.usable & ~scar).fitted(
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


def unworn_surface(blocks: Blocks, drift: Drift, unworn: Bools) -> UnwornSurface:
    """Deviations of blocks that are unworn, with the drift there."""
    plan = blocks.points[unworn][:, [0, 2]]
    return UnwornSurface(plan, blocks.deviation[unworn], drift.at(unworn))


def from_border(blocks: Blocks) -> Array:
    """Distance of blocks from the border of their plateau, mm, (n,): scars lie in the middle."""
    distance = np.zeros(blocks.side.size)
    for side in np.unique(blocks.side):
        own = blocks.side == side
        padded = np.pad(blocks.masked(own), 1)
        image = scipy.ndimage.distance_transform_edt(padded)[1:-1, 1:-1]
        distance[own] = image[blocks.row, blocks.column][own] * blocks.size
    return distance
