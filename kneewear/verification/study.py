"""Steps of a verification study: tables of the engine against theory and of the study's methods."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from kneewear.activity.activity import Activity
from kneewear.geometry.grid import bearing_of
from kneewear.geometry.knee import KneeModel
from kneewear.settings.cases import Case
from kneewear.settings.simulation import SimulationSettings
from kneewear.settings.wear import WearSettings
from kneewear.simulation.cases import simulate_cases
from kneewear.simulation.layers import choose_pressure_law
from kneewear.verification.adaptive import AdaptivePair
from kneewear.verification.comparison import comparison_table
from kneewear.verification.contact import (
    compare_contacts,
    refine_contacts,
    vary_active_elements,
)
from kneewear.verification.distance_correction import correct_distances
from kneewear.verification.grid_comparison import compare_grids
from kneewear.verification.machado import (
    compare_common_normals,
    compare_impacts,
    compare_storage_window,
)
from kneewear.verification.methods import change_methods, compare_analyses, compare_methods
from kneewear.verification.sphere_models import compare_sphere_models


def verify_engine(seed: int) -> dict[str, pd.DataFrame]:
    """Compare the engine with analytical solutions, without an implant.

    Parameters
    ----------
    seed : int
        Seed of the random positions of contacts on their grids.

    Returns
    -------
    dict of str to DataFrame
        `verification`, `refinement`, `active_elements` and `sphere_models`.
    """
    comparisons = (
        *compare_contacts(seed),
        *compare_common_normals(seed),
        *compare_impacts(),
        *compare_storage_window(),
    )
    return {
        "verification": comparison_table(comparisons),
        "refinement": refine_contacts(seed),
        "active_elements": vary_active_elements(seed),
        "sphere_models": compare_sphere_models(),
    }


def verify_methods(
    knee: KneeModel,
    activities: Sequence[Activity],
    case: Case,
    simulation: SimulationSettings,
    wear: WearSettings,
) -> dict[str, pd.DataFrame]:
    """Compare the methods a study can choose from, on one case of an implant.

    Parameters
    ----------
    knee : KneeModel
        Surfaces, elements and tables.
    activities : sequence of Activity
        Activities of the lives.
    case : Case
        The case.
    simulation : SimulationSettings
        Contact simulation as configured; each comparison changes one choice.
    wear : WearSettings
        Wear, creep and lives.

    Returns
    -------
    dict of str to DataFrame
        `grid_comparison` (medial side), `distance_correction`, `variants` and `analyses`.

    Raises
    ------
    ConvergenceError
        If the case does not converge with one of the methods.
    """
    settings = {"": simulation, **change_methods(simulation)}
    histories = {
        name: {
            activity.name: simulate_cases(knee, activity, [case], changed)
            for activity in activities
        }
        for name, changed in settings.items()
    }
    configured = histories.pop("")
    femoral = knee.implant.femoral
    bearing = bearing_of(knee.implant, "medial")
    pair = AdaptivePair(bearing, femoral["medial"], knee.samples["medial"], 2, 2)
    (other_analysis,) = (name for name in histories if name.startswith("analysis"))
    return {
        "grid_comparison": compare_grids(pair, choose_pressure_law(simulation)),
        "distance_correction": pd.concat(
            correct_distances(knee.grid, femoral, history) for history in configured.values()
        ),
        "variants": compare_methods(configured, histories, knee.grid, wear),
        "analyses": pd.concat(
            compare_analyses(history, histories[other_analysis][name])
            for name, history in configured.items()
        ),
    }
