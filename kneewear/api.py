"""The public Python API: the chain from settings to wear, and the results of finished studies.

Every function here is also a name of the package: ``import kneewear as kw; kw.load_study(...)``.
Units are mm, N, MPa, s and rad; axes, signs and orders of dimensions are those of the files that a
study writes. Datasets carry the unit and the meaning of each variable as attributes.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from kneewear import checkout_folder, default_settings_file
from kneewear.activity.activity import Activity
from kneewear.activity.sources import rebuild_activities
from kneewear.analysis.comparison import compare_studies
from kneewear.analysis.regression_tables import tabulate_results
from kneewear.base.cases import Case
from kneewear.base.checks import drop_ignored, judge
from kneewear.base.schemas import DAMAGE, concatenate_cases
from kneewear.base.types import THICKNESS
from kneewear.errors import DamagedFileError, InputDataError, KneewearError, OutputFileError
from kneewear.geometry import knee as knee_model
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.knee import KneeModel
from kneewear.io.documents import load_record, load_table
from kneewear.io.result_files import check_digest
from kneewear.motion import evaluation
from kneewear.motion.cases import committed_strain, simulate_activities
from kneewear.motion.history import case_of, failures_of, keep_common, select_cases
from kneewear.motion.labelled_poses import poses_of_columns
from kneewear.motion.yielding import CommittedStrain
from kneewear.report.worn_insert import save_worn_insert
from kneewear.runs.results import (
    RECORD,
    StudyRun,
    load_studies,
    missing_batches,
    run_jobs,
    run_plan,
)
from kneewear.study import netcdf, settings
from kneewear.study.consistency import (
    CONTACT_OF,
    DAMAGE_OF,
    WEAR_OF,
    check_damage,
    check_frames,
    check_knee,
    checked_study,
    contact_of,
    content_of_damage,
    label_knee,
    require_knee,
    require_same,
    wear_of,
)
from kneewear.study.files import load_activity, load_shapes
from kneewear.study.models import model_of
from kneewear.study.shipped import find_study, moved_finding
from kneewear.study.study import CaseStudy, Study, WearStudy
from kneewear.wear import accumulation, summary
from kneewear.wear.interval import FactorInterval, WearingSurface, factor_interval, wear_intervals
from kneewear.wear.laws import AnyLaw, Law
from kneewear.wear.posterior import measured_draws, posterior_intervals
from kneewear.wear.worn_contact import WornContact

logger = logging.getLogger(__name__)

# Where relative paths of settings start that the working directory does not have.
_ROOT = checkout_folder()


@dataclass(frozen=True)
class Cycles:
    """Contact over one cycle of every activity, for all cases of a study.

    Parameters
    ----------
    knee : KneeModel
        The knee that was simulated.
    activities : mapping of str to Activity
        Prescribed motion and load of each activity.
    histories : mapping of str to Dataset
        Contact of each activity: the same cases in all of them. Cases that failed in any activity
        are left out; the attribute `failures` lists them (JSON).
    contact_of : str
        Fingerprint of the settings they are of; empty for cycles of another origin.
    """

    knee: KneeModel
    activities: Mapping[str, Activity]
    histories: Mapping[str, xr.Dataset]
    contact_of: str = ""

    def to_dataset(self, activity: str | None = None) -> xr.Dataset:
        """Contact of one activity, or of all of them, as a labelled dataset.

        Parameters
        ----------
        activity : str, optional
            Name of the activity. All activities, along a first dimension "activity", when absent.

        Returns
        -------
        xarray.Dataset
            Dimensions case, frame, side, row, column, component and tangent; every variable has
            the attributes `units` and `long_name`. The coordinates `x`, `y`, `z` (mm) and `area`
            (mm2) are those of the elements.

        Raises
        ------
        ValueError
            If there is no activity of that name.
        """
        if activity is None:
            parts = [self.to_dataset(name) for name in self.histories]
            names = pd.Index(self.histories, name="activity")
            return xr.concat(parts, dim=names, coords="different", compat="equals")
        if activity not in self.histories:
            raise ValueError(f"no activity {activity!r} among {', '.join(self.histories)}")
        return _with_elements(self.histories[activity], self.knee.grid)


@dataclass(frozen=True)
class Results:
    """Results of a finished study, read when they are used.

    Parameters
    ----------
    folder : Path
        Folder of the study, `results/<study>`.
    """

    folder: Path

    @cached_property
    def activities(self) -> tuple[str, ...]:
        """Activities that were simulated."""
        return tuple(path.stem for path in sorted(self.folder.glob("activity/*.nc")))

    @cached_property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Tidy tables by the name of their file: `tables["cases"]` is `tables/cases.csv`."""
        return {path.stem: load_table(path) for path in sorted(self.folder.glob("tables/*.csv"))}

    def activity(self, name: str) -> xr.Dataset:
        """Motion and load of one cycle of one of the `activities`."""
        return self.dataset(f"activity/{name}.nc")

    def contact(self, activity: str) -> xr.Dataset:
        """Contact over one cycle of an activity, all cases, as `Cycles.to_dataset` returns it."""
        return self._with_elements(self.dataset(f"simulation/{activity}/b*.nc"))

    @property
    def damage(self) -> xr.Dataset:
        """Wear, creep and damage of all cases, as `accumulate_wear` returns them."""
        return self._with_elements(self.dataset("wear/b*.nc"))

    def export_worn(self, case: str, folder: str | Path) -> list[Path]:
        """Write the worn insert: `{case}.stl`, `{case}.csv` and, with the extra `cad`, a STEP file.

        Parameters
        ----------
        case : str
            Name of a case, such as "10mm_75kg".
        folder : str or Path
            Where to write; the name of the life is added to those of the files if there are
            several lives.

        Returns
        -------
        list of Path
            The files, in mm in the frame of the insert.

        Raises
        ------
        ValueError
            If there is no such case.
        OutputFileError
            If the files cannot be written.
        """
        knee = netcdf.load(KneeModel, self.folder / "geometry/knee.nc")
        maps = netcdf.load(DAMAGE, sorted(self.folder.glob("wear/b*.nc")))
        names = maps["case"].values.tolist()
        if case not in names:
            raise ValueError(f"no case {case!r} among {', '.join(names)}")
        try:
            return save_worn_insert(maps, knee.grid, case, folder, knee.implant.left)
        except OSError as error:
            remedy = "Name a folder that can be written."
            raise OutputFileError(folder, str(error.strerror or error), remedy) from error

    def dataset(self, pattern: str, group: str | None = None) -> xr.Dataset:
        """NetCDF files of one kind, joined along the cases; arrays are read when they are used.

        Parameters
        ----------
        pattern : str
            Name of a file in `folder`, or a pattern such as "wear/b*.nc".
        group : str, optional
            Group of the file, such as "grid" of "geometry/knee.nc".

        Returns
        -------
        xarray.Dataset

        Raises
        ------
        InputDataError
            If there is no such file.
        DamagedFileError
            If a file is not as it was written.
        """
        files = sorted(self.folder.glob(pattern))
        if not files:
            known = f"Activities of this study: {', '.join(self.activities) or 'none'}."
            expected = "a file of a finished study"
            raise InputDataError(self.folder / pattern, "no file", expected, known)
        parts = [_open_dataset(file, group) for file in files]
        if len(parts) == 1:
            return parts[0]
        return xr.concat(parts, dim="case", data_vars="minimal", coords="minimal", compat="equals")

    def _with_elements(self, found: xr.Dataset) -> xr.Dataset:
        """Dataset with the coordinates of its elements."""
        grid = self.dataset("geometry/knee.nc", "grid")
        centre = {axis: grid.centre.sel(component=axis, drop=True) for axis in ("x", "y", "z")}
        return found.assign_coords(area=grid.area, **centre)


