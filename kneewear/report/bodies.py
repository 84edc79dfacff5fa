"""Both bodies in space and in section, and contact through the cycle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy
import xarray as xr
from contourpy import contour_generator
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kneewear.activity.activity import USUALLY_PRESCRIBED, Activity
from kneewear.base.cases import centre_case
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.implant import Implant
from kneewear.geometry.knee import FirstContact, find_first_contact
from kneewear.mechanics.coordinates import COORDINATES
from kneewear.mechanics.rotations import body_three_123, clinical_angles
from kneewear.motion.history import cases_of, sides_of
from kneewear.motion.signs import SignTrial, least_effort
from kneewear.report import style
from kneewear.report.maps import (
    SAMPLES,
    draw_plateaus,
    draw_thickness_map,
    sample_surface,
)

Array = NDArray[np.float64]

# Samples of a patch under a control net.
NET_SAMPLES = (49, 33)
# Heights of a view in space below this, mm, would be written one over the other.
FLAT = 10.0
# Size of a view in space in its frame.
ZOOM = 0.8
WIRES = 8


def moved(points: Array, rotation: Array, translation: Array) -> Array:
    """Points of the femoral component in the insert's frame."""
    return points @ body_three_123(rotation).T + translation


def draw_bodies(
    implant: Implant, rotation: Array, translation: Array, contact: Mapping[str, Array], room: float
) -> tuple[Figure, Any, Any]:
    """Wireframe of both bodies, and coronal and sagittal sections through points of contact.

    `contact` holds the points by side, NaN where there is none, `room` is the height shown above
    the insert, mm. Returns the figure, its view in space, and the sections, the coronal one first.
    """
    plastic = {side: sample_surface(surface) for side, surface in implant.insert.items()}
    metal = {
        side: moved(sample_surface(surface), rotation, translation)
        for side, surface in implant.femoral.items()
    }
    figure = Figure(figsize=(style.WIDTH, 5.4), layout="constrained")
    parts: Any = figure.subfigures(1, 2, width_ratios=[1.0, 1.1])
    space: Any = parts[0].add_subplot(projection="3d")
    for points, colour in (
        *((plastic[side], style.SIDE_COLOURS[side]) for side in plastic),
        *((points, style.METAL) for points in metal.values()),
    ):
        strides = (size // WIRES for size in SAMPLES)
        rasters = zip(strides, (points, points.swapaxes(0, 1)), strict=True)
        lines = [line[:, [0, 2, 1]] for stride, rows in rasters for line in rows[::stride]]
        for line in lines:
            # Every second point is enough for a line of this size, and its last one.
            space.plot(*np.concatenate([line[:-1:2], line[-1:]]).T, color=colour, lw=0.6)
    space.set_aspect("equal")
    view_space(space, 18, 150)
    _name_axes_in_space(space)
    sections: Any = parts[1].subplots(1 + len(plastic), 1)
    heights = np.concatenate([points[..., 1].ravel() for points in plastic.values()])
    for axes in sections:
        axes.set(xlabel=style.SECTION_LABEL, ylabel="y (mm)")
        axes.set_ylim(float(heights.min()) - 1.0, float(heights.max()) + room)
    for axes, (side, point) in zip(sections[1:], contact.items(), strict=True):
        if np.isfinite(point).all():
            both = (plastic[side], metal[side])
            draw_section(sections[0], both, (0, float(point[0])), 2, style.SIDE_COLOURS[side])
            draw_section(axes, both, (2, float(point[2])), 0, style.SIDE_COLOURS[side])
        axes.set_title(f"Sagittal section, {side}")
    sections[0].set(title="Coronal section", xlabel=style.Z_LABEL)
    sections[0].invert_xaxis()
    return figure, space, sections


def _name_axes_in_space(axes: Any) -> None:
    """Name the axes of a view in space by where they point, with few ticks that do not overlap."""
    axes.set_xlabel("posterior (mm)", labelpad=6.0)
    axes.set_ylabel("medial (mm)", labelpad=22.0)
    for name, bins in (("x", 4), ("y", 5), ("z", 3)):
        axes.locator_params(axis=name, nbins=bins)
    low, high = axes.get_zlim()
    if high - low < FLAT:
        axes.set_zticks([])
    # Smaller than its frame, so that no label is cut.
    spans = [np.ptp(limits) for limits in (axes.get_xlim(), axes.get_ylim(), (low, high))]
    axes.set_box_aspect(spans, zoom=ZOOM)


@style.styled
def draw_implant(implant: Implant, cycles: xr.Dataset, activity: int) -> Figure:
    """Undeformed bearing surfaces of the centre case at its largest load; heights are stretched."""
    index = (activity, centre_case(cases_of(cycles)))
    frame = (*index, int(np.argmax(cycles["load"].values[index])))
    contact = dict(zip(sides_of(cycles), cycles.centre_of_pressure.values[frame], strict=True))
    figure, space, _ = draw_bodies(
        implant, cycles.rotation.values[frame], cycles.translation.values[frame], contact, 6.0
    )
    space.set_title("Pose at the largest load")
    return figure


# Height above the dwell of a plateau that sections show, mm.
SHOWN_ABOVE = 16.0


@style.styled
def draw_bearing_sections(implant: Implant, cycles: xr.Dataset, activity: int) -> Figure:
    """Coronal and sagittal sections of the centre case at its largest load, at true scale."""
    index = (activity, centre_case(cases_of(cycles)))
    frame = (*index, int(np.argmax(cycles["load"].values[index])))
    figure = Figure(figsize=(style.WIDTH, 5.0), layout="constrained")
    grid = figure.add_gridspec(2, 2)
    coronal = figure.add_subplot(grid[0, :])
    coronal.set(title="Coronal section", xlabel=style.Z_LABEL, ylabel="y (mm)")
    pose = cycles.rotation.values[frame], cycles.translation.values[frame]
    for number, (side, insert) in enumerate(implant.insert.items()):
        both = sample_surface(insert), moved(sample_surface(implant.femoral[side]), *pose)
        least, most = both[0].min(axis=(0, 1)), both[0].max(axis=(0, 1))
        sagittal = figure.add_subplot(grid[1, number], xlim=(least[0] - 4.0, most[0] + 4.0))
        sagittal.set(title=f"Sagittal section, {side}", xlabel=style.SECTION_LABEL, ylabel="y (mm)")
        point = cycles.centre_of_pressure.values[frame][sides_of(cycles).index(side)]
        for axes, across, along in ((coronal, 0, 2), (sagittal, 2, 0)):
            if np.isfinite(point).all():
                cut = across, float(point[across])
                draw_section(axes, both, cut, along, style.SIDE_COLOURS[side])
                axes.plot(point[along], point[1], "o", color=style.INK, ms=4)
            axes.set(ylim=(least[1] - 2.0, least[1] + SHOWN_ABOVE), aspect="equal")
    coronal.invert_xaxis()
    return figure


def draw_section(
    axes: Axes, surfaces: tuple[Array, Array], plane: tuple[int, float], along: int, colour: str
) -> None:
    """Cut insert and metal by the plane `component = value`, and draw y over another component."""
    component, value = plane
    for points, ink in zip(surfaces, (colour, style.METAL), strict=True):
        for line in contour_generator(z=points[..., component]).lines(value):
            index = np.asarray(line)[:, ::-1].T
            # Rounding may end a line slightly outside the samples.
            across, height = (
                scipy.ndimage.map_coordinates(points[..., axis], index, order=1, mode="nearest")
                for axis in (along, 1)
            )
            axes.plot(across, height, color=ink)


def view_space(axes: Any, elevation: float, azimuth: float) -> None:
    """View in space, deg; azimuth 0 is from posterior, 90 from medial.

    With y upwards the axes (x, z, y) are left-handed and would show the mirror image of the knee.
    So z runs backwards.
    """
    axes.view_init(elev=elevation, azim=-azimuth)
    axes.invert_yaxis()


def draw_patch(axes: Any, points: Array, colour: str, alpha: float) -> None:
    """Shaded patch in space, with y drawn upwards."""
    axes.plot_surface(
        points[..., 0],
        points[..., 2],
        points[..., 1],
        color=to_rgba(colour, alpha),
        linewidth=0,
        rstride=1,
        cstride=1,
        rasterized=True,
    )


@style.styled
def draw_control_nets(implant: Implant) -> Figure:
    """Bearing surfaces of both bodies, each in its own frame, with their control nets."""
    figure = Figure(figsize=(style.WIDTH, 4.0), layout="constrained")
    titles = ("Tibia", "Femur") if implant.natural else ("Insert", "Femoral component")
    views = ((implant.insert, (32, 150)), (implant.femoral, (-28, 150)))
    for number, (surfaces, (elevation, azimuth)) in enumerate(views):
        axes: Any = figure.add_subplot(1, 2, number + 1, projection="3d")
        counts = []
        for side, surface in surfaces.items():
            draw_patch(axes, sample_surface(surface, NET_SAMPLES), style.SIDE_COLOURS[side], 0.55)
            _draw_net(axes, surface.control_points)
            counts.append(f"{side} {' x '.join(str(n) for n in surface.weights.shape)}")
        axes.set_aspect("equal")
        view_space(axes, elevation, azimuth)
        _name_axes_in_space(axes)
        axes.set_title(f"{titles[number]}\ncontrol points: {', '.join(counts)}", pad=16.0)
    return figure


def _draw_net(axes: Any, net: Array) -> None:
    """Control net in space; one with many lines is thin and without dots."""
    fine = net.shape[0] * net.shape[1] > 400
    look = {"color": style.INK, "lw": 0.25 if fine else 0.6, "rasterized": fine}
    for lines in (net, net.swapaxes(0, 1)):
        for line in lines:
            axes.plot(*line[:, [0, 2, 1]].T, **look)
    if not fine:
        axes.scatter(*(net[..., axis].ravel() for axis in (0, 2, 1)), color=style.INK, s=5)


# Moments of the cycle shown as plans and in space; samples of a surface, and colour of metal there.
MOMENTS = 8
MOMENTS_IN_SPACE = 4
MOTION_SAMPLES = (29, 17)
BRIGHT_METAL = "#9aa5ad"


# Axial load, body weights, that Bei (2003, section 4.2.1) scaled the ground reaction to.
SCALED_LOAD = (0.25, 3.0)
POSITION = "Femur posterior (mm)"
_COORDINATE_TITLES = (
    "Posterior (mm)",
    "Superior (mm)",
    "Medial (mm)",
    "Varus (deg)",
    "External rotation (deg)",
    "Flexion (deg)",
)


@style.styled
def draw_activity(activity: Activity, measured: Mapping[str, Activity] | None = None) -> Figure:
    """Prescribed motion, or force and torque instead, and load of one cycle.

    Positions of `measured` activities, by name, are shifted to the mean of the activity's own.
    """
    figure, panels = style.new_figure(2.8 if measured else 2.3, columns=4)
    curves = _prescribed_curves(activity)
    for axes, (title, values) in zip(panels.flat, curves.items(), strict=True):
        style.draw_cycle(axes, activity.percent, values, style.INK, "built-in")
        axes.set_title(title)
    colours = (style.GREEN, style.PURPLE, style.AMBER)
    for (name, other), colour in zip((measured or {}).items(), colours, strict=False):
        found = _prescribed_curves(other)
        for axes, (title, values) in zip(panels.flat, curves.items(), strict=True):
            shown = found.get(title, values)
            if title == POSITION:
                shown = shown - shown.mean() + values.mean()
            known = [line.get_ydata()[:-1] for line in axes.lines]
            if not any(len(one) == len(shown) and np.allclose(one, shown) for one in known):
                style.draw_cycle(axes, other.percent, shown, colour, name)
    if measured:
        for load in SCALED_LOAD:
            panels[0, 3].axhline(load, color=style.INK, lw=0.8, ls=":")
        style.share_legend(figure, panels[0, 3], 2, below=True)
    return figure


@style.styled
def draw_curve_samples(activity: Activity) -> Figure:
    """Samples of a motion file, and the curves made of them with their standard deviation."""
    if activity.measured_percent is None or activity.measured_pose is None:
        raise ValueError(f"activity '{activity.name}' has no samples of a file")
    figure, panels = style.panels_in_rows(len(COORDINATES), 3, 2.0)
    raw, used = (_clinical(pose) for pose in (activity.measured_pose, activity.coordinates))
    spread = np.where(np.arange(6) < 3, activity.deviation, np.degrees(activity.deviation))
    for axes, name, title, samples, values, deviation in zip(
        panels, COORDINATES, _COORDINATE_TITLES, raw.T, used.T, spread, strict=True
    ):
        follows = name in activity.prescribed
        label, colour = ("used", style.BLUE) if follows else ("start value", style.AMBER)
        axes.plot(activity.measured_percent, samples, ".", color=style.INK, ms=2.5, label="file")
        style.draw_cycle(axes, activity.percent, values, colour, label)
        if deviation:
            axes.fill_between(
                activity.percent,
                values - deviation,
                values + deviation,
                color=colour,
                alpha=0.2,
                lw=0,
                label="± standard deviation",
            )
        axes.set_title(f"{title}{'' if follows else ', not prescribed'}")
    style.share_legends(figure, panels, 4)
    return figure


def _clinical(pose: Array) -> Array:
    """Positions, mm, and varus, external rotation and flexion, deg, of poses (n, 6)."""
    flexion, varus, external = np.degrees(clinical_angles(body_three_123(pose[:, 3:]))).T
    return np.column_stack([pose[:, :3], varus, external, flexion])


def _prescribed_curves(activity: Activity) -> dict[str, Array]:
    """Curves of an activity by their titles."""
    flexion, _, external = np.degrees(clinical_angles(body_three_123(activity.rotation))).T
    turned, moved_back = "theta_2" in activity.prescribed, "x" in activity.prescribed
    return {
        "Flexion (deg)": flexion,
        **(
            {"External rotation (deg)": external}
            if turned
            else {"External torque (BW mm)": activity.wrench[:, 4]}
        ),
        **(
            {POSITION: activity.translation[:, 0]}
            if moved_back
            else {"Posterior force (BW)": activity.wrench[:, 0]}
        ),
        "Axial load (body weights)": activity.load,
    }


@style.styled
def draw_history(
    cycles: xr.Dataset, activity: int, prescribed: Sequence[str] = USUALLY_PRESCRIBED
) -> Figure:
    """Load, motion that was not prescribed, pressures and areas of the centre case."""
    index = (activity, centre_case(cases_of(cycles)))
    _, varus, external = np.degrees(
        clinical_angles(body_three_123(cycles.rotation.values[index]))
    ).T
    posterior, superior, medial = cycles.translation.values[index].T
    solved = {
        "x": ("Posterior translation (mm)", posterior),
        "theta_2": ("External rotation (deg)", external),
    }
    whole = (
        ("Load (N)", cycles["load"].values[index]),
        ("Load line, medial (mm)", cycles.load_line.values[index]),
        ("Superior translation (mm)", superior),
        ("Varus (deg)", varus),
        ("Medial translation (mm)", medial),
        *(panel for name, panel in solved.items() if name not in prescribed),
    )
    by_side = (
        ("Vertical force on the insert (N)", -cycles.force.values[index][..., 1]),
        ("Maximum pressure (MPa)", cycles.max_pressure.values[index]),
        ("Mean pressure (MPa)", cycles.avg_pressure.values[index]),
        ("Contact area (mm²)", cycles.contact_area.values[index]),
    )
    figure, panels = style.panels_in_rows(len(whole) + len(by_side), 3, 2.0)
    for axes, (title, values) in zip(panels, (*whole, *by_side), strict=True):
        axes.set_title(title)
        if values.ndim == 1:
            style.draw_cycle(axes, cycles.percent.values, values, style.INK)
        else:
            _draw_sides(axes, cycles.percent.values, sides_of(cycles), values)
            axes.set_ylim(bottom=0.0)
    panels[-1].legend()
    return figure


def _draw_sides(axes: Any, percent: Any, sides: Iterable[str], values: NDArray[Any]) -> None:
    """Curves of both sides, shape (n_frames, side)."""
    for number, side in enumerate(sides):
        style.draw_cycle(axes, percent, values[:, number], style.SIDE_COLOURS[side], side)


def shown_frames(cycle: xr.Dataset | Activity, count: int = MOMENTS) -> NDArray[np.int64]:
    """Frames spread evenly over the cycle, the first one among them."""
    frames = cycle.percent.size
    return np.unique(np.arange(min(count, frames)) * frames // min(count, frames))


def draw_dynamics(
    implant: Implant, grid: ElementGrid, histories: Mapping[str, xr.Dataset]
) -> dict[str, Figure]:
    """Motion, forces and areas of each activity; a history holds one case, or none that solved."""
    figures = {}
    for name, history in histories.items():
        if history.sizes["case"]:
            figures[f"motion_{name}"] = draw_motion(implant, history)
            figures[f"forces_{name}"] = draw_forces(history)
            figures[f"areas_{name}"] = draw_contact_areas(grid, history)
    return figures


@style.styled
def draw_motion(implant: Implant, history: xr.Dataset) -> Figure:
    """Component on insert at moments of the cycle (Fig. 2-6)."""
    frames = shown_frames(history, MOMENTS_IN_SPACE)
    flexion = np.degrees(clinical_angles(body_three_123(history.rotation.values[0])))[:, 0]
    figure = Figure(figsize=(style.WIDTH, 2.1 * -(-frames.size // 4)), layout="constrained")
    percent, load = history.percent.values, history["load"].values[0]
    poses = [
        Pose(
            f"{percent[frame]:.0f} %: flexion {flexion[frame]:.0f}°, {load[frame]:.0f} N",
            history.rotation.values[0, frame],
            history.translation.values[0, frame],
        )
        for frame in frames
    ]
    draw_component(figure, implant, poses, 4, (12, 115))
    return figure


def draw_component(
    figure: Any, implant: Implant, poses: Sequence[Pose], columns: int, view: tuple[float, float]
) -> None:
    """Component on insert at each pose, named, from an elevation and azimuth, deg."""
    plastic = {side: sample_surface(one, MOTION_SAMPLES) for side, one in implant.insert.items()}
    metal = [sample_surface(one, MOTION_SAMPLES) for one in implant.femoral.values()]
    placed = [[moved(one, *pose[1:]) for one in metal] for pose in poses]
    bodies = sum(placed, list(plastic.values()))
    drawn = np.concatenate([points.reshape(-1, 3) for points in bodies])
    low, high = drawn.min(axis=0), drawn.max(axis=0)
    for number, (pose, above) in enumerate(zip(poses, placed, strict=True)):
        axes = figure.add_subplot(-(-len(poses) // columns), columns, number + 1, projection="3d")
        for side, points in plastic.items():
            draw_patch(axes, points, style.SIDE_COLOURS[side], 1.0)
        for points in above:
            draw_patch(axes, points, BRIGHT_METAL, 0.6)
        # One window for all poses shows the motion.
        axes.set(xlim=(low[0], high[0]), ylim=(low[2], high[2]), zlim=(low[1], high[1]))
        axes.set_box_aspect((high - low)[[0, 2, 1]], zoom=1.25)
        view_space(axes, *view)
        # Ticks are made even where no axis is shown.
        axes.set(title=pose.name, xticks=[], yticks=[], zticks=[])
        axes.set_axis_off()


@style.styled
def draw_forces(history: xr.Dataset) -> Figure:
    """Contact forces and torques on the insert through the cycle (Fig. 2-7)."""
    figure, panels = style.new_figure(4.4, 2, 3)
    titles = (
        "Posterior force (N)",
        "Superior force (N)",
        "Medial force (N)",
        "Adduction torque, x (N m)",
        "Axial torque, y (N m)",
        "Flexion torque, z (N m)",
    )
    values = np.concatenate([history.force.values[0], 1e-3 * history.torque.values[0]], axis=-1)
    for number, (axes, title) in enumerate(zip(panels.flat, titles, strict=True)):
        own = values[..., number]
        _draw_sides(axes, history.percent.values, sides_of(history), own)
        style.draw_cycle(axes, history.percent.values, own.sum(axis=1), style.INK, "both")
        axes.set_title(title)
    panels[0, 0].legend()
    return figure


@style.styled
def draw_contact_areas(grid: ElementGrid, history: xr.Dataset) -> Figure:
    """Pressure on the insert at moments of the cycle, and the contact areas (Fig. 2-8)."""
    frames = shown_frames(history)
    largest = int(history.pressure.values[0].max(axis=(1, 2, 3)).argmax())
    frames[np.abs(frames - largest).argmin()] = largest
    columns = 4
    rows = -(-frames.size // columns)
    figure = Figure(figsize=(style.WIDTH, 1.75 * rows + 2.3), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=[1.75 * rows, 2.1])
    above, below = parts
    panels: Any = above.subplots(rows, columns, squeeze=False)
    top = float(history.pressure.values[0].max())
    for axes, frame in zip(panels.flat, frames, strict=False):
        mesh = draw_plateaus(
            axes, grid, history.pressure.values[0, frame], top, style.PRESSURE_COLOURS
        )
        axes.set_title(f"{history.percent.values[frame]:.0f} %")
        axes.label_outer()
    style.share_plan_labels(above, panels.flat)
    for axes in panels.flat[frames.size :]:
        axes.set_axis_off()
    above.colorbar(mesh, ax=panels, label="pressure (MPa)", shrink=0.7, pad=0.01)
    left, right = below.subplots(1, 2)
    _draw_sides(left, history.percent.values, sides_of(history), history.contact_area.values[0])
    _draw_sides(
        right,
        history.percent.values,
        sides_of(history),
        history.centre_of_pressure.values[0, ..., 0],
    )
    left.set(title="Contact area (mm²)", ylim=(0.0, None))
    right.set_title("Centre of pressure, posterior (mm)")
    left.legend()
    return figure


# Poses of an activity that are lowered onto the insert.
POSES = 20
APART = "no condyle above its plateau"
ARROW = 18.0
AXES = ("x posterior", "y superior", "z medial")


class Pose(NamedTuple):
    """A pose of a study, whose height is found by lowering the femoral component."""

    name: str  # what it is, such as "gait, 20 %"
    rotation: Array  # body-three 1-2-3 angles, rad
    translation: Array  # femoral origin in the insert's frame, mm


def poses_of(activity: Activity) -> list[Pose]:
    """Poses spread evenly over a cycle, the first frame among them."""
    names = [f"{activity.name}, {percent:.0f} %" for percent in activity.percent]
    return [
        Pose(names[frame], activity.rotation[frame], activity.translation[frame])
        for frame in shown_frames(activity, POSES)
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
    """Draw the inputs of a study, and tabulate the clearance of both sides in every pose.

    Coarse elements are sufficient.
    """
    contacts = touch_down(implant, grid, poses)
    figures = {}
    if contacts and contacts[0] is not None:
        figures["first_contact"] = draw_first_contact(implant, poses[0], contacts[0])
    known = [contact for contact in contacts if contact is not None]
    figures["first_contact_path"] = draw_contact_path(grid, known)
    figures["thickness_map"] = draw_thickness_map(grid)
    figures |= {
        f"curve_samples_{one.name}": draw_curve_samples(one)
        for one in activities
        if one.measured_pose is not None
    }
    return figures, contact_facts(grid.sides, poses, contacts)


@style.styled
def draw_signs(trials: Sequence[SignTrial]) -> Figure:
    """A motion as given and with the signs that fit the bearing best, and where contact is."""
    figure, panels = style.panels_in_rows(4, 2, 2.2)
    titles = (
        "Femoral position (mm posterior)",
        "External rotation of the tibia (deg)",
        "Medial contact (mm posterior)",
        "Lateral contact (mm posterior)",
    )
    for trial, colour, name in (
        (trials[0], style.INK, "as given"),
        (best := least_effort(trials), style.SIDE_COLOURS["lateral"], f"{best.reversed} reversed"),
    ):
        effort = f"{trial.effort:.2f} of the load" if np.isfinite(trial.effort) else "none settles"
        for axes, title, values in zip(panels, titles, trial.curves[:, 1:].T, strict=True):
            style.draw_cycle(axes, trial.curves[:, 0], values, colour, f"{name} ({effort})")
            axes.set_title(title)
    panels[0].legend()
    return figure


@style.styled
def draw_first_contact(implant: Implant, pose: Pose, contact: FirstContact) -> Figure:
    """Both components with their axes at first contact, and sections through it."""
    figure, space, sections = draw_bodies(
        implant, pose.rotation, contact.translation, contact.point, 8.0
    )
    _draw_axes(space, np.zeros(3), np.eye(3))
    _draw_axes(space, contact.translation, body_three_123(pose.rotation))
    space.set_title(f"{pose.name}: first contact")
    for axes, (side, place) in zip(sections[1:], contact.point.items(), strict=True):
        axes.plot(place[0], place[1], "x", color=style.INK)
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
        axes.quiver(*start, *arrow, color=style.INK, lw=1.1, arrow_length_ratio=0.15)
        axes.text(*(start + 1.12 * arrow), name, fontsize=style.SMALL)


@style.styled
def draw_contact_path(grid: ElementGrid, contacts: Sequence[FirstContact]) -> Figure:
    """Lowest points of both condyles over the insert's thickness, in the order of the poses."""
    figure = draw_thickness_map(grid)
    axes = figure.axes[0]
    for side in grid.sides:
        points = np.array([contact.point[side] for contact in contacts]).reshape(-1, 3)
        axes.plot(points[:, 2], points[:, 0], "-", color="white", lw=2.6, zorder=4)
        axes.plot(
            points[:, 2],
            points[:, 0],
            "o-",
            color=style.SIDE_COLOURS[side],
            lw=1.2,
            ms=4,
            mec="white",
            zorder=5,
            label=side,
        )
    axes.legend(loc="upper center", title="nearest points")
    axes.set_title("Where the condyles come nearest to the insert")
    return figure


def contact_facts(
    sides: Sequence[str], poses: Sequence[Pose], contacts: Sequence[FirstContact | None]
) -> pd.DataFrame:
    """Gap of each side (mm) when the other touches, and its position; NaN without contact."""
    rows = []
    for pose, contact in zip(poses, contacts, strict=True):
        row: dict[str, Any] = {"pose": pose.name, "touches": APART}
        row |= {f"{side}_{what}": np.nan for side in sides for what in ("gap", "x", "z")}
        if contact is not None:
            row["touches"] = contact.side
            for side in sides:
                x, _, z = contact.point[side]
                row |= {f"{side}_gap": contact.clearance[side], f"{side}_x": x, f"{side}_z": z}
        rows.append(row)
    columns = [f"{side}_{what}" for side in sides for what in ("gap", "x", "z")]
    return pd.DataFrame(rows, columns=["pose", "touches", *columns])
