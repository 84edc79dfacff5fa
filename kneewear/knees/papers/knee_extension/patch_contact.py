"""Contact of patches with one uniform stress each, along a preferred direction (Eqs 10 to 13).

References
----------
Caruntu and Hefzy 2004, doi:10.1115/1.1644565.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.contact._force_kernels import OUTCOME, RESULT
from kneewear.contact.resultant import Resultant
from kneewear.knees.papers.knee_extension.patches import CoonsPatches, SourcePatches
from kneewear.motion.actions import skew

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Where lines towards the target begin behind the source, mm: deeper bodies are not in contact.
_BEHIND = 15.0


class PatchContact:
    """Source patches on a fixed body, each pressed by the target patches of a moving one.

    `sources` are in the fixed body's frame, `target` in the moving one's, mm. From the centre S of
    a source the line along `direction` (3,), out of the fixed body, meets the target at T (Eq. 10);
    with the outward normal N of the source the patches overlap where u = (T - S) . N is negative
    (Eq. 11), and -K u, with the `stiffness` K, N/mm3, is the pressure on all of the source's area,
    along its normal (Eq. 12).

    Notes
    -----
    Newton's method finds T from the patches that the line meets, not from its previous place:
    forces depend on the pose alone. The two conditions of Eq. 10, as printed, are one where the
    line is perpendicular to the anterior axis of the femur, as the tibial axis is in extension;
    here both are perpendicular to the line. Forces of patches with one stress each have no
    potential; on a plane they approach one as the patches get finer.
    """

    def __init__(
        self, sources: SourcePatches, target: CoonsPatches, direction: ArrayLike, stiffness: float
    ) -> None:
        self.centre, self.normal, self.area = sources
        self._target, self._stiffness = target, stiffness
        self._direction = np.array(direction, dtype=float)

    def penetration(self, rotation: ArrayLike, translation: ArrayLike) -> tuple[Array, Array, Mask]:
        """Penetration -u of each source, mm, its derivative over the motion of the target, (n, 6).

        The last result states where a line meets a kept patch that faces the source. Arguments are
        as of `evaluate`.
        """
        turn, place = np.asarray(rotation), np.asarray(translation)
        along = self._direction
        begin = self.centre - _BEHIND * along
        surface = self._target.surface
        u, v, distance, hit = surface.ray_hits((begin - place) @ turn, along @ turn)
        hit &= self._target.covers(u, v)
        normal = np.zeros_like(begin)
        normal[hit] = surface.normal(u[hit], v[hit]) @ turn.T
        facing = normal @ along
        hit &= facing < 0.0
        slope = np.where(hit, self.normal @ along / np.where(hit, facing, 1.0), 0.0)
        lever = begin + np.where(hit, distance, 0.0)[:, None] * along - place
        gradient = -slope[:, None] * np.concatenate([normal, np.cross(lever, normal)], axis=1)
        depth = np.where(hit, (_BEHIND - distance) * (self.normal @ along), -np.inf)
        return depth, gradient, hit

    def evaluate(
        self, rotation: ArrayLike, translation: ArrayLike, velocity: ArrayLike | None = None
    ) -> Resultant:
        """Contact at one pose; arguments as of `kneewear.contact.pair.ContactModel.evaluate`."""
        place = np.asarray(translation, dtype=float)
        depth, gradient, _ = self.penetration(rotation, place)
        active = np.flatnonzero(depth > 0.0)
        outcome = np.zeros(active.size, dtype=OUTCOME)
        outcome["element"], outcome["penetration"] = active, depth[active]
        outcome["pressure"], outcome["area"] = self._stiffness * depth[active], self.area[active]
        outcome["direction"] = -self.normal[active]
        push = outcome["pressure"] * outcome["area"]
        lever = self.centre[active] - place
        unit = np.concatenate([self.normal[active], np.cross(lever, self.normal[active])], axis=1)
        numbers = np.zeros(1, dtype=RESULT)
        numbers["wrench"] = push @ unit
        stiffness = (self._stiffness * self.area[active, None] * unit).T @ gradient[active]
        # The lever about the origin of the moving body changes as that moves.
        stiffness[3:, :3] += skew(numbers["wrench"][0, :3])
        numbers["stiffness"] = stiffness
        numbers["normal_force"], numbers["translation"] = push.sum(), place
        numbers["active_elements"], numbers["evaluated_elements"] = active.size, depth.size
        if active.size:
            numbers["max_pressure"] = outcome["pressure"].max()
            numbers["max_penetration"] = depth[active].max()
            numbers["centre_of_pressure"] = push @ self.centre[active] / push.sum()
        return Resultant(numbers[0], outcome, None)

    def energy(self, found: Resultant, chosen: Mask | None = None) -> float:
        """Energy in the layers of all sources, or of the `chosen` ones (n,), N mm."""
        own = np.ones(found.element.size, bool) if chosen is None else chosen[found.element]
        return float(0.5 * (found.pressure * found.penetration * found.area)[own].sum())