def default_study() -> WearStudy:
    """Settings of the default study.

    Returns
    -------
    WearStudy
        The settings in `default_settings_file`.

    Examples
    --------
    >>> import kneewear as kw
    >>> study = kw.default_study()
    >>> study.implant.nominal_thickness_mm
    6.0
    """
    return cast(WearStudy, load_study())


def load_study(*sources: str | Path | Mapping[str, Any]) -> Study:
    """Settings of a study: those given, over those of the default study.

    Parameters
    ----------
    *sources : str, Path or mapping
        YAML files, or mappings of the same structure. Each overrides single keys of what comes
        before it, as `snakemake --configfile` does: mappings are merged key by key, everything else
        is replaced, and None removes an inherited activity or life. The name of a study that comes
        with kneewear ("quick") stands for its file.

    Returns
    -------
    Study
        Checked, frozen settings; `config/README.md` lists them. Values outside their usual
        limits and values that disagree are logged as warnings, unless `checks.ignore` names them.

    Raises
    ------
    InputDataError
        If a file cannot be read, a key is unknown or missing, or a value is of the wrong type or
        out of range. The message lists all faults with file, line, finding and remedy.

    Examples
    --------
    >>> import kneewear as kw
    >>> study = kw.load_study("config/quick.yaml", {"grid": {"columns": 20}})
    >>> study.grid.rows, study.grid.columns
    (40, 20)
    """
    for source in sources:
        if not isinstance(source, str | Path | Mapping):
            raise TypeError(f"found a {type(source).__name__}; expected a file or a mapping")
    for source in sources:
        if not isinstance(source, Mapping) and (moved := moved_finding(source)):
            logger.warning("%s", moved)
    found = [one if isinstance(one, Mapping) else find_study(str(one)) or one for one in sources]
    study = settings.read_study(*found, defaults=default_settings_file())
    for finding in drop_ignored(settings.study_findings(study), study.checks.ignore):
        if finding.severity != "note":
            logger.warning("%s", finding)
    return study


