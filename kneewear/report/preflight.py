"""What a study is about to simulate: implant and axes, first contact, thickness and motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.implant import Implant
from kneewear.geometry.knee import FirstContact, find_first_contact
from kneewear.mechanics.rotations import body_three_123
from kneewear.report.bodies import draw_bodies
from kneewear.report.cycles import draw_activity
from kneewear.report.maps import draw_thickness_map
from kneewear.report.style import INK, SIDE_COLOURS, styled

# Poses of an activity that are lowered onto the insert.
POSES = 20
ARROW = 18.0
AXES = ("x posterior", "y superior", "z medial")


@dataclass(frozen=True)
class Pose:
    """A pose of a study, whose height is found by lowering the femoral component.

    Parameters
    ----------
    name : str
        What it is, such as "gait, 20 %".
    rotation : array, shape (3,)
        Body-three 1-2-3 angles, rad.
    translation : array, shape (3,)
        Femoral origin in the insert's frame, mm.
    """

    name: str
    rotation: NDArray[np.float64]
    translation: NDArray[np.float64]


def poses_of(activity: Activity) -> list[Pose]:
    """Poses spread evenly over a cycle, the first frame among them."""
    frames = activity.percent.size
    chosen = np.unique(np.arange(min(POSES, frames)) * frames // min(POSES, frames))
    return [
        Pose(
            f"{activity.name}, {activity.percent[frame]:.0f} %",
            activity.rotation[frame],
            activity.translation[frame],
        )
        for frame in chosen
    ]


def touch_down(
    implant: Implant, grid: ElementGrid, poses: Sequence[Pose]
) -> list[FirstContact | None]:
    """First contact of every pose; None where no condyle is above its plateau."""
    found: list[FirstContact | None] = []
    for pose in poses:
        try:
            turned = body_three_123(pose.rotation)
            found.append(find_first_contact(grid, implant.femoral, turned, pose.translation))
        except ValueError:
            found.append(None)
    return found


def draw_preflight(
    implant: Implant, grid: ElementGrid, poses: Sequence[Pose], activities: Sequence[Activity]
) -> tuple[dict[str, Figure], pd.DataFrame]:
    """Draw the inputs of a study and list its first contacts.

    Parameters
    ----------
    implant : Implant
        Bearing surfaces.
    grid : ElementGrid
        Elements of the insert; coarse ones are sufficient.
    poses : sequence of Pose
        Poses of the study, the first one shown in space.
    activities : sequence of Activity
        Motions and loads; none in a static study.

    Returns
    -------
    dict of str to Figure
        `first_contact`, `first_contact_path`, `thickness_map` and `activity_{name}`.
    DataFrame
        Clearance of both sides in every pose.
    """
    contacts = touch_down(implant, grid, poses)
    figures = {}
    if contacts and contacts[0] is not None:
        figures["first_contact"] = draw_first_contact(implant, poses[0], contacts[0])
    known = [contact for contact in contacts if contact is not None]
    figures["first_contact_path"] = draw_contact_path(grid, known)
    figures["thickness_map"] = draw_thickness_map(grid)
    figures |= {f"activity_{one.name}": draw_activity(one) for one in activities}
    return figures, contact_table(grid.sides, poses, contacts)


@styled
def draw_first_contact(implant: Implant, pose: Pose, contact: FirstContact) -> Figure:
    """Both components with their axes at first contact, and sections through it."""
    figure, space, sections = draw_bodies(
        implant, pose.rotation, contact.translation, contact.point, 8.0
    )
    _draw_axes(space, np.zeros(3), np.eye(3))
    _draw_axes(space, contact.translation, body_three_123(pose.rotation))
    space.set_title(f"{pose.name}: first contact")
    for axes, (side, place) in zip(sections[1:], contact.point.items(), strict=True):
        axes.plot(place[0], place[1], "x", color=INK)
        clearance = contact.clearance[side]
        if not np.isfinite(clearance):
            axes.set_title(f"{side.capitalize()}: not above its plateau")
        else:
            gap = f"{clearance:.2f} mm left" if clearance else "touches first"
            axes.set_title(f"Sagittal section, {side}: {gap}")
    return figure


def _draw_axes(axes: Any, origin: NDArray[np.float64], rotation: NDArray[np.float64]) -> None:
    """Axes of a body as arrows; the picture has y upwards."""
    start = origin[[0, 2, 1]]
    for name, direction in zip(AXES, rotation.T, strict=True):
        arrow = ARROW * direction[[0, 2, 1]]
        axes.quiver(*start, *arrow, color=INK, lw=1.1, arrow_length_ratio=0.15)
        axes.text(*(start + 1.12 * arrow), name, fontsize=7)


@styled
def draw_contact_path(grid: ElementGrid, contacts: Sequence[FirstContact]) -> Figure:
    """Lowest points of both condyles over the insert's thickness, in the order of the poses."""
    figure = draw_thickness_map(grid)
    axes = figure.axes[0]
    for side in grid.sides:
        points = np.array([contact.point[side] for contact in contacts]).reshape(-1, 3)
        axes.plot(points[:, 2], points[:, 0], "-", color="white", lw=2.6, zorder=4)
        axes.plot(points[:, 2], points[:, 0], "o-", color=SIDE_COLOURS[side], lw=1.2, ms=4,
                  mec="white", zorder=5, label=side)  # fmt: skip
    axes.legend(loc="upper center", title="nearest points")
    axes.set_title("Where the condyles come nearest to the insert")
    return figure


def contact_table(
    sides: Sequence[str], poses: Sequence[Pose], contacts: Sequence[FirstContact | None]
) -> pd.DataFrame:
    """Gap of each side (mm) when the other touches, and its position; NaN without contact."""
    rows = []
    for pose, contact in zip(poses, contacts, strict=True):
        row: dict[str, Any] = {"pose": pose.name, "touches": "no condyle above its plateau"}
        row |= {f"{side}_{what}": np.nan for side in sides for what in ("gap", "x", "z")}
        if contact is not None:
            row["touches"] = contact.side
            for side in sides:
                x, _, z = contact.point[side]
                row |= {f"{side}_gap": contact.clearance[side], f"{side}_x": x, f"{side}_z": z}
        rows.append(row)
    return pd.DataFrame(rows)
