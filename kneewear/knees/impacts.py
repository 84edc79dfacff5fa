"""Motion with impacts: contacts that begin and end, each with its own initial rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.errors import ConvergenceError
from kneewear.knees.contact.point import PointContact
from kneewear.mechanics.coordinates import PeriodicSpline
from kneewear.motion.actions import Contact
from kneewear.motion.dynamics import Margins, Stepping, SystemMotion, integrate_system
from kneewear.motion.system import System

Array = NDArray[np.float64]

# More contacts than that chatter.
MAX_EVENTS = 400


class ContactInterval(NamedTuple):
    """A contact from its begin to its end, s (inf if it lasts), and the rate when it began, mm/s.

    Coordinates (6 n,) are those at its begin and end.
    """

    name: str
    begin: float
    end: float
    initial_rate: float
    begin_coordinates: Array
    end_coordinates: Array


@dataclass(frozen=True)
class ImpactMotion:
    """Motion of a system, and its contacts in the order of their begin."""

    motion: SystemMotion
    contacts: tuple[ContactInterval, ...]


def integrate_impacts(
    system: System,
    times: ArrayLike,
    start: ArrayLike,
    free: Sequence[str],
    *,
    rates: ArrayLike | None = None,
    motion: PeriodicSpline | None = None,
    relative_tolerance: float = 1e-6,
    largest_step: float = 1e-3,
    contact_step: float = np.inf,
    case: str = "",
) -> ImpactMotion:
    """Integrate a system whose point contacts lose energy, from rest or from `rates`.

    Where a contact begins or ends the integration starts again from there, with the rate of overlap
    at that moment as the initial rate of the law. `contact_step` is the time between further output
    times while bodies touch, s. Arguments and errors as `integrate_system`; ConvergenceError
    too if more than 400 contacts begin or end.
    """
    laws = {
        name: action.law
        for name, action in system.actions.items()
        if isinstance(action, Contact) and isinstance(action.law, PointContact)
    }
    times = np.asarray(times, dtype=float)
    place = np.array(start, dtype=float)
    rates = np.zeros(system.size) if rates is None else np.array(rates, dtype=float)
    at = system.forces(place, rates, float(times[0])).parts
    held = {name: at[name].depth > 0.0 for name in laws}
    for law in laws.values():
        law.initial_rate = 0.0
    parts: list[SystemMotion] = []
    open_contacts = {
        name: _begin(name, float(times[0]), at[name].rate, place) for name in laws if held[name]
    }
    closed: list[ContactInterval] = []
    now = float(times[0])
    for _ in range(MAX_EVENTS):
        left = times[times > now] if parts else times[1:]
        if any(held.values()):
            count = int((times[-1] - now) / contact_step)
            left = np.union1d(left, now + contact_step * np.arange(1, count + 1))
        part = integrate_system(
            system,
            np.concatenate([[now], left]),
            place,
            free,
            rates=rates,
            motion=motion,
            margins=_margins(held),
            stops=(True,) * len(laws),
            stepping=Stepping(relative_tolerance, largest_step),
            what=f"Dynamics {case}".strip(),
        )
        parts.append(part)
        if part.stop is None:
            contacts = sorted([*closed, *open_contacts.values()], key=lambda one: one.begin)
            return ImpactMotion(_joined(parts), tuple(contacts))
        now, place, rates, _ = part.stop
        at = system.forces(place, rates, now).parts
        name = list(laws)[part.events[-1][1]]
        held[name] = not held[name]
        laws[name].initial_rate = max(at[name].rate, 0.0) if held[name] else 0.0
        if held[name]:
            open_contacts[name] = _begin(name, now, at[name].rate, place)
        else:
            ended = open_contacts.pop(name)
            closed.append(ended._replace(end=now, end_coordinates=place))
    remedy = "Contact chatters: use less loss, or a smaller tolerance."
    raise ConvergenceError(f"Contact {case}".strip(), len(closed), now, "s", remedy)


def _begin(name: str, time: float, rate: float, place: Array) -> ContactInterval:
    nowhere = np.full_like(place, np.nan)
    return ContactInterval(name, time, np.inf, rate, place.copy(), nowhere)


def _margins(held: Mapping[str, bool]) -> Margins:
    """Overlap of each contact that exists, gap of one that does not."""
    signs = {name: 1.0 if one else -1.0 for name, one in held.items()}

    def margins(
        time: float,
        coordinates: Array,
        rates: Array,
        parts: Callable[[], Mapping[str, Any]],
        values: Array,
    ) -> None:
        values[:] = [sign * parts()[name].depth for name, sign in signs.items()]

    return margins


def _joined(parts: Sequence[SystemMotion]) -> SystemMotion:
    """One motion from consecutive ones; starts at events are no output times."""
    kept = [slice(None), *(slice(1, None) for _ in parts[1:])]
    work, before = [], 0.0
    for part, keep in zip(parts, kept, strict=True):
        work.append((part.work + before)[keep])
        before += part.work[-1] if part.stop is None else part.stop[3]
    columns: dict[str, Any] = {
        name: np.concatenate(
            [getattr(part, name)[keep] for part, keep in zip(parts, kept, strict=True)]
        )
        for name in (
            "time",
            "coordinates",
            "rates",
            "accelerations",
            "reaction",
            "inertia",
            "energy",
            "kinetic",
        )
    }
    found = tuple(one for part, keep in zip(parts, kept, strict=True) for one in part.parts[keep])
    return replace(
        parts[-1],
        **columns,
        work=np.concatenate(work),
        parts=found,
        events=tuple(one for part in parts for one in part.events),
        evaluations=sum(part.evaluations for part in parts),
    )