def build_knee(study: Study) -> KneeModel:
    """Surfaces, element grids and lookup tables of a study's knee.

    Parameters
    ----------
    study : Study
        Settings. Mesh files are looked for where the workflow looks for them.

    Returns
    -------
    KneeModel

    Raises
    ------
    InputDataError
        If a mesh file is missing or is not what the settings say.

    Examples
    --------
    >>> import kneewear as kw
    >>> knee = kw.build_knee(kw.load_study("config/quick.yaml"))
    >>> knee.grid.area.shape  # side, row, column
    (2, 40, 30)
    """
    study = checked_study(study)
    knee, _ = knee_model.assemble_knee(
        implant=study.implant,
        grid=study.grid,
        table=study.table,
        coarse_grid=study.coarse_grid,
        meshes=load_shapes(study, _ROOT),
    )
    return label_knee(knee, study)


def simulate(knee: KneeModel, study: Study) -> Cycles:
    """Contact over one cycle of every activity of a study, for all of its cases.

    Parameters
    ----------
    knee : KneeModel
        From `build_knee`.
    study : Study
        Settings.

    Returns
    -------
    Cycles
        `Cycles.to_dataset` gives them as a labelled dataset. Cases that do not converge are logged
        and left out.

    Raises
    ------
    InputDataError
        If a file of motion or load is missing or is not what the settings say.
    ValueError
        If the knee is of other settings.
    KneewearError
        If no case converges.

    Examples
    --------
    >>> import kneewear as kw
    >>> study = kw.load_study("config/quick.yaml")
    >>> cycles = kw.simulate(kw.build_knee(study), study)
    >>> gait = cycles.to_dataset("gait")
    >>> gait.pressure.dims
    ('case', 'frame', 'side', 'row', 'column')
    >>> gait.max_pressure.attrs["units"]
    'MPa'
    >>> gait.case.values.tolist()
    ['6mm_50kg', '6mm_75kg', '10mm_50kg', '10mm_75kg']
    """
    study = _with_cases(study)
    knee = check_knee(knee, study)
    activities = {name: load_activity(study, name, _ROOT) for name in study.simulated_activities()}
    parts = [
        simulate_activities(
            knee, cycles, cases, own.simulation, own.activities_before(), keep_going=True
        )
        for cases, own, cycles in _variants(study, activities)
    ]
    common = keep_common([part[name] for name in activities for part in parts])
    _require_cases(common.values())
    return Cycles(knee, activities, common, contact_of(study, activities))


