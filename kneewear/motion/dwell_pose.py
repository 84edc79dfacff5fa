"""Where the femoral component settles on the insert without friction, and motions referred to it.

Component origins are arbitrary: the dwell pose is found from the surfaces alone.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.contact.foundation import ElasticLayer
from kneewear.contact.pair import ContactPair
from kneewear.errors import ConvergenceError
from kneewear.geometry.knee import KneeModel
from kneewear.mechanics.coordinates import CHARACTERISTIC_LENGTH, COORDINATES
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rotations import angles_123, body_three_123, clinical_angles, grood_suntay
from kneewear.mechanics.springs import Spring
from kneewear.motion.evaluation import build_layers, build_pairs
from kneewear.motion.frame_equilibrium import approach
from kneewear.motion.settings import SimulationSettings
from kneewear.motion.static import solve_static

Array = NDArray[np.float64]

logger = logging.getLogger(__name__)

# Coordinates that settle, all but flexion; fewer where sharp ends of a bearing, which forces jump
# at, leave no equilibrium of all. Where a bearing slopes down to its end, all that settle slide
# off: posterior position is then held. They settle under a load, N, that deforms the layer by some
# hundredths of a millimetre.
SETTLING = (
    ("x", "y", "z", "theta_1", "theta_2"),
    ("x", "y", "theta_1", "theta_2"),
    ("x", "y", "theta_1"),
)
HELD = (("y", "z", "theta_1"), ("y", "theta_1"))
LIGHT = 300.0
# Springs toward the start, per mm of the load: they decide where the bearing restores nothing.
WEAK = 1e-4
TOLERANCE = 1e-7
# Flexion between two poses of a dwell pose, rad, and the fewest of them.
STEP = np.radians(10.0)
MIN_POSES = 4
# Starts of the first pose, parts of the plateaus' length before and behind their middle.
STARTS = (0.0, -0.2, 0.2)
# Dwell poses that are remembered, as motions are tried several times on one bearing, and the
# difference of their ends, rad, that is rounding.
_REMEMBERED = 8
_SAME_FLEXION = 1e-9
_WITHOUT_EFFECT = {"analysis", "distance", "medial_lateral", "medial_share"}
_remembered: deque[tuple[bytes, DwellPose]] = deque(maxlen=_REMEMBERED)
REMEDY = "Check the axes of both components and the regions of their bearings."


@dataclass(frozen=True)
class DwellPose:
    """Settled poses over flexion.

    `flexion` (n,), rad, ascending; `coordinates` (n, 6), mm and body-three 1-2-3 angles, rad;
    `slides` states that posterior position was held, as the component slides off the bearing.
    """

    flexion: Array
    coordinates: Array
    slides: bool = False

    def at(self, flexion: Array) -> Array:
        """Coordinates at flexions within the range, by a cubic spline, shape (..., 6)."""
        return scipy.interpolate.CubicSpline(self.flexion, self.coordinates)(flexion)


def find_dwell_pose(knee: KneeModel, flexion: Array, settings: SimulationSettings) -> DwellPose:
    """Pose in which the femoral component settles at flexions, rad, over their whole range.

    All coordinates but flexion follow from frictionless equilibrium under `LIGHT` newtons halfway
    between the plateaus. The origins of both components may be anywhere: the search starts with
    the condyles' lowest points above the middle of the plateaus, and in front of and behind it; of
    several equilibria the lowest is taken. Where the bearing restores nothing, as on a flat
    plateau, the component stays near the start: within about an element's width, because forces
    change slightly as elements enter contact. Where it slides off a sloping bearing, the lowest
    points stay above the middle of the plateaus. ConvergenceError if no start leads to an
    equilibrium.
    """
    ends = float(np.min(flexion)), float(np.max(flexion))
    count = max(MIN_POSES, round((ends[1] - ends[0]) / STEP) + 1)
    nodes = np.linspace(ends[0], max(ends[1], ends[0] + 1e-3), count)
    content = _digest(knee, settings)
    for key, dwell_pose in tuple(_remembered):  # threads add poses
        same = key == content and dwell_pose.flexion.shape == nodes.shape
        if same and np.abs(dwell_pose.flexion - nodes).max() < _SAME_FLEXION:
            return dwell_pose
    pairs = build_pairs(knee, settings.model_copy(update={"distance": "exact"}))
    layers = build_layers(knee.grid, pairs, knee.implant.nominal_thickness, settings)
    settled = _find_over(pairs, layers, nodes)
    _remembered.append((content, settled))
    return settled


def _digest(knee: KneeModel, settings: SimulationSettings) -> bytes:
    """Digest of what a dwell pose depends on, equal of knees built from the same files."""
    digest = blake2b(settings.model_dump_json(exclude=_WITHOUT_EFFECT).encode())
    grid, nominal = knee.grid, np.array(knee.implant.nominal_thickness)
    arrays = [grid.centre, grid.normal, grid.area, grid.valid, grid.thickness, nominal]
    for side in grid.sides:
        one = knee.implant.femoral[side]
        arrays += [one.control_points, one.weights, one.knots_u, one.knots_v]
    for array in arrays:
        digest.update(repr(array.shape).encode() + array.tobytes())
    return digest.digest()


def _find_over(
    pairs: tuple[ContactPair, ...], layers: tuple[ElasticLayer, ...], nodes: Array
) -> DwellPose:
    """Dwell pose at flexions, rad; posterior position is held where the component slides off."""
    length = float(np.ptp(np.concatenate([pair.centre for pair in pairs])[:, 0]))
    everywhere = [part * length for part in STARTS]
    try:
        return DwellPose(nodes, _settle(pairs, layers, nodes, everywhere, SETTLING))
    except ConvergenceError as error:
        logger.debug("%s", error)
    return DwellPose(nodes, _settle(pairs, layers, nodes, everywhere[:1], HELD), slides=True)


def _settle(
    pairs: tuple[ContactPair, ...],
    layers: tuple[ElasticLayer, ...],
    flexion: Array,
    everywhere: Sequence[float],
    ways: Sequence[tuple[str, ...]],
) -> Array:
    """Poses (n, 6) that settle in one of several ways; ConvergenceError, with the flexion."""
    poses: list[Array] = []
    branch: list[float] = []
    for angle in flexion:
        above = above_the_middle(pairs, angle)
        # The next pose is on the same branch, if there is one.
        for shifts in filter(None, (branch, everywhere)):
            found = [
                pose
                for shift in shifts
                if (pose := _settled(pairs, layers, above + shift * np.eye(6)[0], ways)) is not None
            ]
            if found:
                break
        else:
            what = f"The dwell pose at {np.degrees(angle):.0f} deg of flexion"
            raise ConvergenceError(what, 0, np.nan, "of the load", REMEDY)
        poses.append(min(found, key=lambda pose: float(pose[1])))
        branch = [float(poses[-1][0] - above[0])]
    return np.array(poses)


def above_the_middle(pairs: Sequence[ContactPair], flexion: float, rotation: float = 0.0) -> Array:
    """Pose (6,) with the condyles' lowest points above the middle of the plateaus.

    `flexion` and tibial external `rotation` are clinical angles, rad.
    """
    angles = angles_123(grood_suntay(flexion, 0.0, rotation))
    turn = body_three_123(angles)
    offsets = []
    for pair in pairs[:2]:
        condyle = np.concatenate([patch.sample_points for patch in pair.patches]) @ turn.T
        middle = np.average(pair.centre, axis=0, weights=pair.area)
        offsets.append(middle - condyle[np.argmin(condyle[:, 1])])
    return np.concatenate([np.mean(offsets, axis=0), angles])


def _settled(
    pairs: tuple[ContactPair, ...],
    layers: tuple[ElasticLayer, ...],
    start: Array,
    ways: Sequence[tuple[str, ...]],
) -> Array | None:
    """Equilibrium (6,) of one of several sets of coordinates from a start, if there is one."""
    middles = [np.average(pair.centre[:, 2], weights=pair.area) for pair in pairs[:2]]
    point = (0.0, 0.0, float(np.mean(middles)))
    load = Load(force=(0.0, -LIGHT, 0.0), point=point, point_frame="fixed")
    springs = [
        Spring(name, WEAK * LIGHT * lever**2, rest=float(start[COORDINATES.index(name)]))
        for name, lever in (("x", 1.0), ("z", 1.0), ("theta_2", CHARACTERISTIC_LENGTH))
    ]
    # Nothing restores the varus of a single plateau.
    held = ("theta_1",) if len(pairs) == 1 else ()
    for names in ways:
        free = tuple(name for name in names if name not in held)
        try:
            above = approach(pairs, start, 0)
            found = solve_static(
                pairs,
                layers,
                (above[:3], above[3:]),
                free,
                loads=[load],
                springs=springs,
                tolerance=TOLERANCE,
            )
            return np.concatenate([found.translation, found.rotation])
        except ConvergenceError as error:
            logger.debug("%s do not settle: %s", ", ".join(free), error)
    return None


def refer_to_dwell_pose(
    activity: Activity,
    knee: KneeModel,
    settings: SimulationSettings,
    settled: DwellPose | None = None,
) -> Activity:
    """Activity with translations moved to the dwell pose where `Activity.zero` refers to it.

    Such a translation is that of the dwell pose at the flexion of each frame, plus the deviation of
    the given curve from its mean: its mean over the cycle is then the mean of the dwell pose. Other
    activities are returned unchanged. `settled` is a dwell pose over at least the flexions of the
    activity, where it is known. ConvergenceError as `find_dwell_pose`.
    """
    at_dwell_pose = np.isnan(activity.zero)
    if not at_dwell_pose.any():
        return activity
    flexion = clinical_angles(body_three_123(activity.rotation))[:, 0]
    settled = settled or find_dwell_pose(knee, flexion, settings)
    dwell_pose = settled.at(flexion)[:, :3]
    shift = np.where(at_dwell_pose, dwell_pose - activity.translation.mean(axis=0), 0.0)
    moved = activity.moved(shift)
    names = ("posterior", "superior", "medial")
    words = ", ".join(
        f"{name} {mean:+.2f} mm"
        for name, mean, chosen in zip(names, shift.mean(axis=0), at_dwell_pose, strict=True)
        if chosen
    )
    where = (
        "the middle of the plateaus, which slope down to their end"
        if settled.slides
        else "the dwell pose without friction"
    )
    note = f"position refers to {where}; moved on average by {words}"
    referred = activity.refers_to_dwell_pose
    return replace(moved, from_dwell_pose=referred, notes=(*moved.notes, note))
