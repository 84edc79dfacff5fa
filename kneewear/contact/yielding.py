"""Contact on a coupled layer whose polyethylene yields.

Notes
-----
On elements with gaps g, apart positive, and forces f,

    g + C f + w(e) >= 0,  f >= 0,  and one of both zero,

with the influence C of the coupled layer and the deflection w of the surface by the plastic strain
e of the slabs (`kneewear.contact.slabs`). The plastic strain follows from the stress s(p, e) of the
slabs by von Mises plasticity with isotropic hardening (radial return). Both are
iterated in turn. A press never changes the state that it starts from: it returns the state after.

The law has no rate, no temperature and no recovery: all plastic strain stays. It describes the
loading of polyethylene. Metal plasticity is a poor model of its unloading (Bergstrom, Rimnac and
Kurtz 2004; the abstract was read). Nothing is fitted to finite elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.contact._slab_kernels import return_to_curve
from kneewear.contact.material import Hardening
from kneewear.contact.slabs import SlabWindow, StrainWaves
from kneewear.errors import ConvergenceError

Array = NDArray[np.float64]

# Part of the residual stress that a return takes at once. The solution does not depend on it; about
# one half is Eshelby's value for a sphere and a cylinder (0.58 and 0.46), and converges fastest.
_LOCAL_SHARE = 0.55
_TOLERANCE = 2e-3  # change of forces and of plastic strains, of their maxima
_MAX_ITERATIONS = 60
MEMORY = 4  # iterates that Anderson's acceleration combines
_MAX_EXCHANGES = 200
_CLOSED = 1e-9  # overlap that counts as closed, mm


class PlasticFields(NamedTuple):
    """Committed plastic strain (6, M, rows, columns) of a window, and its equivalent (M, ...)."""

    strain: Array
    equivalent: Array


@dataclass(frozen=True)
class PlasticSlabs:
    """Slabs whose plastic strain follows from the pressure on them.

    Parameters
    ----------
    window : SlabWindow
        Slabs below the window.
    hardening : Hardening
        Yield stress by equivalent plastic strain.
    """

    window: SlabWindow
    hardening: Hardening

    def fresh(self) -> PlasticFields:
        """State of material that was never loaded."""
        shape = self.window.field_shape
        return PlasticFields(np.zeros(shape), np.zeros(shape[1:]))

    def flow(
        self,
        pressure: Array,
        strain: Array,
        waves: StrainWaves,
        before: PlasticFields,
        residual: Array | None = None,
    ) -> PlasticFields:
        """Plastic strain that returns the stress to the yield surface, from the state before.

        `pressure` (rows, columns), MPa, is that on the window, `strain` the plastic strain whose
        residual stress acts, `waves` its `SlabWindow.waves`, and `residual` that stress if it is
        known, as `SlabWindow.deviator` of the waves without pressure.
        """
        if residual is None:
            stress = self.window.deviator(pressure, waves)
        else:
            stress = residual + self.window.pressed_deviator(pressure)
        after = PlasticFields(np.empty_like(strain), np.empty_like(before.equivalent))
        return_to_curve(
            stress,
            np.ascontiguousarray(strain),
            before.strain,
            before.equivalent,
            2.0 * self.window.material.shear_modulus * _LOCAL_SHARE,
            np.array(self.hardening.strain),
            np.array(self.hardening.stress),
            *after,
        )
        return after


class PressedElements(NamedTuple):
    """Equilibrium of the elements of a side.

    `force` (n,) is the force of every element, N; `lift` the upward displacement of the body to the
    equilibrium, mm; `dent` (n,) the deflection by plastic strain, mm, downwards positive; `state`
    the plastic strain after the press.
    """

    force: Array
    lift: float
    dent: Array
    state: PlasticFields


@dataclass(frozen=True)
class YieldingLayer:
    """Coupled elastic-plastic layer under the elements of a window.

    Parameters
    ----------
    slabs : PlasticSlabs
        Slabs below the window, with their curve.
    influence : array, shape (n, n)
        Deflection of an element per force on another one, mm/N.
    cell : array of int, shape (n, 2)
        Row and column of every element in the window.
    """

    slabs: PlasticSlabs
    influence: Array
    cell: NDArray[np.int64]

    def fresh(self) -> PlasticFields:
        """State of material that was never loaded."""
        return self.slabs.fresh()

    def _dent(self, waves: StrainWaves) -> Array:
        """Deflection of the elements by plastic strain of a spectrum, mm, downwards positive."""
        return self.slabs.window.deflection_of(waves)[tuple(self.cell.T)]

    def press(
        self,
        gap: Array,
        descent: Array,
        state: PlasticFields,
        *,
        load: float | None = None,
        steps: int = 1,
    ) -> PressedElements:
        """Press a body on the layer.

        Parameters
        ----------
        gap : array, shape (n,)
            Distance of every element from the body, mm; negative where they overlap.
        descent : array, shape (n,)
            Change of the gap when the body moves up by 1 mm: vertical part of the inward normal.
        state : PlasticFields
            Plastic strain before; it is not changed.
        load : float, optional
            Vertical force that the body is moved to, N; without it the body stays.
        steps : int
            Steps in which the load rises. One step is 4 to 10 % too stiff: elements that contact
            reaches late have a path that is far from proportional.

        Raises
        ------
        ConvergenceError
            If pressures, or the set of pressed elements, do not converge.
        """
        lift, force, dent = 0.0, np.zeros(gap.size), np.zeros(gap.size)
        parts = [None] if load is None else [load * n / steps for n in range(1, steps + 1)]
        for part in parts:
            force, more, dent, state = self._step(gap + descent * lift, descent, state, part)
            lift += more
        return PressedElements(force, lift, dent, state)

    def _step(
        self, gap: Array, descent: Array, before: PlasticFields, load: float | None
    ) -> tuple[Array, float, Array, PlasticFields]:
        """Forces, lift, dent and state at the end of a load step."""
        strain = before.strain
        waves = self.slabs.window.waves(strain)
        dent = self._dent(waves)
        history: list[tuple[Array, Array]] = []
        last = np.full(gap.size, np.inf)
        pressed = gap + dent < 0.5 * min(float((gap + dent).min()), 0.0)
        change = np.inf
        for _ in range(_MAX_ITERATIONS):
            force, lift, pressed = self._contact(gap + dent, descent, load, pressed)
            after = self._flow(force, strain, waves, before)
            change = max(_change(force, last), _change(after.strain, strain))
            if change < _TOLERANCE:
                return force, lift, dent, after
            last = force
            history = [*history[1 - MEMORY :], (strain.ravel(), (after.strain - strain).ravel())]
            strain = accelerated(history).reshape(strain.shape)
            waves = self.slabs.window.waves(strain)
            dent = self._dent(waves)
        raise ConvergenceError(
            "Plastic strain below the contact",
            0,
            change,
            "of the largest pressure or plastic strain",
            "Use smaller load steps.",
        )

    def _flow(
        self, force: Array, strain: Array, waves: StrainWaves, before: PlasticFields
    ) -> PlasticFields:
        """Plastic strain under forces on the elements, from the state before."""
        area = self.slabs.window.cell[0] * self.slabs.window.cell[1]
        pressure = np.zeros(self.slabs.window.shape)
        pressure[tuple(self.cell.T)] = force / area
        return self.slabs.flow(pressure, strain, waves, before)

    def _contact(
        self, gap: Array, descent: Array, load: float | None, pressed: NDArray[np.bool_]
    ) -> tuple[Array, float, NDArray[np.bool_]]:
        """Forces without pull or overlap; the set of pressed elements is found by exchange."""
        force = np.zeros(gap.size)
        if load is None and not (gap < 0.0).any():
            return force, 0.0, np.zeros(gap.size, dtype=bool)
        if not pressed.any():
            pressed = gap <= gap.min()
        least, tries = gap.size + 1, 3
        for _ in range(_MAX_EXCHANGES):
            own = np.flatnonzero(pressed)
            factor = scipy.linalg.cho_factor(self.influence[np.ix_(own, own)], check_finite=False)
            right = np.column_stack([-gap[own], -descent[own]])
            by_gap, by_lift = scipy.linalg.cho_solve(factor, right, check_finite=False).T
            lift = 0.0
            if load is not None:
                lift = float((load - descent[own] @ by_gap) / (descent[own] @ by_lift))
            pressing = by_gap + lift * by_lift
            force[:] = 0.0
            force[own] = pressing
            open_gap = gap + lift * descent + self.influence[:, own] @ pressing
            wrong = np.where(pressed, force < 0.0, open_gap < -_CLOSED)
            number = int(wrong.sum())
            if number == 0:
                return force, lift, pressed
            # Single exchanges always end (Judice and Pires 1994).
            least, tries = (number, 3) if number < least else (least, tries - 1)
            if tries < 0:
                wrong[: np.flatnonzero(wrong)[-1]] = False
            pressed = pressed ^ wrong
            if not pressed.any():
                pressed = open_gap <= open_gap.min()
        raise ConvergenceError(
            "Contact on the yielding layer",
            0,
            float(number),
            "wrong elements",
            "Use smaller load steps.",
        )


def _change(now: Array, before: Array) -> float:
    """Largest change of values over their largest size; zero of values that all are zero."""
    largest = float(np.abs(now).max())
    change = float(np.abs(now - before).max())
    return change / largest if largest > 0.0 else change


def accelerated(history: list[tuple[Array, Array]]) -> Array:
    """Next iterate of x = x + r(x) from the last ones (x, r), by Anderson's method.

    Sums are not left to a linear algebra library, whose last digits depend on its threads.
    """
    point, residual = history[-1]
    if len(history) < 2:
        return point + residual
    points = np.diff(np.stack([point for point, _ in history]), axis=0)
    residuals = np.diff(np.stack([residual for _, residual in history]), axis=0)
    normal = np.einsum("in,jn->ij", residuals, residuals)
    normal += 1e-12 * np.trace(normal) * np.eye(len(normal))
    right = np.einsum("in,n->i", residuals, residual)
    share = np.linalg.lstsq(normal, right, rcond=None)[0]
    mixed = point + residual
    for part, step in zip(share, points + residuals, strict=True):
        mixed -= part * step
    return np.asarray(mixed)
