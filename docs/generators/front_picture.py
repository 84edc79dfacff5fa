"""Picture of the front page: the worn insert of one case, and the pressures that wore it."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from matplotlib.colors import LightSource, Normalize

import kneewear as kw

CASE = {"variables": {"thickness_mm": [8], "body_mass_kg": [100]}}
UNWORN = "#d9d2c3"
VIEW = {"elev": 48, "azim": -72}
# Below this share of the largest value a map is drawn as unworn.
SHOWN_FRACTION = 0.02


def draw_front_picture(file: Path) -> None:
    """Compute one case of the default study and draw its insert.

    Parameters
    ----------
    file : Path
        Picture to write (PNG).
    """
    study = kw.load_study(CASE)
    cycles = kw.simulate(kw.build_knee(study), study)
    damage = kw.accumulate_wear(cycles, study).squeeze(["life", "case"])
    pressure = cycles.to_dataset("gait").squeeze("case").pressure.max("frame")
    maps = {"largest pressure of a gait cycle (MPa)": (damage, pressure, "viridis_r")}
    maps["wear after 51 months (mm)"] = (damage, damage.wear_depth, "magma_r")
    figure = plt.figure(figsize=(10, 3.6), layout="constrained")
    for number, (label, (grid, values, colours)) in enumerate(maps.items(), 1):
        axes = figure.add_subplot(1, 2, number, projection="3d")
        scale = Normalize(0.0, float(values.max()))
        for side in ("medial", "lateral"):
            _draw_plateau(axes, grid.sel(side=side), values.sel(side=side), scale, colours)
        axes.set_box_aspect((1.7, 1.0, 0.22), zoom=1.55)
        axes.view_init(**VIEW)
        axes.set_axis_off()
        bar = mpl.cm.ScalarMappable(scale, colours)
        figure.colorbar(bar, ax=axes, label=label, orientation="horizontal", shrink=0.6, pad=0.0)
    figure.savefig(file, dpi=130)
    plt.close(figure)


def _draw_plateau(
    axes: plt.Axes, grid: xr.Dataset, values: xr.DataArray, scale: Normalize, colours: str
) -> None:
    """Draw a plateau from above, medial on the left and anterior behind."""
    height = grid.y.values
    colour = mpl.colormaps[colours](scale(values.fillna(0.0)))
    colour[(values <= SHOWN_FRACTION * scale.vmax).values] = mpl.colors.to_rgba(UNWORN)
    light = LightSource(azdeg=300, altdeg=55)
    shaded = light.shade_rgb(colour[..., :3], np.nan_to_num(height), vert_exag=3, blend_mode="soft")
    # The axes are a square, which the insert is wider than.
    surface = axes.plot_surface(
        -grid.z.values,
        -grid.x.values,
        height,
        facecolors=shaded,
        rcount=200,
        ccount=200,
        linewidth=0,
        antialiased=False,
        shade=False,
    )
    surface.set_clip_on(False)
