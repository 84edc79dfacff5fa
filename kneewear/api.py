"""The public Python API: the chain from settings to wear, and the results of finished studies.

Every function here is also a name of the package: ``import kneewear as kw; kw.load_study(...)``.
Units are mm, N, MPa, s and rad; axes, signs and orders of dimensions are those of the files that a
study writes. Datasets carry the unit and the meaning of each variable as attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from kneewear import default_settings_file
from kneewear.activity.activity import Activity
from kneewear.activity.sources import rebuild_activities
from kneewear.errors import InputDataError
from kneewear.geometry import knee as knee_model
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.knee import KneeModel
from kneewear.io import netcdf
from kneewear.io.documents import load_table
from kneewear.io.finished_study import load_finished
from kneewear.io.schema import RECORDS
from kneewear.io.study_inputs import load_activity, load_shapes
from kneewear.io.worn_insert import save_worn_insert
from kneewear.settings import study as settings
from kneewear.settings.base import CaseStudy, Study, WearStudy
from kneewear.settings.cases import Case
from kneewear.settings.static import StaticStudy
from kneewear.simulation import evaluation
from kneewear.simulation.cases import simulate_cases
from kneewear.simulation.evaluation import PoseContact
from kneewear.simulation.history import ContactHistory, keep_common
from kneewear.studies.comparison import compare_studies
from kneewear.wear import accumulation, summary
from kneewear.wear.laws import WearLaw
from kneewear.wear.records import DamageMaps
from kneewear.wear.worn_surface import WornContact

# Relative paths in settings start at the checkout; of an installed package, where it is used.
_ROOT = Path(__file__).parent.parent
if not (_ROOT / "config" / "config.yaml").exists():
    _ROOT = Path()


@dataclass(frozen=True)
class Cycles:
    """Contact over one cycle of every activity, for all cases of a study.

    Parameters
    ----------
    knee : KneeModel
        The knee that was simulated.
    activities : mapping of str to Activity
        Prescribed motion and load of each activity.
    histories : mapping of str to ContactHistory
        Contact of each activity: the same cases in all of them. Cases that failed in any activity
        are left out; `history.failures` lists them.
    """

    knee: KneeModel
    activities: Mapping[str, Activity]
    histories: Mapping[str, ContactHistory]

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
        history = self.histories[activity]
        found = _dataset(history, self.knee.grid)
        return found.assign_attrs(activity=activity, analysis=history.analysis)


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
        """
        knee = netcdf.load(KneeModel, self.folder / "geometry/knee.nc")
        maps = netcdf.load(DamageMaps, sorted(self.folder.glob("wear/b*.nc")))
        names = [one.name for one in maps.cases]
        if case not in names:
            raise ValueError(f"no case {case!r} among {', '.join(names)}")
        return save_worn_insert(maps, knee.grid, case, folder, knee.implant.left)

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
        """
        files = sorted(self.folder.glob(pattern))
        if not files:
            known = f"Activities of this study: {', '.join(self.activities) or 'none'}."
            expected = "a file of a finished study"
            raise InputDataError(self.folder / pattern, "no file", expected, known)
        parts = [
            xr.open_dataset(file, group=group, engine="h5netcdf", cache=False) for file in files
        ]
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
        is replaced, and None removes an inherited activity or life.

    Returns
    -------
    Study
        Checked, frozen settings; `config/README.md` lists them.

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
    return settings.read_study(*sources, defaults=default_settings_file())


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
    knee, _ = knee_model.build_knee(
        implant=study.implant,
        grid=study.grid,
        table=study.table,
        coarse_grid=study.coarse_grid,
        meshes=load_shapes(study, _ROOT),
    )
    return knee


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
    activities = {name: load_activity(study, name, _ROOT) for name in study.simulated_activities()}
    histories = [
        simulate_cases(knee, cycles[name], cases, own.simulation, keep_going=True)
        for name in activities
        for cases, own, cycles in _variants(study, activities)
    ]
    return Cycles(knee, activities, keep_common(histories))


def accumulate_wear(cycles: Cycles, study: Study, law: WearLaw | None = None) -> xr.Dataset:
    """Wear, creep and damage of the insert over the lives of a study.

    Parameters
    ----------
    cycles : Cycles
        From `simulate`.
    study : Study
        Settings.
    law : WearLaw, optional
        An object with the methods `weight(pressure)` and `factor(cross_shear)`, instead of the wear
        law that the settings name; see :mod:`kneewear.wear.laws`.

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
    grid, parts = cycles.knee.grid, []
    for cases, own, activities in _variants(_with_cases(study), cycles.activities):
        worn = WornContact(
            knee=cycles.knee,
            activities=activities,
            settings=own.simulation,
            medial_lateral=own.wear.surface_update.medial_lateral,
        )
        histories = _only(cycles.histories, cases)
        parts.append(accumulation.accumulate_wear(histories, grid, own.wear, worn, law))
    return _dataset(netcdf.join(parts, [study.study] * len(parts)), grid)


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

    Examples
    --------
    >>> import kneewear as kw
    >>> study = kw.load_study("config/quick.yaml")
    >>> cycles = kw.simulate(kw.build_knee(study), study)
    >>> table = kw.tabulate_cases(cycles, kw.accumulate_wear(cycles, study), study)
    >>> depths = table[table.quantity == "wear_depth"]
    >>> depths.pivot(index="case", columns="side", values="value").shape
    (4, 2)
    """
    batches = []
    for cases, own, _ in _variants(_with_cases(study), cycles.activities):
        histories = _only(cycles.histories, cases)
        simulated = [case.name for case in next(iter(histories.values())).cases]
        part = damage.sel(case=simulated)
        arrays = {str(name): variable.values for name, variable in part.variables.items()}
        maps = netcdf.value_of(DamageMaps, arrays)
        batches.append((maps, list(histories.values()), own.wear))
    return summary.summarize_batches(batches, cycles.knee.grid)[0]


def _variants(
    study: CaseStudy, activities: Mapping[str, Activity]
) -> Iterator[tuple[tuple[Case, ...], CaseStudy, Mapping[str, Activity]]]:
    """Cases with equal overrides, the study with their settings, and its activities."""
    for cases in study.variants():
        changed = settings.overridden_activities(study, cases[0])
        own = settings.apply_case(study, cases[0]) if cases[0].overrides else study
        yield cases, own, rebuild_activities(activities.values(), changed)


def _only(
    histories: Mapping[str, ContactHistory], cases: Sequence[Case]
) -> dict[str, ContactHistory]:
    """Histories of some cases."""
    names = [case.name for case in cases]
    return {name: history.select(names) for name, history in histories.items()}


def evaluate_contact(
    knee: KneeModel,
    poses: ArrayLike,
    study: Study | None = None,
    thickness_mm: float | None = None,
) -> xr.Dataset:
    """Contact of a knee at given poses, both cartilage layers of a natural knee included.

    Parameters
    ----------
    knee : KneeModel
        From `build_knee`.
    poses : array, shape (6,) or (pose, 6)
        Position of the femoral origin in the frame of the insert, mm (posterior, superior, medial),
        and body-three 1-2-3 angles, rad (varus, external rotation of the tibia, extension).
    study : Study, optional
        Settings of the material; those of the default study when absent. Of a static study the
        first material is used.
    thickness_mm : float, optional
        Minimum insert thickness, mm; that of the geometry by default.

    Returns
    -------
    xarray.Dataset
        Dimensions pose, side, row, column and component. Forces and torques act on the insert; the
        femoral component feels the opposite. The coordinates `x`, `y`, `z` (mm) and `area` (mm2)
        are those of the elements.

    Raises
    ------
    ValueError
        If poses do not have six finite coordinates, or the thickness is not positive everywhere.

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
    chosen = default_study() if study is None else study
    settings_of_contact = chosen.simulation
    if isinstance(chosen, StaticStudy):
        law = next(iter(chosen.static.materials.values()))
        settings_of_contact = settings_of_contact.model_copy(
            update={"pressure_law": law, "distance": "exact"}
        )
    found = evaluation.evaluate_contact(knee, poses, settings_of_contact, thickness_mm)
    return _dataset(found, knee.grid)


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
        If the folder holds no results.

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
    results = Results(Path(folder))
    if not (results.activities or any(results.folder.glob("tables/*.csv"))):
        raise InputDataError(
            folder,
            "a folder without results" if results.folder.is_dir() else "no such folder",
            "the folder of a finished study, results/<study>",
            "Run the study (make study), or correct the name.",
        )
    return results


