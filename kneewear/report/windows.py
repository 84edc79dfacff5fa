"""Meshes of an implant with the windows a study cuts out of them."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy import arctan2, degrees

from kneewear.geometry.meshes import TriangleMesh
from kneewear.report.geometry import THICKNESS_COLOURS
from kneewear.report.style import SIDE_COLOURS, WIDTH, show_plan, styled
from kneewear.settings.implant import MeshImplantSettings
from kneewear.sides import SIDES

# Vertices that face up (insert) or away from the axis (condyles) by this much are drawn.
FACING = 0.2


@styled
def draw_windows(
    settings: MeshImplantSettings,
    insert: TriangleMesh,
    femoral: TriangleMesh,
    axis: tuple[float, float],
) -> Figure:
    """Both meshes by height and distance from the axis, and the windows of the settings.

    Parameters
    ----------
    settings : MeshImplantSettings
        The block `implant.meshes`.
    insert, femoral : TriangleMesh
        In knee axes, mm.
    axis : pair of float
        x and y of the condyles' medial-lateral axis, mm.

    Returns
    -------
    Figure
        Left the insert from above, right the femoral component unrolled about the axis: angle (0
        distal, positive posterior) over z.
    """
    figure = Figure(figsize=(WIDTH, 4.6), layout="constrained")
    plan, unrolled = figure.subplots(1, 2)
    up = insert.vertex_normals[:, 1] > FACING
    x, y, z = insert.vertices[up].T
    heights = plan.scatter(z, x, c=y, s=1.5, cmap=THICKNESS_COLOURS, rasterized=True)
    figure.colorbar(heights, ax=plan, label="height y (mm)", location="bottom")
    away = femoral.vertices[:, :2] - axis
    radius = (away**2).sum(axis=1) ** 0.5
    out = (away * femoral.vertex_normals[:, :2]).sum(axis=1) > FACING * radius
    angle = degrees(arctan2(away[:, 0], -away[:, 1]))[out]
    distances = unrolled.scatter(
        femoral.vertices[out, 2], angle, c=radius[out], s=1.5, cmap="viridis", rasterized=True
    )
    figure.colorbar(distances, ax=unrolled, label="distance from the axis (mm)", location="bottom")
    for side in SIDES:
        part, condyle = (
            getattr(settings.insert_region_mm, side), getattr(settings.femoral_region_mm, side),
        )  # fmt: skip
        for axes, rows, columns in (
            (plan, part.x, part.z),
            (unrolled, condyle.angle_deg, condyle.z),
        ):
            axes.add_patch(
                Rectangle((columns[0], rows[0]), columns[1] - columns[0], rows[1] - rows[0],
                          fill=False, ec=SIDE_COLOURS[side], lw=2.0, label=side)
            )  # fmt: skip
    show_plan(plan)
    plan.set_title("Insert from above")
    plan.legend(loc="upper center", ncols=2, fontsize=7)
    unrolled.invert_xaxis()
    unrolled.invert_yaxis()
    unrolled.set(
        xlabel="z, medial (mm)", ylabel="angle, posterior (deg)", title="Condyles unrolled"
    )
    return figure