def accumulate_wear(cycles: Cycles, study: Study, law: Law | AnyLaw | None = None) -> xr.Dataset:
    """Wear, creep and damage of the insert over the lives of a study.

    Parameters
    ----------
    cycles : Cycles
        From `simulate`.
    study : Study
        Settings.
    law : Law or AnyLaw, optional
        An object with the methods `weight(pressure)` and `factor(cross_shear)`, or one with
        `features(history)`, `depth(features)` and `memory_mm`, instead of the wear law that the
        settings name; see :mod:`kneewear.wear.laws`.

    Raises
    ------
    ValueError
        If the cycles are of other settings than the study's (wear and lives may differ), or a depth
        of the law is below zero or no number.

    Returns
    -------
    xarray.Dataset
        Dimensions life, case, side, row and column; depths in mm. The coordinates `x`, `y`,
        `z` (mm) and `area` (mm2) are those of the elements.

    Examples
    --------
    >>> import kneewear as kw
    >>> study = kw.load_study("config/quick.yaml")
    >>> cycles = kw.simulate(kw.build_knee(study), study)
    >>> damage = kw.accumulate_wear(cycles, study)
    >>> damage.wear_depth.attrs["units"]
    'mm'
    >>> volume = (damage.wear_depth * damage.area).sum(["row", "column"])  # mm3
    >>> volume.dims
    ('life', 'case', 'side')
    """
    study = _consistent(cycles, study)
    known = law is None or isinstance(law, Law)
    for method in () if known else ("weight", "factor"):
        if not callable(getattr(law, method, None)):
            raise TypeError(f"found a law without a method {method}; expected weight and factor")
    grid, parts = cycles.knee.grid, []
    for cases, own, activities in _variants(study, cycles.activities):
        worn = WornContact(
            knee=cycles.knee,
            activities=activities,
            settings=own.simulation,
            medial_lateral=own.wear.surface_update.medial_lateral,
        )
        histories = _only(cycles.histories, cases)
        parts.append(accumulation.accumulate_wear(histories, grid, own.wear, worn, law))
    damage = concatenate_cases(parts)
    least = float(damage["wear_depth"].min(skipna=False)) if damage.sizes["case"] else 0.0
    if not least >= 0.0:
        name = type(law).__name__ if law is not None else study.wear.wear_law
        raise ValueError(f"found a wear depth of {least:g} by {name}; expected 0 or more")
    labels = {
        CONTACT_OF: contact_of(study, cycles.activities),
        WEAR_OF: wear_of(study),
        DAMAGE_OF: content_of_damage(damage),
    }
    return _with_elements(damage, grid).assign_attrs(labels)


def tabulate_cases(cycles: Cycles, damage: xr.Dataset, study: Study) -> pd.DataFrame:
    """Every result of every case, one row for each life, side and quantity.

    Parameters
    ----------
    cycles : Cycles
        From `simulate`.
    damage : xarray.Dataset
        From `accumulate_wear`, with the same cases.
    study : Study
        Settings.

    Returns
    -------
    pandas.DataFrame
        The columns of `tables/cases.csv`: case, life, thickness_mm, body_mass_kg, side, quantity,
        value, unit.

    Raises
    ------
    ValueError
        If cycles or damage are of other settings than the study's.

    Examples
    --------
    >>> import kneewear as kw
    >>> study = kw.load_study("config/quick.yaml")
    >>> cycles = kw.simulate(kw.build_knee(study), study)
    >>> table = kw.tabulate_cases(cycles, kw.accumulate_wear(cycles, study), study)
    >>> depths = table[table.quantity == "wear_depth_at_deepest_damage"]
    >>> depths.pivot(index="case", columns="side", values="value").shape
    (4, 2)
    """
    study = _consistent(cycles, study)
    known = next(iter(cycles.histories.values()))["case"].values.tolist()
    contact = contact_of(study, cycles.activities)
    damage = check_damage(damage, contact, study, cycles.knee, known)
    batches = []
    for cases, own, _ in _variants(study, cycles.activities):
        histories = _only(cycles.histories, cases)
        simulated = next(iter(histories.values()))["case"].values
        batches.append((damage.sel(case=simulated), list(histories.values()), own.wear))
    return summary.summarize_batches(batches, cycles.knee.grid)[0]


