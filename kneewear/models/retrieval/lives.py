"""Lives of a finished study under another law, motion and other constants, on few elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from kneewear.activity.activity import Activity
from kneewear.base.cases import Case
from kneewear.base.renamed_keys import present_settings
from kneewear.errors import DamagedFileError, InputDataError
from kneewear.geometry.grid import build_grid
from kneewear.geometry.knee import KneeModel
from kneewear.io.documents import load_record
from kneewear.motion.cases import simulate_activities
from kneewear.study import netcdf
from kneewear.study.settings import apply_case, validate_study
from kneewear.study.study import WearStudy
from kneewear.wear.accumulation import accumulate_wear
from kneewear.wear.law_settings import WEAR_LAWS
from kneewear.wear.worn_contact import WornContact

Array = NDArray[np.float64]

_RECORD = "provenance.json"
# Elements per side and blocks of a life: lives are many, and are compared with a
# scan over millimetres.
_ROWS = 40
_COLUMNS = 30
_BLOCKS = 6
_TOLERANCE = 1e-4
_SHARES = (0.2, 0.95)


@dataclass(frozen=True)
class LifeTrial:
    """A life: law, amplitude of motion, and differences from the study.

    Parameters
    ----------
    law : str
    amplitude : float
        Factor of anterior-posterior translation and axial rotation about their means.
    log_wear, log_creep : float
        Natural logarithms of the wear factor and the creep constant over the study's.
    posterior : float
        Offset of the femoral component, mm.
    rotation : float
        Offset of external rotation of the tibia, deg.
    share : float
        Offset of the medial share of the load.
    medial : float
        Offset of the femoral component to medial, mm, where its position is prescribed; where it
        follows from equilibrium, the dishes determine it.
    """

    law: str
    amplitude: float = 1.0
    log_wear: float = 0.0
    log_creep: float = 0.0
    posterior: float = 0.0
    rotation: float = 0.0
    share: float = 0.0
    medial: float = 0.0


# Unknowns of a life that move a prescribed coordinate of an activity.
_MOVES = {"posterior": "x", "rotation": "theta_2", "medial": "z"}


@dataclass(frozen=True)
class Lifetime:
    """Source of the lives of a case.

    Parameters
    ----------
    study : WearStudy
        Settings of the case and of one life, with few elements and blocks.
    knee : KneeModel
    activities : mapping of name to Activity
    case : Case
    """

    study: WearStudy
    knee: KneeModel
    activities: Mapping[str, Activity]
    case: Case

    @property
    def centres(self) -> Array:
        """Centres of the elements, (side, row, column, 3), mm."""
        return np.asarray(self.knee.grid.centre)

    @property
    def fixed(self) -> tuple[str, ...]:
        """Unknowns of a trial without effect: their coordinate is solved in every activity."""
        prescribed = {name for item in self.activities.values() for name in item.prescribed}
        return tuple(name for name, coordinate in _MOVES.items() if coordinate not in prescribed)

    def depths(self, trial: LifeTrial) -> tuple[Array, Array]:
        """Depths of wear and creep at the end of the life, (side, row, column), mm."""
        activities = {name: _moved(activity, trial) for name, activity in self.activities.items()}
        simulation = self.study.simulation
        share = float(np.clip(simulation.medial_share + trial.share, *_SHARES))
        simulation = simulation.model_copy(update={"medial_share": share})
        wear = self.study.wear.model_copy(
            update={
                "wear_law": trial.law,
                "wear_factor_mm3_per_n_m": self.study.wear.wear_factor_mm3_per_n_m
                * np.exp(trial.log_wear),
                "creep_mm_per_mpa": self.study.wear.creep_mm_per_mpa * np.exp(trial.log_creep),
            }
        )
        before = self.study.activities_before()
        cycles = simulate_activities(self.knee, activities, [self.case], simulation, before)
        held = wear.surface_update.medial_lateral
        worn = WornContact(self.knee, activities, simulation, held)
        maps = accumulate_wear(cycles, self.knee.grid, wear, worn)
        return maps.wear_depth.values[0, 0], maps.creep_depth.values[0, 0]


def read_lifetime(folder: Path, case: str, life: str, hours: float) -> Lifetime:
    """Read a case of a finished study whose lives are simulated.

    Parameters
    ----------
    folder : Path
        `results/<study>`.
    case, life : str
        Names.
    hours : float
        Time since removal, in which creep recovers.

    Raises
    ------
    InputDataError
        When creep of the study has no constant that can be fitted, or its insert yields.
    """
    whole = recorded_study(folder)
    cases = [item for group in whole.variants() for item in group]
    chosen = next(item for item in cases if item.name == case)
    own = apply_case(whole, chosen)
    if own.simulation.material_yield is not None:
        expected = "an insert that does not yield: dents are no part of the lives that are fitted"
        remedy = "Set simulation.material_yield to null and run it again, or leave out --split."
        raise InputDataError(folder, "simulation.material_yield", expected, remedy)
    study = _reduced(own, life, hours)
    if study.wear.creep_law != "pressure" or not study.wear.creep_mm_per_mpa > 0.0:
        expected = "creep_law: pressure with a constant above 0, which can be fitted"
        remedy = "Run the study with it, or leave out --split."
        raise InputDataError(folder, "another law of creep", expected, remedy)
    knee: KneeModel = netcdf.load(KneeModel, folder / "geometry/knee.nc")
    grid = build_grid(knee.implant, study.grid.rows, study.grid.columns)
    activities = {
        name: netcdf.load(Activity, folder / f"activity/{name}.nc")
        for name in study.simulated_activities()
    }
    return Lifetime(study, replace(knee, grid=grid, coarse_grid=None), activities, chosen)


def recorded_study(folder: Path) -> WearStudy:
    """Settings in the record of a finished study of wear."""
    path = folder / _RECORD
    record = load_record(path)
    if not isinstance(record.get("settings"), dict):
        raise DamagedFileError(path, "no settings", "the record of a study", "key settings")
    study = validate_study(present_settings(record["settings"], str(path)), str(path))
    # Folders with maps of wear are of no other model.
    return cast(WearStudy, study)


def _reduced(study: WearStudy, life: str, hours: float) -> WearStudy:
    """Study of one life, by equilibria, on few elements."""
    settings = study.computed()
    shares = study.wear.lives[life]
    settings["grid"] = {
        "rows": min(study.grid.rows, _ROWS),
        "columns": min(study.grid.columns, _COLUMNS),
    }
    tolerance = max(study.simulation.tolerance, _TOLERANCE)
    settings["simulation"] |= {"analysis": "quasi_static", "tolerance": tolerance}
    settings["activities"] = {name: settings["activities"][name] for name in shares}
    wear = study.wear
    settings["wear"]["lives"] = {life: dict(shares)}
    if hours:
        settings["wear"]["recovery_minutes"] = 60.0 * hours
    if wear.creep_takes_time and wear.months >= 1:
        # A surface that stays fresh has other forms of wear and creep.
        settings["wear"]["blocks"] = _BLOCKS
    return WearStudy.model_validate(settings)


def _moved(activity: Activity, trial: LifeTrial) -> Activity:
    """Activity with another amplitude and offsets of what is prescribed."""
    translation, rotation = activity.translation.copy(), activity.rotation.copy()
    for values, column, name, amplitude, offset in (
        (translation, 0, "posterior", trial.amplitude, trial.posterior),
        (rotation, 1, "rotation", trial.amplitude, np.radians(trial.rotation)),
        (translation, 2, "medial", 1.0, trial.medial),
    ):
        if _MOVES[name] in activity.prescribed:
            mean = values[:, column].mean()
            values[:, column] = mean + amplitude * (values[:, column] - mean) + offset
    return replace(activity, translation=translation, rotation=rotation)


def fitted_laws() -> Sequence[str]:
    """Laws whose wear factor can be fitted."""
    return [name for name, law in WEAR_LAWS.items() if law.multiplies_wear_factor]
