"""The implant in its pose at the largest load: a view in space and two sections."""

from __future__ import annotations

from typing import Any

import numpy as np
from contourpy import contour_generator
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kneewear.geometry.implant import Implant
from kneewear.geometry.surface import Surface
from kneewear.mechanics.rotations import body_three_123
from kneewear.report.maps import centre_case
from kneewear.report.style import SIDE_COLOURS, WIDTH, styled
from kneewear.wear.cycles import CycleRecord

METAL = "#5b6770"
SAMPLES = (161, 121)
WIRES = 8


@styled
def draw_implant(implant: Implant, cycles: CycleRecord, activity: int) -> Figure:
    """Bearing surfaces as the centre case holds them at its largest load.

    Parameters
    ----------
    implant : Implant
        Bearing surfaces.
    cycles : CycleRecord
        Poses.
    activity : int
        Index of the activity that gives the pose.

    Notes
    -----
    Sections pass through the centres of pressure. They show the undeformed surfaces, so the
    overlap is the penetration; heights are stretched.
    """
    index = centre_case(cycles.cases)
    frame = int(np.argmax(cycles.load[activity, index]))
    rotation = body_three_123(cycles.rotation[activity, index, frame])
    translation = cycles.translation[activity, index, frame]
    contact = cycles.centre_of_pressure[activity, index, frame]
    plastic = {side: sample_surface(surface) for side, surface in implant.insert.items()}
    metal = {
        side: sample_surface(surface) @ rotation.T + translation
        for side, surface in implant.femoral.items()
    }
    figure = Figure(figsize=(WIDTH, 5.4), layout="constrained")
    parts: Any = figure.subfigures(1, 2, width_ratios=[1.0, 1.1])
    left, right = parts
    draw_wireframe(left.add_subplot(projection="3d"), plastic, metal)
    panels = right.subplots(3, 1)
    heights = np.concatenate([points[..., 1].ravel() for points in plastic.values()])
    window = (float(heights.min()) - 1.0, float(heights.max()) + 6.0)
    for number, side in enumerate(cycles.sides):
        place = contact[number]
        if not np.isfinite(place).all():
            continue
        both, colour = (plastic[side], metal[side]), SIDE_COLOURS[side]
        draw_section(panels[0], both, (0, place[0]), 2, colour)
        draw_section(panels[1 + number], both, (2, place[2]), 0, colour)
        panels[1 + number].set_title(f"Sagittal section, {side}")
    for axes in panels:
        axes.set(xlabel="x, posterior (mm)", ylabel="y (mm)", ylim=window)
    panels[0].set(title="Coronal sections", xlabel="z, medial (mm)")
    panels[0].invert_xaxis()
    return figure


def sample_surface(surface: Surface) -> NDArray[np.float64]:
    """Points of a surface on a regular grid of its parameters, shape (u, v, 3)."""
    (u0, u1), (v0, v1) = surface.domain
    u, v = np.meshgrid(
        np.linspace(u0, u1, SAMPLES[0]), np.linspace(v0, v1, SAMPLES[1]), indexing="ij"
    )
    return surface.evaluate(u.ravel(), v.ravel()).reshape(*SAMPLES, 3)


def draw_wireframe(
    axes: Any, plastic: dict[str, NDArray[np.float64]], metal: dict[str, NDArray[np.float64]]
) -> None:
    """Wireframe of all surfaces, seen from the front, medial side and above."""
    for side, points in plastic.items():
        _draw_wires(axes, points, SIDE_COLOURS[side])
    for points in metal.values():
        _draw_wires(axes, points, METAL)
    axes.set_aspect("equal")
    axes.view_init(elev=18, azim=150)
    axes.set(xlabel="x (mm)", ylabel="z (mm)")
    axes.set_title("Pose at the largest load")


def _draw_wires(axes: Axes, points: NDArray[np.float64], colour: str) -> None:
    """Parameter lines of a surface, with y drawn upwards."""
    for lines in (points[:: SAMPLES[0] // WIRES], points[:, :: SAMPLES[1] // WIRES].swapaxes(0, 1)):
        for line in lines:
            axes.plot(line[:, 0], line[:, 2], line[:, 1], color=colour, lw=0.6)


def draw_section(
    axes: Axes,
    surfaces: tuple[NDArray[np.float64], NDArray[np.float64]],
    plane: tuple[int, float],
    along: int,
    colour: str,
) -> None:
    """Cut both surfaces by the plane `component = value` and draw y over the other component."""
    from scipy.ndimage import map_coordinates  # noqa: PLC0415 - see kneewear.geometry.surface

    component, value = plane
    for points, ink in zip(surfaces, (colour, METAL), strict=True):
        for line in contour_generator(z=points[..., component]).lines(value):
            index = np.asarray(line)[:, ::-1].T
            across, height = (
                # Rounding may put a line's end a hair outside the samples.
                map_coordinates(points[..., axis], index, order=1, mode="nearest")
                for axis in (along, 1)
            )
            axes.plot(across, height, color=ink)