def wear_posterior(material_class: str = "conventional", coverage: float = 0.9) -> FactorInterval:
    """Wear factor in a laboratory that has not been measured, from measured wear.

    Parameters
    ----------
    material_class : str
        Class of polyethylene, as the setting `wear.material_class`.
    coverage : float
        Probability of the interval, between 0 and 1.

    Returns
    -------
    FactorInterval
        `low`, `median` and `high` in mm3/(N m), `log_sd` of the logarithm between laboratories, and
        the numbers of `laboratories` and `measurements`.

    Raises
    ------
    InputDataError
        If fewer than three laboratories have measured the class.

    Examples
    --------
    >>> import kneewear as kw
    >>> factor = kw.wear_posterior()
    >>> factor.low < 1e-6 < factor.high
    True
    """
    return factor_interval(material_class, coverage)


def posterior_draws(
    material_class: str = "conventional", rows: Literal["first", "larger"] = "first"
) -> pd.DataFrame:
    """Draws of wear law, constants and laboratories from measured wear.

    Parameters
    ----------
    material_class : str
        Class of polyethylene, as the setting `wear.material_class`.
    rows : {"first", "larger"}
        Measured rows: those by which predictions were stored before further results were looked
        for, or the larger table with these results.

    Returns
    -------
    DataFrame
        One row a draw: law, log_level (logarithm of the wear factor over 1e-6 mm3/(N m)), tau and
        sigma (standard deviations of logarithms between laboratories, and of conditions within
        one), and the constants of the laws.

    Raises
    ------
    InputDataError
        If the class was not measured.

    Examples
    --------
    >>> import kneewear as kw
    >>> draws = kw.posterior_draws()
    >>> bool(0.3 < draws["tau"].median() < 1.2)
    True
    """
    return measured_draws(material_class, rows)


def predict_wear(
    cycles: Cycles,
    study: Study,
    coverage: float = 0.9,
    model: Literal["one_factor", "laws"] = "one_factor",
) -> pd.DataFrame:
    """Interval of the volume and mass that each case loses, from measured wear.

    Parameters
    ----------
    cycles : Cycles
        From `simulate`.
    study : Study
        Settings; the class of polyethylene is `wear.material_class`.
    coverage : float
        Probability of the interval, between 0 and 1.
    model : {"one_factor", "laws"}
        One wear factor for each law, or the draws of :func:`posterior_draws`, in which law,
        constants and laboratory are uncertain together.

    Returns
    -------
    DataFrame
        Columns case, law, life, side, quantity, unit, low, median, high, percent, laboratories and
        measurements; with `laws` there are no columns law, laboratories and measurements. Depths
        have no interval.

    Raises
    ------
    InputDataError
        If fewer than three laboratories have measured the class.
    ValueError
        If the model is another one, or the cycles are of other settings than the study's (wear and
        lives may differ).

    Notes
    -----
    The wear factor differs between laboratories, see
    :func:`kneewear.wear.interval.factor_interval`. Rows of the law `archard` have one factor for
    all motions and pressures; measured wear does not decide between it and the other law.

    Examples
    --------
    >>> import kneewear as kw
    >>> study = kw.load_study("config/quick.yaml")
    >>> cycles = kw.simulate(kw.build_knee(study), study)
    >>> wear = kw.predict_wear(cycles, study).query("quantity == 'wear_volume'")
    >>> bool((wear["low"] < wear["high"]).all())
    True
    """
    if model not in ("one_factor", "laws"):
        raise ValueError(f"model: found {model!r}; expected 'one_factor' or 'laws'")
    study = _consistent(cycles, study)
    intervals = posterior_intervals if model == "laws" else wear_intervals
    parts = []
    for cases, own, _ in _variants(study, cycles.activities):
        factor_interval(own.wear.material_class, coverage)
        for case in cases:
            histories = _only(cycles.histories, [case])
            if all(history.sizes["case"] for history in histories.values()):
                surface = WearingSurface(histories, cycles.knee.grid)
                table = intervals([surface], own.wear, coverage)
                table.insert(0, "case", case.name)
                parts.append(table)
    return pd.concat(parts, ignore_index=True)


