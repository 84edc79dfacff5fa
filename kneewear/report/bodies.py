"""Both bodies in space and in section."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from contourpy import contour_generator
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kneewear.geometry.implant import Implant
from kneewear.geometry.surface import Surface
from kneewear.mechanics.rotations import body_three_123
from kneewear.report.maps import centre_case
from kneewear.report.style import INK, METAL, SIDE_COLOURS, WIDTH, styled
from kneewear.wear.records import CycleRecord

Array = NDArray[np.float64]

# Samples of a patch in wireframes and sections, and under a control net.
SAMPLES = (161, 121)
NET_SAMPLES = (49, 33)
WIRES = 8


def sample_surface(surface: Surface, samples: tuple[int, int] = SAMPLES) -> Array:
    """Points of a surface on a regular grid of its parameters, shape (u, v, 3)."""
    (u0, u1), (v0, v1) = surface.domain
    u, v = np.linspace(u0, u1, samples[0]), np.linspace(v0, v1, samples[1])
    return surface.evaluate(u[:, None], v[None, :])


def moved(points: Array, rotation: Array, translation: Array) -> Array:
    """Points of the femoral component in the insert's frame."""
    return points @ body_three_123(rotation).T + translation


def draw_bodies(
    implant: Implant, rotation: Array, translation: Array, contact: Mapping[str, Array], room: float
) -> tuple[Figure, Any, Any]:
    """Wireframe of both bodies, and coronal and sagittal sections through points of contact.

    Parameters
    ----------
    implant : Implant
        Bearing surfaces.
    rotation, translation : array, shape (3,)
        Pose of the femoral component.
    contact : mapping of side to array, shape (3,)
        Points of contact; NaN where there is none.
    room : float
        Height shown above the insert, mm.

    Returns
    -------
    Figure, Axes, array of Axes
        The figure, its view in space, and the sections: coronal, then sagittal by side.
    """
    plastic = {side: sample_surface(surface) for side, surface in implant.insert.items()}
    metal = {
        side: moved(sample_surface(surface), rotation, translation)
        for side, surface in implant.femoral.items()
    }
    figure = Figure(figsize=(WIDTH, 5.4), layout="constrained")
    parts: Any = figure.subfigures(1, 2, width_ratios=[1.0, 1.1])
    space: Any = parts[0].add_subplot(projection="3d")
    for points, colour in (
        *((plastic[side], SIDE_COLOURS[side]) for side in plastic),
        *((points, METAL) for points in metal.values()),
    ):
        strides = (size // WIRES for size in SAMPLES)
        for stride, lines in zip(strides, (points, points.swapaxes(0, 1)), strict=True):
            for line in lines[::stride]:
                space.plot(line[:, 0], line[:, 2], line[:, 1], color=colour, lw=0.6)
    space.set_aspect("equal")
    space.view_init(elev=18, azim=150)
    space.set(xlabel="x (mm)", ylabel="z (mm)")
    sections: Any = parts[1].subplots(1 + len(plastic), 1)
    heights = np.concatenate([points[..., 1].ravel() for points in plastic.values()])
    for axes in sections:
        axes.set(xlabel="x, posterior (mm)", ylabel="y (mm)")
        axes.set_ylim(float(heights.min()) - 1.0, float(heights.max()) + room)
    for axes, (side, point) in zip(sections[1:], contact.items(), strict=True):
        if np.isfinite(point).all():
            both = (plastic[side], metal[side])
            draw_section(sections[0], both, (0, float(point[0])), 2, SIDE_COLOURS[side])
            draw_section(axes, both, (2, float(point[2])), 0, SIDE_COLOURS[side])
        axes.set_title(f"Sagittal section, {side}")
    sections[0].set(title="Coronal sections", xlabel="z, medial (mm)")
    sections[0].invert_xaxis()
    return figure, space, sections


@styled
def draw_implant(implant: Implant, cycles: CycleRecord, activity: int) -> Figure:
    """Undeformed bearing surfaces of the centre case at its largest load; heights are stretched."""
    index = (activity, centre_case(cycles.cases))
    frame = (*index, int(np.argmax(cycles.load[index])))
    contact = dict(zip(cycles.sides, cycles.centre_of_pressure[frame], strict=True))
    figure, space, _ = draw_bodies(
        implant, cycles.rotation[frame], cycles.translation[frame], contact, 6.0
    )
    space.set_title("Pose at the largest load")
    return figure


def draw_section(
    axes: Axes, surfaces: tuple[Array, Array], plane: tuple[int, float], along: int, colour: str
) -> None:
    """Cut insert and metal by the plane `component = value`, and draw y over another component."""
    from scipy.ndimage import map_coordinates  # noqa: PLC0415 - see kneewear.geometry.surface

    component, value = plane
    for points, ink in zip(surfaces, (colour, METAL), strict=True):
        for line in contour_generator(z=points[..., component]).lines(value):
            index = np.asarray(line)[:, ::-1].T
            # Rounding may end a line slightly outside the samples.
            across, height = (
                map_coordinates(points[..., axis], index, order=1, mode="nearest")
                for axis in (along, 1)
            )
            axes.plot(across, height, color=ink)


def draw_patch(axes: Any, points: Array, colour: str, alpha: float) -> None:
    """Shaded patch in space, with y drawn upwards."""
    axes.plot_surface(
        points[..., 0], points[..., 2], points[..., 1],
        color=to_rgba(colour, alpha), linewidth=0, rstride=1, cstride=1, rasterized=True,
    )  # fmt: skip


@styled
def draw_control_nets(implant: Implant) -> Figure:
    """Bearing surfaces of both bodies, each in its own frame, with their control nets."""
    figure = Figure(figsize=(WIDTH, 4.0), layout="constrained")
    titles = ("Tibia", "Femur") if implant.natural else ("Insert", "Femoral component")
    views = ((implant.insert, (32, 150)), (implant.femoral, (-28, 150)))
    for number, (surfaces, (elevation, azimuth)) in enumerate(views):
        axes: Any = figure.add_subplot(1, 2, number + 1, projection="3d")
        counts = []
        for side, surface in surfaces.items():
            draw_patch(axes, sample_surface(surface, NET_SAMPLES), SIDE_COLOURS[side], 0.55)
            _draw_net(axes, surface.control_points)
            counts.append(f"{side} {' x '.join(str(n) for n in surface.weights.shape)}")
        axes.set_aspect("equal")
        axes.view_init(elev=elevation, azim=azimuth)
        axes.set(xlabel="x (mm)", ylabel="z (mm)")
        # The heights of a flat insert would be written one over the other.
        low, high = axes.get_zlim()
        axes.locator_params(axis="z", nbins=3 if high - low > 10.0 else 1)
        axes.set_title(f"{titles[number]}\ncontrol points: {', '.join(counts)}")
    return figure


def _draw_net(axes: Any, net: Array) -> None:
    """Control net in space; one with many lines is thin and without dots."""
    fine = net.shape[0] * net.shape[1] > 400
    for lines in (net, net.swapaxes(0, 1)):
        for line in lines:
            axes.plot(line[:, 0], line[:, 2], line[:, 1], color=INK, lw=0.25 if fine else 0.6)
    if not fine:
        axes.scatter(*(net[..., axis].ravel() for axis in (0, 2, 1)), color=INK, s=5)
