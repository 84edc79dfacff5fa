"""A motion of the planar knee, and what is read from it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.knees.impacts import ImpactMotion

Array = NDArray[np.float64]


class Run(NamedTuple):
    """A motion and the choices it was computed with."""

    knee: str
    law: str
    spline: str
    amplitude: float
    shape: str
    solution: ImpactMotion

    @property
    def flexion(self) -> Array:
        """Flexion, deg."""
        return 90.0 - np.degrees(self.solution.motion.coordinates[:, 5])

    @property
    def choice(self) -> tuple[str, str, str, float, str]:
        """All but the solution."""
        return self[:5]

    def until(self, flexion_deg: float) -> Run:
        """The motion up to the first time beyond a flexion, and contacts that begin before."""
        motion = self.solution.motion
        beyond = np.flatnonzero(self.flexion < flexion_deg)
        if not beyond.size:
            return self
        count = int(beyond[0]) + 1
        kept = {
            field.name: values[:count]
            for field in fields(motion)
            if np.shape(values := getattr(motion, field.name))[:1] == motion.time.shape
            or field.name == "parts"
        }
        last = motion.time[count - 1]
        contacts = tuple(contact for contact in self.solution.contacts if contact.begin <= last)
        return self._replace(solution=ImpactMotion(replace(motion, **kept), contacts))

    def contact(self, quantity: str) -> Array:
        """Overlap `depth`, mm, its `rate`, mm/s, or `force`, N, at all times."""
        return np.array([getattr(part["contact"], quantity) for part in self.solution.motion.parts])

    @property
    def point(self) -> Array:
        """Contact points in the femur's frame (n_times, 2), mm."""
        return np.array([part["contact"].point[:2] for part in self.solution.motion.parts])

    @property
    def tension(self) -> Array:
        """Tension of the ligaments (n_times, n_ligaments), N."""
        return np.array([part["ligaments"].tension for part in self.solution.motion.parts])

    def first_impact(self) -> NDArray[np.bool_]:
        """Times within the first contact."""
        first = self.solution.contacts[0]
        time = self.solution.motion.time
        return (time >= first.begin) & (time <= first.end)

    def loop_area(self) -> float:
        """Work that the first contact did not give back, N mm; NaN if that contact does not end."""
        if not np.isfinite(self.solution.contacts[0].end):
            return np.nan
        within = self.first_impact()
        # Ends of the contact are between the output times.
        depth, force = (np.pad(self.contact(name)[within], 1) for name in ("depth", "force"))
        return float(np.trapezoid(force, depth))
