"""Frictionless contact of a rigid body with the surface of a solid, without penetration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, lapack

from kneewear.contact.condensation import Condensation
from kneewear.contact.material import Elastic, Hardening, PlasticState, Strains, return_stress
from kneewear.contact.solid import Solid

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Function from points (n, 3) to the distance of a rigid body, mm, negative inside it, and its
# gradient (n, 3), which points out of the body.
Distance = Callable[[Array], tuple[Array, Array]]

MAX_ITERATIONS = 60
# Largest gap that is left open in contact, mm.
_GAP_TOLERANCE = 1e-9
# Largest unbalanced force of a plastic solid, relative to the contact force.
_BALANCE_TOLERANCE = 1e-7
# Earlier iterations of a plastic solid that the next one is combined of.
_MEMORY = 8


@dataclass(frozen=True)
class NodalContact:
    """Contact at the nodes of a part of a surface.

    `force` (n,), N, acts along `normal` (n, 3) on the solid, `displacement` (n, 3), mm, and
    `height`, mm, is that by which the body was raised.
    """

    force: Array
    normal: Array
    displacement: Array
    height: float


@dataclass(frozen=True)
class PressedSolid:
    """A solid in equilibrium with a rigid body on its surface.

    `pressure` and `area` are those of the nodes of the surface, MPa and mm2, zero pressure where
    apart; `force` (3,), N, acts on the solid and `reaction` (3,), N, from its base; `height`, mm,
    is that by which the body was raised; `displacement` is in the shape of the solid's nodes, mm;
    `stress` (element, point, 6), MPa, at the integration points, and `plastic_strain` (element,
    point) the equivalent one.
    """

    pressure: Array
    area: Array
    force: Array
    reaction: Array
    height: float
    displacement: Array
    stress: Array
    plastic_strain: Array
    iterations: int


class BorderReachedError(RuntimeError):
    """Contact reaches the border of the part of a surface that may be touched.

    `borders` (2, 2) says where: at the lower and the upper end, along x and along z.
    """

    def __init__(self, borders: Bools) -> None:
        super().__init__("contact reaches the border of the nodes that may be touched")
        self.borders = borders


class NoContactError(RuntimeError):
    """A body that is to be loaded does not touch the surface, by its smallest distance, mm."""

    def __init__(self, distance: float) -> None:
        super().__init__(
            f"the body is {distance:.3g} mm above the surface and has a load; expected a start "
            "that touches or overlaps it; lower the body"
        )


class ElasticSurface:
    """A linear elastic solid as seen from the part of its surface that may be touched.

    `solid` is the body, `material` its law and `touchable` (2 n_x + 1, 2 n_z + 1) the nodes of the
    surface that may be touched. The stiffness is factorised once; any number of poses and loads
    follow from it.
    """

    def __init__(self, solid: Solid, material: Elastic, touchable: Bools) -> None:
        self.solid, self.material, self.touchable = solid, material, touchable
        self.strains = Strains(solid)
        freedoms = solid.surface_freedoms[touchable]
        self._kept = freedoms.ravel()
        self.elastic_stiffness = self.strains.stiffness(material.tensor)
        self.points = solid.nodes[:, :, -1][touchable]
        self._elastic = _condense(solid, self.elastic_stiffness, self._kept)

    def press(self, body: Distance, load: float | None = None) -> PressedSolid:
        """Equilibrium at the pose of the body, or under a vertical load, N, that moves it along y.

        RuntimeError if the contact area does not converge, BorderReachedError if it reaches the
        border of the touchable part, NoContactError if a loaded body starts apart.
        """
        self._require_contact(body, load)
        condensed, compliance = self._elastic
        base = np.zeros_like(self.points)
        contact, iterations = touch(compliance, base, self.points, body, load)
        moved = condensed.expand(contact.displacement.ravel())
        stress = self.strains.strains(moved) @ self.material.tensor
        return self._result(contact, moved, stress, np.zeros(stress.shape[:2]), iterations)

    def press_plastic(
        self, body: Distance, hardening: Hardening, load: float, steps: int = 3
    ) -> PressedSolid:
        """Equilibrium of an elastic-plastic solid under a vertical load, N, that rises in steps.

        RuntimeError if it does not converge, NoContactError if the body starts apart.
        """
        parts = load * np.arange(1, steps + 1) / steps
        return self.press_sequence([(body, float(part)) for part in parts], hardening)[-1]

    def press_sequence(
        self, sequence: Sequence[tuple[Distance, float | None]], hardening: Hardening
    ) -> list[PressedSolid]:
        """Equilibria of an elastic-plastic solid under bodies and vertical loads, N, in turn.

        Each starts from the plastic strain that the one before it left: a load that falls unloads
        the solid, and another body presses what the first one left. A body without a load stays at
        its pose. RuntimeError if one does not converge, NoContactError if a loaded body is apart
        from the undeformed surface.

        Notes
        -----
        Each iteration solves the elastic contact exactly, under the forces that the stress of the
        last displacement leaves unbalanced, so the stiffness that was factorised once serves all.
        Anderson's acceleration (Walker and Ni 2011, doi:10.1137/10078356X) combines the last
        iterations where the last forces were least.
        """
        moved = np.zeros(self.solid.size)
        count = self.elastic_stiffness.shape[0] * 27
        state = PlasticState(np.zeros((count, 6)), np.zeros(count))
        ends: list[PressedSolid] = []
        contact: NodalContact | None = None
        pressing: Distance | None = None
        total = 0
        for body, load in sequence:
            self._require_contact(body, load)
            # Another body starts at its own pose, and one without a load stays there.
            keeps_height = contact is not None and load is not None and body is pressing
            height = contact.height if contact is not None and keeps_height else 0.0
            contact, moved, stress, state, used = self._yielded(
                body, load, hardening, moved, state, height
            )
            pressing, total = body, total + used
            full, plastic = stress.reshape(-1, 27, 6), state.equivalent.reshape(-1, 27)
            ends.append(self._result(contact, moved, full, plastic, total))
        return ends

    def _yielded(
        self,
        body: Distance,
        load: float | None,
        hardening: Hardening,
        moved: Array,
        state: PlasticState,
        height: float,
    ) -> tuple[NodalContact, Array, Array, PlasticState, int]:
        """Contact, displacement, stress, state after and iterations of one load of a sequence."""
        strains, total = self.strains, 0
        condensed, compliance = self._elastic
        contact: NodalContact | None = None
        tried: list[tuple[Array, Array]] = []  # displacements and their changes
        for _ in range(MAX_ITERATIONS):
            strain = strains.strains(moved).reshape(-1, 6)
            stress, end = return_stress(self.material, hardening, strain, state)
            inner = strains.forces(stress.reshape(-1, 27, 6))
            if contact is not None:
                carried = float(np.abs(contact.force).sum()) if load is None else load
                left = np.abs(inner - self._spread(contact)).max()
                unbalanced = left / carried if carried > 0.0 else left
                if unbalanced < _BALANCE_TOLERANCE:
                    return contact, moved, stress, end, total
                height = contact.height
            reduced, rest = condensed.reduce(-inner)
            base = (moved[self._kept] + compliance @ reduced).reshape(-1, 3)
            contact, used = touch(compliance, base, self.points, body, load, height)
            total += used
            change = contact.displacement.ravel() - moved[self._kept]
            tried = [*tried[-_MEMORY:], (moved, condensed.expand(change, rest))]
            moved = _accelerated(tried)
        raise RuntimeError(
            f"the plastic solid has an unbalanced force of {unbalanced:.2g} of the load "
            f"after {MAX_ITERATIONS} iterations; raise the number of load steps"
        )

    def _require_contact(self, body: Distance, load: float | None) -> None:
        """Refuse a body that is to be loaded and is apart from the surface.

        Lowered until one node touches, the first iteration puts the whole load on that node, and
        what follows may be the far side of the body.
        """
        if load is not None:
            distance, _ = body(self.points)
            if distance.min() > _GAP_TOLERANCE:
                raise NoContactError(float(distance.min()))

    def _spread(self, contact: NodalContact) -> Array:
        """Contact forces on all degrees of freedom."""
        found = np.zeros(self.solid.size)
        found[self._kept] = (contact.force[:, None] * contact.normal).ravel()
        return found

    def _result(
        self, contact: NodalContact, moved: Array, stress: Array, plastic: Array, iterations: int
    ) -> PressedSolid:
        sunk = -float(contact.displacement[:, 1].min())
        top = self.solid.nodes[..., 1][self.touchable]
        thickness = float((top[:, -1] - top[:, 0]).max())
        if sunk >= thickness:
            raise RuntimeError(
                f"the contact converged to a surface {sunk:.3g} mm below its place, on a solid of "
                f"{thickness:.3g} mm; start the body with more overlap, or use a smaller load"
            )
        border = self.touchable & ~_inside(self.touchable)
        outermost = border & ~_at_edge(border.shape)
        area = self.solid.surface_area
        pressure = np.zeros(area.shape)
        pressure[self.touchable] = contact.force / area[self.touchable]
        reached = np.argwhere(outermost & (pressure > 0.0))
        if reached.size:
            ends = np.argwhere(self.touchable)
            at = [(reached == end).any(axis=0) for end in (ends.min(axis=0), ends.max(axis=0))]
            raise BorderReachedError(np.array(at))
        return PressedSolid(
            pressure=pressure,
            area=area,
            force=(contact.force[:, None] * contact.normal).sum(axis=0),
            reaction=_reaction(self.solid, self.strains, stress),
            height=contact.height,
            displacement=self.solid.displacements(moved),
            stress=stress,
            plastic_strain=plastic,
            iterations=iterations,
        )


def touch(
    compliance: Array,
    base: Array,
    points: Array,
    body: Distance,
    load: float | None = None,
    height: float = 0.0,
) -> tuple[NodalContact, int]:
    """Contact of a body with nodes that move by `base` and `compliance` times the forces on them.

    Parameters
    ----------
    compliance : array, shape (3 n, 3 n)
        Displacement of nodes by forces on them, mm/N.
    base : array, shape (n, 3)
        Displacement without contact forces, mm.
    points : array, shape (n, 3)
        Undeformed nodes, mm.
    body : Distance
        The rigid body.
    load : float, optional
        Vertical force on the body, N, along which it moves; without it its pose is given.
    height : float
        By which the body is raised at the start, mm.

    Returns
    -------
    NodalContact, int
        The contact and the number of iterations.

    Raises
    ------
    RuntimeError
        After `MAX_ITERATIONS`, or if nothing can touch.

    Notes
    -----
    Gaps are zero where there is force, forces zero where there is a gap. A primal-dual active set
    (Hintermueller, Ito and Kunisch 2003, doi:10.1137/S1052623401383558) is a Newton step; normals
    and distances are renewed in each, at the displaced nodes.
    """
    count = len(points)
    moved = base.copy()
    distance, normal = body(points + moved - [0.0, height, 0.0])
    if load is not None and not (distance < 0.0).any():
        # Lowered until it touches.
        below = distance + 1e-3
        drop = np.where(normal[:, 1] < -0.1, below / -normal[:, 1], np.inf)
        if not np.isfinite(drop).any():
            raise RuntimeError("the body is nowhere above the surface")
        height -= float(drop.min())
        distance, normal = body(points + moved - [0.0, height, 0.0])
    # Under smooth bodies contact ends where the overlap is half its maximum (Hertz: exactly).
    active = distance < 0.5 * min(distance.min(), 0.0)
    force = np.zeros(count)
    for iteration in range(1, MAX_ITERATIONS + 1):
        index = np.flatnonzero(active)
        rows = (3 * index[:, None] + np.arange(3)).ravel()
        force = np.zeros(count)
        start = distance + (normal * (base - moved)).sum(axis=1)
        if index.size:
            along = normal[index]
            part = compliance[np.ix_(rows, rows)].reshape(index.size, 3, index.size, 3)
            matrix = np.einsum("ia,iajb,jb->ij", along, part, along, optimize=True)
            factor = cho_factor(matrix)
            force[index] = cho_solve(factor, -start[index])
            if load is not None:
                lift = cho_solve(factor, along[:, 1])
                # Raising the body by one opens gaps by minus the vertical part of the normal.
                raised = (-load - along[:, 1] @ force[index]) / (along[:, 1] @ lift)
                force[index] += raised * lift
                start = start - normal[:, 1] * raised
                height += raised
        push = (force[index, None] * normal[index]).ravel()
        new = base + (compliance[:, rows] @ push).reshape(count, 3)
        gap = start + (normal * (new - base)).sum(axis=1)
        chosen = np.where(active, force > 0.0, gap < -_GAP_TOLERANCE)
        distance, normal = body(points + new - [0.0, height, 0.0])
        moved = new
        if (chosen == active).all() and np.abs(distance[active]).max(initial=0.0) < _GAP_TOLERANCE:
            return NodalContact(force, normal, new, height), iteration
        active = chosen
    raise RuntimeError(f"the contact area did not converge in {MAX_ITERATIONS} iterations")


def _accelerated(tried: Sequence[tuple[Array, Array]]) -> Array:
    """Next displacement by Anderson's acceleration of displacements and their changes."""
    moved, change = tried[-1]
    steps = [(two[0] - one[0], two[1] - one[1]) for one, two in pairwise(tried)]
    if not steps:
        return moved + change
    at, changes = (np.stack(part, axis=1) for part in zip(*steps, strict=True))
    parts = np.linalg.lstsq(changes, change, rcond=None)[0]
    return np.asarray(moved + change - (at + changes) @ parts)