def _consistent(cycles: object, study: Study) -> CaseStudy:
    """The study, once the cycles are of its settings."""
    own = _with_cases(study)
    if not isinstance(cycles, Cycles):
        raise TypeError(f"found a {type(cycles).__name__}; expected cycles, as of simulate")
    check_knee(cycles.knee, own)
    if cycles.contact_of and cycles.contact_of != contact_of(own, cycles.activities):
        require_same("set of cycles", "knee, cases, activities or simulation")
    for name, history in cycles.histories.items():
        check_frames(history, cycles.activities[name])
    return own


def _require_cases(histories: Iterable[xr.Dataset]) -> None:
    """Raise the reason of the first failure where no case is left."""
    for history in histories:
        if not history.sizes["case"]:
            failures = failures_of(history)
            reason = failures[0].reason if failures else "There are none."
            raise KneewearError(f"All {len(failures)} cases failed. The first: {reason}")


def _open_dataset(file: Path, group: str | None) -> xr.Dataset:
    """Group of a NetCDF file whose digest is that of what was written."""
    check_digest(file)
    try:
        return xr.open_dataset(file, group=group, engine="h5netcdf", cache=False)
    except (OSError, ValueError) as error:
        raise DamagedFileError(file, str(error), "a NetCDF file") from error


def _variants(
    study: CaseStudy, activities: Mapping[str, Activity]
) -> Iterator[tuple[tuple[Case, ...], CaseStudy, Mapping[str, Activity]]]:
    """Cases with equal overrides, the study with their settings, and its activities."""
    for cases in study.variants():
        if not cases[0].overrides:
            yield cases, study, activities
            continue
        changed = settings.overridden_activities(study, cases[0])
        own = settings.apply_case(study, cases[0])
        yield cases, own, rebuild_activities(activities.values(), changed)


def _only(histories: Mapping[str, xr.Dataset], cases: Sequence[Case]) -> dict[str, xr.Dataset]:
    """Histories of some cases."""
    names = [case.name for case in cases]
    return {name: select_cases(history, names) for name, history in histories.items()}


def run(study: Study) -> StudyRun:
    """Compute all cases of a study and its analyses, without Snakemake.

    Parameters
    ----------
    study : Study
        Settings. Files are looked for where the workflow looks for them.

    Returns
    -------
    StudyRun
        Tables and datasets. Figures, page and files for other programs are made by the workflow
        only.

    Raises
    ------
    InputDataError
        If a file is missing or is not what the settings say.
    KneewearError
        If all cases fail.
    TypeError
        If it is no study.

    Examples
    --------
    >>> import kneewear as kw
    >>> result = kw.run(kw.load_study("config/quick.yaml"))
    >>> len(result.tables["regression"]) > 0
    True
    """
    checked_study(study)
    if not model_of(study).has_cases:
        return run_jobs(study, _ROOT)
    if not study.has_maps:
        return run_plan(study, _ROOT)
    cycles = simulate(build_knee(study), study)
    damage = accumulate_wear(cycles, study)
    limits = study.report.pressure_limit_mpa, study.report.avg_pressure_limit_mpa
    tables = tabulate_results(
        tabulate_cases(cycles, damage, study),
        *limits,
        compare_with_published=study.report.compare_with_published,
    )
    contact = {name: cycles.to_dataset(name) for name in cycles.histories}
    return StudyRun(tables, {"damage": damage, **contact})