def compare(*folders: str | Path) -> dict[str, pd.DataFrame]:
    """Finished studies of kind wear side by side, without the page of `make compare`.

    Parameters
    ----------
    *folders : str or Path
        Folders of finished studies, the reference first. One is enough where it has several lives
        or overrides.

    Returns
    -------
    dict of str to DataFrame
        `differences` from the reference, with the ratios that a shared wear factor leaves,
        `ranking` and `settings` that differ; see :func:`kneewear.studies.comparison.
        compare_studies`.

    Raises
    ------
    InputDataError
        If a folder holds no finished wear study.
    KneewearError
        If there is only one design, or no thickness and body mass that all designs share.

    Examples
    --------
    >>> import kneewear as kw
    >>> kw.compare("results/nothing", "results/default")
    Traceback (most recent call last):
    kneewear.errors.InputDataError: results/nothing: found no such folder; expected the folder of \
a finished study of kind wear, results/<study>. Run the study (make study), or correct it.
    """
    return compare_studies([load_finished(folder) for folder in folders])


def _with_cases(study: Study) -> CaseStudy:
    """The study, once its kind has cases, activities and wear."""
    if not isinstance(study, CaseStudy):
        raise ValueError(f"a study of kind {study.kind} has no cycles; use one of kind wear")
    return study


def _dataset(value: ContactHistory | DamageMaps | PoseContact, grid: ElementGrid) -> xr.Dataset:
    """Labelled dataset of a value object, with the variables of its file."""
    arrays = netcdf.arrays_of(value)
    variables: dict[str, Any] = {}
    coordinates: dict[str, Any] = {}
    for one in RECORDS[type(value).__name__].variables:
        if one.name in arrays:
            attributes = {"units": one.units, "long_name": one.long_name}
            entry = (one.dimensions.split(), arrays[one.name], attributes)
            (coordinates if one.is_coordinate else variables)[one.name] = entry
    area = {"units": "mm2", "long_name": "area of the element"}
    coordinates["area"] = (("side", "row", "column"), grid.area, area)
    for axis, name in enumerate(("x", "y", "z")):
        attributes = {"units": "mm", "long_name": f"{name} of the element's centre"}
        coordinates[name] = (("side", "row", "column"), grid.centre[..., axis], attributes)
    return xr.Dataset(variables, coordinates)
