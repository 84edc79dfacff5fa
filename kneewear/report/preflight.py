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
from kneewear.geometry.first_contact import FirstContact, find_first_contact
from kneewear.geometry.implant import Implant
from kneewear.mechanics.rotations import body_three_123
from kneewear.report.geometry import draw_thickness_map
from kneewear.report.histories import draw_activity
from kneewear.report.implant import draw_section, draw_wireframe, sample_surface
from kneewear.report.style import INK, SIDE_COLOURS, WIDTH, styled

# Poses of an activity that are lowered onto the insert.
POSES = 20
ARROW = 18.0
AXES = (("x posterior", 0), ("y superior", 1), ("z medial", 2))


@dataclass(frozen=True)
class Pose:
    """A pose that a study starts from or passes through; its height is found by lowering it.

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
        Elements of the insert; coarse ones will do.
    poses : sequence of Pose
        Poses the study passes through, the first one shown in space.
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
    """Both components with their axes where they touch first, and sections through that place.

    Parameters
    ----------
    implant : Implant
        Bearing surfaces.
    pose : Pose
        Orientation of the femoral component.
    contact : FirstContact
        Its place.
    """
    rotation = body_three_123(pose.rotation)
    plastic = {side: sample_surface(surface) for side, surface in implant.insert.items()}
    metal = {
        side: sample_surface(surface) @ rotation.T + contact.translation
        for side, surface in implant.femoral.items()
    }
    figure = Figure(figsize=(WIDTH, 5.6), layout="constrained")
    parts: Any = figure.subfigures(1, 2, width_ratios=[1.1, 1.0])
    space: Any = parts[0].add_subplot(projection="3d")
    draw_wireframe(space, plastic, metal)
    _draw_axes(space, np.zeros(3), np.eye(3))
    _draw_axes(space, contact.translation, rotation)
    space.set_title(f"{pose.name}: first contact")
    panels = parts[1].subplots(1 + len(plastic), 1)
    for number, side in enumerate(plastic):
        place, both = contact.point[side], (plastic[side], metal[side])
        if np.isfinite(place).all():
            draw_section(panels[0], both, (0, float(place[0])), 2, SIDE_COLOURS[side])
            draw_section(panels[1 + number], both, (2, float(place[2])), 0, SIDE_COLOURS[side])
            panels[1 + number].plot(place[0], place[1], "x", color=INK)
        panels[1 + number].set_title(_clearance_words(side, contact.clearance[side]))
    heights = np.concatenate([points[..., 1].ravel() for points in plastic.values()])
    for axes in panels:
        axes.set(xlabel="x, posterior (mm)", ylabel="y (mm)")
        axes.set_ylim(float(heights.min()) - 2.0, float(heights.max()) + 8.0)
    panels[0].set(title="Coronal sections", xlabel="z, medial (mm)")
    panels[0].invert_xaxis()
    return figure


def _draw_axes(axes: Any, origin: NDArray[np.float64], rotation: NDArray[np.float64]) -> None:
    """Axes of a body as arrows; the picture has y upwards."""
    for name, number in AXES:
        tip = origin + ARROW * rotation[:, number]
        start, way = origin[[0, 2, 1]], (tip - origin)[[0, 2, 1]]
        axes.quiver(*start, *way, color=INK, lw=1.1, arrow_length_ratio=0.15)
        axes.text(*(start + 1.12 * way), name, fontsize=7)


def _clearance_words(side: str, clearance: float) -> str:
    if clearance == 0.0:
        return f"Sagittal section, {side}: touches first"
    if not np.isfinite(clearance):
        return f"{side.capitalize()}: not above its plateau"
    return f"Sagittal section, {side}: {clearance:.2f} mm left"


@styled
def draw_contact_path(grid: ElementGrid, contacts: Sequence[FirstContact]) -> Figure:
    """Lowest places of both condyles over the insert's thickness.

    Parameters
    ----------
    grid : ElementGrid
        Elements.
    contacts : sequence of FirstContact
        Of the poses, in their order.
    """
    figure = draw_thickness_map(grid)
    axes = figure.axes[0]
    for side in grid.sides:
        places = np.array([contact.point[side] for contact in contacts]).reshape(-1, 3)
        axes.plot(places[:, 2], places[:, 0], "-", color="white", lw=2.6, zorder=4)
        axes.plot(places[:, 2], places[:, 0], "o-", color=SIDE_COLOURS[side], lw=1.2, ms=4,
                  mec="white", zorder=5, label=side)  # fmt: skip
    axes.legend(loc="upper center", title="nearest places")
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
