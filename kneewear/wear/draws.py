"""Draws of wear laws and of their constants, which two designs have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from kneewear.base.sides import BOTH
from kneewear.geometry.element_grid import ElementGrid
from kneewear.motion.history import first_cases
from kneewear.wear.history import History, ordered
from kneewear.wear.interval import WearingSurface
from kneewear.wear.law_settings import WEAR_LAWS
from kneewear.wear.laws import Array, over_histories
from kneewear.wear.posterior import MATERIAL_CLASS, losses_of_draws
from kneewear.wear.settings import WearSettings

DRAWS = 200  # of the constants of a law
SEED = 1
COLUMNS = ["life", "law", "draw", "work"]
# Name among laws of draws in which measured wear weighs laws and constants.
WEIGHTED = "laws weighted by measured wear"


def law_draws(
    histories: Mapping[str, xr.Dataset], grid: ElementGrid, settings: WearSettings
) -> pd.DataFrame:
    """Wear of the first case by laws and constants that measured wear does not decide.

    Parameters
    ----------
    histories : mapping of activity name to Dataset
        Cycles on the fresh insert.
    grid : ElementGrid
        Element grid of the histories.
    settings : WearSettings
        Lives.

    Returns
    -------
    DataFrame
        Columns life, law, draw and work: the volume of a cycle of both sides over the wear factor,
        N mm. Draw n of a law has the same constants in every study.

    Notes
    -----
    Laws are Archard's, on which the interval of measured wear rests, and the law that tests of
    moving contacts do not refute; each of its constants is uniform within its interval, and changes
    no feature of a history. The wear factor belongs to a laboratory: it is the same for two
    designs.
    """
    cycles = {name: ordered(cycle) for name, cycle in first_cases(histories).items()}
    rows = []
    for law, constants in drawn_constants().items():
        volumes = {name: _volumes(cycle, law, constants, grid) for name, cycle in cycles.items()}
        for life, shares in settings.lives.items():
            used = [share * volumes[name] for name, share in shares.items() if share > 0.0]
            work = np.sum(used, axis=0)
            rows += [(life, law, number, float(value)) for number, value in enumerate(work)]
    return pd.DataFrame(rows, columns=COLUMNS)


def measured_works(surfaces: Sequence[WearingSurface], settings: WearSettings) -> pd.DataFrame:
    """Wear of the first case by the draws of laws and constants from measured wear.

    Columns as in :func:`law_draws`, of the law `WEIGHTED`; work is the volume of a life, mm3, at
    the level of the draw, which is the same for two designs. No rows where the class of
    polyethylene was not measured.
    """
    if settings.material_class != MATERIAL_CLASS:
        return pd.DataFrame(columns=COLUMNS)
    losses = losses_of_draws(surfaces, settings)
    both = losses[losses["side"] == BOTH].rename(columns={"volume": "work"})
    return both.assign(law=WEIGHTED)[COLUMNS].reset_index(drop=True)


def drawn_constants() -> dict[str, dict[str, Array]]:
    """Values of the undecided constants of every drawn law; one draw of a law without any."""
    depths: dict[str, dict[str, Array]] = {}
    for number, (name, law) in enumerate(WEAR_LAWS.items()):
        if not law.is_drawn:
            continue
        generator = np.random.default_rng((SEED, number))
        depths[name] = {
            constant: generator.uniform(low, high, DRAWS)
            for constant, (low, high) in law.undecided.items()
        }
    return depths


def _volumes(cycle: History, name: str, constants: Mapping[str, Array], grid: ElementGrid) -> Array:
    """Volume of a cycle with a wear factor of one, of every draw of the constants of a law."""
    count = DRAWS if constants else 1
    kind = WEAR_LAWS[name]
    features = over_histories(kind()).features(cycle)
    # Elements that never wear cost as much as those that do.
    worn = cycle.frictional_work[0] > 0.0
    features = type(features)(*(values[worn] for values in features))
    volumes = np.empty(count)
    for number in range(count):
        own = {constant: float(values[number]) for constant, values in constants.items()}
        law = over_histories(kind().model_copy(update=own))
        volumes[number] = np.sum(law.depth(features) * grid.area[worn])
    return volumes