def evaluate_contact(
    knee: KneeModel,
    poses: ArrayLike | pd.DataFrame,
    study: Study | None = None,
    thickness_mm: float | None = None,
    *,
    convention: str = "insert",
    units: tuple[str, str] = ("mm", "rad"),
    state: xr.Dataset | None = None,
) -> xr.Dataset:
    """Contact of a knee at given poses, both cartilage layers of a natural knee included.

    Parameters
    ----------
    knee : KneeModel
        From `build_knee`.
    poses : array, shape (6,) or (pose, 6), or DataFrame
        Position of the femoral origin in the frame of the insert (posterior, superior, medial), and
        body-three 1-2-3 angles (varus, external rotation of the tibia, extension). A DataFrame has
        the columns posterior, superior, medial, varus, external_rotation and extension, in any
        order.
    study : Study, optional
        Settings of the knee, of which the material is taken; the material of the default study when
        absent.
    thickness_mm : float, optional
        Minimum insert thickness, mm; that of the geometry by default.
    convention : str
        "insert" as above; or "grood-suntay" or "body-123" for a DataFrame with the columns flexion,
        varus, rotation, anterior_posterior, superior_inferior and medial_lateral, as in motion
        files of that convention.
    units : tuple of str
        Units of positions ("mm", "cm" or "m") and angles ("rad" or "deg").
    state : xarray.Dataset, optional
        Contact of one case from `Cycles.to_dataset`, of a study with `simulation.material_yield`:
        `permanent_share` of the plastic strain that its cycles left is in the insert at every pose,
        and the thickness is the case's. Without it the insert was never loaded.

    Returns
    -------
    xarray.Dataset
        Dimensions pose, side, row, column and component. Forces and torques act on the insert; the
        femoral component feels the opposite. The coordinates `x`, `y`, `z` (mm) and `area` (mm2)
        are those of the elements.

    Raises
    ------
    TypeError
        If poses or thickness are no real numbers.
    ValueError
        If poses do not have six finite coordinates, an angle is above pi, the component is deeper
        in the insert than the layer is thick, the thickness is not one of an insert, the study is
        one of another knee, or the state is of several cases, another grid, an elastic material or
        another thickness.

    Examples
    --------
    >>> import kneewear as kw
    >>> knee = kw.build_knee(kw.load_study("config/quick.yaml"))
    >>> poses = [[0.0, height, 0.0, 0.0, 0.0, 0.0] for height in (28.4, 28.1)]  # mm and rad
    >>> contact = kw.evaluate_contact(knee, poses)
    >>> contact.force.dims
    ('pose', 'side', 'component')
    >>> (contact.active_elements > 0).any("side").values
    array([False,  True])
    """
    chosen = default_study() if study is None else checked_study(study)
    if study is None:
        require_knee(knee)
    else:
        check_knee(knee, chosen)
    rows = poses_of_columns(poses, convention, units)
    _check_thickness(thickness_mm)
    before: list[CommittedStrain] = []
    if state is not None:
        chosen, thickness_mm, before = _with_state(state, knee, chosen, thickness_mm)
    settings_of_contact = chosen.simulation
    if not chosen.reads_distance_tables:
        settings_of_contact = settings_of_contact.model_copy(update={"distance": "exact"})
    contact = evaluation.contact_at_poses(knee, rows, settings_of_contact, thickness_mm, before)
    nominal = knee.implant.nominal_thickness if thickness_mm is None else thickness_mm
    thickest = float(knee.grid.case_thickness(nominal)[knee.grid.valid].max())
    deepest = float(contact["max_penetration"].max())
    if deepest > thickest:
        raise ValueError(
            f"a penetration of {deepest:.3g} mm into a layer of at most {thickest:.3g} mm; "
            "expected a component on the layer. Check units and signs of the poses."
        )
    force = np.linalg.norm(contact["force"].sum("side"), axis=-1)
    worst = int(force.argmax())
    if force[worst] > 0.0:
        finding = judge(
            "contact.pose_force", float(force[worst]), f"pose {worst}", "Check its units."
        )
        if finding is not None:
            logger.warning("%s", finding)
    if deepest <= 0.0:
        logger.warning("No pose touches the insert: check units, signs and the order of columns.")
    return _with_elements(contact, knee.grid)


def _with_state(
    state: xr.Dataset, knee: KneeModel, study: Study, thickness_mm: float | None
) -> tuple[Study, float, list[CommittedStrain]]:
    """Study of the case whose contact is a state, its thickness, and the strain it left."""
    committed = committed_strain(state, knee.grid)
    case = case_of(state)
    own = study.at(case.overrides)
    if own.simulation.material_yield is None:
        raise ValueError(
            "found a state with a study whose material is elastic; expected the study of the "
            "state, with simulation.material_yield"
        )
    if thickness_mm is not None and thickness_mm != case.thickness:
        raise ValueError(
            f"found thickness_mm={thickness_mm:g} with a state of an insert of {case.thickness:g} "
            "mm; expected none, or the same"
        )
    return own, case.thickness, committed