def _condense(
    solid: Solid, stiffness: Array, kept: NDArray[np.int64]
) -> tuple[Condensation, Array]:
    """Condensed stiffness and its inverse."""
    condensed = Condensation(solid, stiffness, kept)
    factor, failed = lapack.dpotrf(condensed.matrix, lower=1)
    lower, failed = (
        lapack.dpotri(factor, lower=1, overwrite_c=1) if not failed else (factor, failed)
    )
    if failed:
        raise RuntimeError("the condensed stiffness of the solid is not positive definite")
    return condensed, lower + np.tril(lower, -1).T


def _inside(chosen: Bools) -> Bools:
    """Chosen nodes all of whose neighbours are chosen."""
    padded = np.pad(chosen, 1)
    return (
        padded[1:-1, 1:-1]
        & padded[2:, 1:-1]
        & padded[:-2, 1:-1]
        & padded[1:-1, 2:]
        & (padded[1:-1, :-2])
    )


def _at_edge(shape: tuple[int, ...]) -> Bools:
    """Nodes at the edge of a surface, where contact may end."""
    edge = np.ones(shape, dtype=bool)
    edge[1:-1, 1:-1] = False
    return edge


def _reaction(solid: Solid, strains: Strains, stress: Array) -> Array:
    """Force from the base on the solid, N, by the stresses in its lowest elements."""
    slope, volume = solid.geometry
    n_y = solid.elements[2]
    lowest = slice(0, None, n_y)
    # Shape functions of the nodes on the base: every third in the order x, z, y.
    gradient = slope[lowest][:, :, ::3].sum(axis=2)
    full = stress[lowest]
    xx, yy, zz, xy, yz, zx = np.moveaxis(full, -1, 0)
    traction = np.stack(
        [
            xx * gradient[..., 0] + xy * gradient[..., 1] + zx * gradient[..., 2],
            xy * gradient[..., 0] + yy * gradient[..., 1] + yz * gradient[..., 2],
            zx * gradient[..., 0] + yz * gradient[..., 1] + zz * gradient[..., 2],
        ],
        axis=-1,
    )
    return np.asarray((traction * volume[lowest][..., None]).sum(axis=(0, 1)))
