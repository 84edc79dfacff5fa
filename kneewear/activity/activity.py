"""One cycle of an activity: motion, load and control of each coordinate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kneewear.errors import Finding
from kneewear.mechanics.arrays import make_read_only
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.rotations import (
    angles_123,
    body_three_123,
    clinical_angles,
    grood_suntay,
)
from kneewear.mechanics.springs import Spring

# Flexion, internal-external rotation and anterior-posterior translation (Bei 2003, 4.2.1).
USUALLY_PRESCRIBED = ("x", "theta_2", "theta_3")
# What may be measured with the load.
_OF_LOAD = ("medial_share", "varus_moment")
_ARRAYS = ("percent", "translation", "rotation", "load", "zero", "wrench", "deviation")
# Coordinates of which `clinical_angles` are the clinical counterparts, in its order.
_CLINICAL = ("theta_3", "theta_1", "theta_2")
CLINICAL_PLACES = [COORDINATES.index(name) for name in _CLINICAL]


@dataclass(frozen=True)
class Activity:
    """Motion and load of the femoral component on the insert over one periodic cycle.

    A cycle of n frames has n intervals; frame n would be frame 0 again and is not stored.

    Parameters
    ----------
    name : str
        Name used in settings, file names and tables.
    percent : array, shape (n_frames,)
        Percent of the cycle, from 0, equally spaced, last value below 100.
    duration : float
        Duration of the cycle, s.
    translation : array, shape (n_frames, 3)
        Femoral origin in the insert's frame (x posterior, y superior, z medial), mm.
    rotation : array, shape (n_frames, 3)
        Body-three 1-2-3 angles of the femoral component (varus, tibial external rotation, minus
        flexion), rad.
    load : array, shape (n_frames,)
        Axial load along the insert's -y, in body weights, positive.
    prescribed : tuple of str
        Coordinates, of `COORDINATES`, that follow translation and rotation; the values of the
        others only start the search of the equilibrium.
    angles : str
        Which angles are prescribed: "body-three", or the "clinical" ones of Grood and Suntay. They
        differ as soon as varus is solved.
    load_line : float or None
        Medial-lateral position (insert z) of the axial load, mm; None where it is solved.
    medial_share : array, shape (n_frames,), optional
        Measured part of the load that the medial side carries; of the settings when not given.
    varus_moment : array, shape (n_frames,), optional
        Moment of the load about the anterior-posterior axis through the insert's origin, body
        weights times mm, positive where it loads the medial side; instead of a share.
    zero : array, shape (3,), optional
        Position on the insert from which the given translation counts, mm, zero by default; NaN
        where this is the dwell pose, which depends on the implant and is not found yet.
    from_dwell_pose : tuple of str
        Translations that were referred to the dwell pose, after it was found.
    wrench : array, shape (n_frames, 6), optional
        Further force (body weights) and moment about the femoral origin (body weights times mm) on
        the femoral component, along the insert's axes; zero when not given.
    springs : tuple of Spring
        Soft tissue, as springs along coordinates.
    friction : float
        Coefficient of Coulomb friction of the bearing; it acts where there is a load line.
    deviation : array, shape (6,), optional
        Standard deviation of the measured coordinates, mm and rad; zero when not given.
    deviation_harmonics : int
        Number of harmonics of the measurement error in addition to its mean.
    measured_percent : array, shape (n_samples,), optional
        Percent of the cycle of the samples of a motion file, registered ones only.
    measured_pose : array, shape (n_samples, 6), optional
        Pose at these samples before it is closed, resampled and smoothed, mm and rad.
    notes : tuple of str
        Processing of the measured data (resampling, closing of the cycle), for the report.
    warnings : tuple of Finding
        Suspicious features of the measured data.

    Raises
    ------
    ValueError
        When the shapes disagree, a value is not finite, a load or deviation is negative, a
        coordinate is unknown, or forces and springs come without a load line.
    """

    name: str
    percent: NDArray[np.float64]
    duration: float
    translation: NDArray[np.float64]
    rotation: NDArray[np.float64]
    load: NDArray[np.float64]
    prescribed: tuple[str, ...] = USUALLY_PRESCRIBED
    angles: str = "body-three"
    load_line: float | None = None
    medial_share: NDArray[np.float64] | None = None
    varus_moment: NDArray[np.float64] | None = None
    zero: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))
    from_dwell_pose: tuple[str, ...] = ()
    wrench: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 6)))
    springs: tuple[Spring, ...] = ()
    friction: float = 0.0
    deviation: NDArray[np.float64] = field(default_factory=lambda: np.zeros(6))
    deviation_harmonics: int = 0
    measured_percent: NDArray[np.float64] | None = None
    measured_pose: NDArray[np.float64] | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        if np.size(self.wrench) == 0:
            object.__setattr__(self, "wrench", np.zeros((np.size(self.percent), 6)))
        self._check_arrays()
        given = (name for name in _OF_LOAD if getattr(self, name) is not None)
        make_read_only(self, (*_ARRAYS, *given))
        if np.min(self.load, initial=np.inf) <= 0:
            raise ValueError(
                f"load of activity '{self.name}' has a minimum of {np.min(self.load):g} body "
                "weights; it must be positive at every frame"
            )
        if np.min(self.deviation) < 0:
            raise ValueError(f"deviation of activity '{self.name}' is negative: {self.deviation}")
        unknown = set(self.prescribed) - set(COORDINATES)
        if unknown:
            raise ValueError(
                f"prescribed coordinates of activity '{self.name}' hold {', '.join(unknown)}; "
                f"expected some of {', '.join(COORDINATES)}"
            )
        unusual = set(self.prescribed) != set(USUALLY_PRESCRIBED)
        if self.load_line is None and (np.any(self.wrench) or self.springs or unusual):
            raise ValueError(
                f"activity '{self.name}' has forces, springs or coordinates prescribed other than "
                f"{', '.join(USUALLY_PRESCRIBED)}: it needs a load line"
            )

    def _check_arrays(self) -> None:
        frames = np.shape(self.percent)
        shapes = {
            "translation": (*frames, 3),
            "rotation": (*frames, 3),
            "load": frames,
            "wrench": (*frames, 6),
            "deviation": (6,),
        }
        shapes |= {name: frames for name in _OF_LOAD if getattr(self, name) is not None}
        for name, shape in shapes.items():
            values = np.asarray(getattr(self, name))
            if len(frames) != 1 or values.shape != shape:
                raise ValueError(
                    f"{name} of activity '{self.name}' has shape {values.shape}; with percent of "
                    f"shape {frames} expected {shape}"
                )
            if not np.isfinite(values).all():
                raise ValueError(f"{name} of activity '{self.name}' has values that are not finite")

    @property
    def free(self) -> tuple[str, ...]:
        """Coordinates that follow from contact, loads and springs."""
        return tuple(name for name in COORDINATES if name not in self.prescribed)

    def moved(self, shift: NDArray[np.float64]) -> Activity:
        """The activity with its translations moved, by mm, shape (3,) or (n_frames, 3).

        Springs along them and `zero` move by the mean over the frames.
        """
        mean = np.broadcast_to(shift, self.translation.shape).mean(axis=0)
        along = dict(zip(COORDINATES, mean.tolist(), strict=False))
        springs = tuple(
            replace(spring, rest=spring.rest + along.get(spring.coordinate, 0.0))
            for spring in self.springs
        )
        zero = np.nan_to_num(self.zero) + mean
        return replace(self, translation=self.translation + shift, zero=zero, springs=springs)

    def scaled(self, factors: ArrayLike) -> Activity:
        """The activity with the deviations of its coordinates from their means multiplied.

        `factors` are those of the coordinates with the angles that are prescribed, shape (6,); a
        coordinate with a factor of 1 keeps its values.
        """
        by = np.asarray(factors, dtype=float)
        if np.all(by == 1.0):
            return self
        values = self.prescribable
        mean = values.mean(axis=0)
        pose = np.where(by == 1.0, values, mean + by * (values - mean))
        rotation = self.rotation
        if np.any(by[3:] != 1.0):
            rotation = pose[:, 3:]
            if self.angles == "clinical":
                turns = grood_suntay(*pose[:, CLINICAL_PLACES].T)
                rotation = np.unwrap(angles_123(turns), axis=0)
        words = ", ".join(f"{one:g}" for one in by)
        note = (
            f"deviations from the means multiplied by {words} (anterior-posterior, "
            "superior-inferior, medial-lateral, varus, rotation, flexion)"
        )
        return replace(self, translation=pose[:, :3], rotation=rotation, notes=(*self.notes, note))

    def rotation_at(self, frame: int, solved: NDArray[np.float64]) -> NDArray[np.float64]:
        """Body-three angles, rad, (3,) with the free angles of `solved` and the prescribed ones.

        Where the clinical angles are prescribed, the body-three ones depend on those that are free:
        with the measured varus, flexion and rotation would be wrong by the product of rotation and
        the difference to the solved varus.
        """
        if self.angles != "clinical":
            return solved
        both = clinical_angles(body_three_123(np.stack([solved, self.rotation[frame]])))
        chosen = np.where([name in self.prescribed for name in _CLINICAL], both[1], both[0])
        return angles_123(grood_suntay(*chosen))

    @property
    def refers_to_dwell_pose(self) -> tuple[str, ...]:
        """Translations that count from the dwell pose, found or not."""
        waiting = np.flatnonzero(np.isnan(self.zero))
        return (*self.from_dwell_pose, *(COORDINATES[number] for number in waiting))

    @property
    def boundary_conditions(self) -> Mapping[str, tuple[str, ...]]:
        """Coordinates by what determines them: `prescribed`, `held`, `force` or `solved`.

        Held ones are prescribed and constant; `force` are the free ones that a force or moment of
        the activity acts along, `springs` those with a spring.
        """
        constant: NDArray[np.bool_] = np.ptp(self.prescribable, axis=0) < 1e-9
        found: dict[str, tuple[str, ...]] = dict.fromkeys(("prescribed", "held", "force"), ())
        found["solved"] = ()
        forced = np.count_nonzero(self.wrench, axis=0)
        for name, still, force in zip(COORDINATES, constant, forced, strict=True):
            if name in self.prescribed:
                way = "held" if still else "prescribed"
            else:
                way = "force" if force else "solved"
            found[way] += (name,)
        return found | {
            "springs": tuple(dict.fromkeys(spring.coordinate for spring in self.springs))
        }

    @property
    def prescribable(self) -> NDArray[np.float64]:
        """Coordinates with the angles that are prescribed, shape (n_frames, 6), mm and rad.

        Clinical angles are in the places of their counterparts: varus, rotation and flexion.
        """
        values = self.coordinates
        if self.angles == "clinical":
            values[:, CLINICAL_PLACES] = clinical_angles(body_three_123(self.rotation))
        return values

    @property
    def time(self) -> NDArray[np.float64]:
        """Time of each frame, s."""
        return self.percent / 100 * self.duration

    @property
    def coordinates(self) -> NDArray[np.float64]:
        """The six coordinates at each frame, mm and rad, shape (n_frames, 6)."""
        return np.hstack([self.translation, self.rotation])


def thin_out(activity: Activity, step: int) -> Activity:
    """Activity of every step-th frame."""
    every: Any = {
        name: values[::step]
        for name in ("percent", "translation", "rotation", "load", "wrench", *_OF_LOAD)
        if (values := getattr(activity, name)) is not None
    }
    return replace(activity, **every)


def sample_activity(activity: Activity, generator: np.random.Generator) -> Activity:
    """Activity with a random error of measurement, by its `deviation`, added to its pose."""
    errors = motion_errors(
        activity.percent / 100.0, activity.deviation_harmonics, generator, columns=6
    )
    shifted = activity.coordinates + activity.deviation * errors
    return replace(activity, translation=shifted[:, :3], rotation=shifted[:, 3:])


def motion_errors(
    turn: NDArray[np.float64], harmonics: int, generator: np.random.Generator, *, columns: int
) -> NDArray[np.float64]:
    """Smooth periodic random curves of unit variance, shape (frames, columns).

    At fractions `turn` of the cycle (a_0 + sqrt 2 sum over k of a_k cos(2 pi k t) +
    b_k sin(2 pi k t)) / sqrt(2 n + 1), a and b independent standard normal numbers, n the number of
    harmonics: errors at two times correlate by sin((2 n + 1) pi d) / ((2 n + 1) sin(pi d)) for
    times d of a cycle apart. With n = 0 the error is constant over the cycle, as that of a
    registered frame.
    """
    phase = 2.0 * np.pi * np.outer(turn, np.arange(1, harmonics + 1))
    waves = np.sqrt(2.0) * np.hstack([np.cos(phase), np.sin(phase)])
    basis = np.hstack([np.ones((turn.size, 1)), waves])
    return (
        basis @ generator.standard_normal((2 * harmonics + 1, columns)) / np.sqrt(2 * harmonics + 1)
    )