def _check_thickness(thickness_mm: object) -> None:
    """Refuse a thickness that no insert has."""
    if thickness_mm is None:
        return
    if isinstance(thickness_mm, bool) or not isinstance(thickness_mm, int | float):
        raise TypeError(f"found thickness_mm={thickness_mm!r}; expected a number of mm")
    if not 0.0 < thickness_mm <= THICKNESS.highest:
        raise ValueError(f"thickness_mm={thickness_mm:g}; expected {THICKNESS.possible}")


def open_results(folder: str | Path) -> Results:
    """Results of a finished study.

    Parameters
    ----------
    folder : str or Path
        Folder of the study, `results/<study>`.

    Returns
    -------
    Results

    Raises
    ------
    InputDataError
        If the folder holds no results, or those of a later schema.

    Examples
    --------
    >>> import kneewear as kw
    >>> results = kw.open_results("results/quick")
    >>> results.activities
    ('gait',)
    >>> results.damage.wear_depth.dims
    ('life', 'case', 'side', 'row', 'column')
    >>> results.tables["cases"].columns[:3].tolist()
    ['case', 'life', 'thickness_mm']
    """
    if not isinstance(folder, str | Path):
        raise TypeError(f"found a {type(folder).__name__}; expected the path of a folder")
    results = Results(Path(folder))
    if not (results.activities or any(results.folder.glob("tables/*.csv"))):
        raise InputDataError(
            folder,
            "a folder without results" if results.folder.is_dir() else "no such folder",
            "the folder of a finished study, results/<study>",
            "Run the study (make study), or correct the name.",
        )
    if (record := results.folder / RECORD).is_file():
        load_record(record)
    else:
        logger.warning(
            "%s: found no such file; expected the settings and versions of these results. Without "
            "them it is not known what was computed. Run the study again (make study).",
            record,
        )
    missing = missing_batches(results.folder)
    if missing:
        found = f"no {missing[0]}" + (f", {len(missing)} missing" if missing[1:] else "")
        remedy = "Run the study again (make study): it will be created."
        raise InputDataError(folder, found, "results of every case", remedy)
    return results


def compare(*folders: str | Path) -> dict[str, pd.DataFrame]:
    """Finished studies of model wear side by side, without the page of `make compare`.

    Parameters
    ----------
    *folders : str or Path
        Folders of finished studies, the reference first. One is enough where it has several lives
        or overrides.

    Returns
    -------
    dict of str to DataFrame
        `differences` from the reference, with the ratios that a shared wear factor leaves,
        `ranking`, `matches` (the cases that are compared), `gaits` and `settings` that differ; see
        :func:`kneewear.analysis.comparison.compare_studies`.

    Raises
    ------
    InputDataError
        If a folder holds no finished wear study.
    KneewearError
        If there is only one design.

    Examples
    --------
    >>> import kneewear as kw
    >>> kw.compare("results/nothing", "results/default")
    Traceback (most recent call last):
    kneewear.errors.InputDataError: results/nothing: found no such folder; expected the folder of \
a finished study of model wear, results/<study>. Run the study (make study), or correct it.
    """
    if not folders:
        raise ValueError("found no folder; expected those of one finished study or more")
    for one in folders:
        if not isinstance(one, str | Path):
            raise TypeError(f"found a {type(one).__name__}; expected the path of a folder")
    return compare_studies(load_studies([Path(folder) for folder in folders]))


def _with_cases(study: Study) -> CaseStudy:
    """The study, once its kind has cases, activities and wear."""
    study = checked_study(study)
    if not study.has_activities:
        raise ValueError(f"a study of model {study.model} has no cycles; use one of model wear")
    return cast("CaseStudy", study)


def _with_elements(dataset: xr.Dataset, grid: ElementGrid) -> xr.Dataset:
    """Dataset with position and area of its elements as coordinates."""
    dimensions = ("side", "row", "column")
    area = {"units": "mm2", "long_name": "area of the element"}
    coordinates: dict[str, Any] = {"area": (dimensions, grid.area, area)}
    for axis, name in enumerate(("x", "y", "z")):
        attributes = {"units": "mm", "long_name": f"{name} of the element's centre"}
        coordinates[name] = (dimensions, grid.centre[..., axis], attributes)
    return dataset.assign_coords(coordinates)
