"""Data files a study names: where they are, what they hold, and checks before the first job."""

from __future__ import annotations

import os
from functools import reduce
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from kneewear.errors import InputDataError
from kneewear.io.cohorts import read_cohort
from kneewear.io.documents import load_json, load_table
from kneewear.io.plans import read_plan
from kneewear.settings.activity import FileActivity, ParametricActivity
from kneewear.settings.base import CaseStudy, Study, WearStudy
from kneewear.settings.checks import heard, setting_warnings
from kneewear.settings.cohort import CohortStudy, Subject
from kneewear.settings.designs import DesignStudy
from kneewear.settings.faults import refusal
from kneewear.settings.fe_knee import FeKneeStudy
from kneewear.settings.files import read_settings_file
from kneewear.settings.multibody import MultibodyStudy
from kneewear.settings.optimisation import OptimisationStudy
from kneewear.settings.static import StaticStudy
from kneewear.settings.study import load_study, merge_settings, read_settings
from kneewear.settings.sweep import SweepStudy
from kneewear.settings.uncertainty import ConstantsFile, UncertaintySettings

# Imported where used: jobs that only name files need none of it, and it costs about a second.
if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from kneewear.activity.activity import Activity
    from kneewear.geometry.meshes import TriangleMesh


def mesh_files(study: Study, root: str | Path) -> dict[str, str]:
    """Mesh files of the implant by their names as arguments of `build_implant`.

    `insert_mesh` and `femoral_mesh` (and `underside_mesh` if there is one; of a natural knee
    `insert_bone_mesh` and `femoral_bone_mesh`); empty for the built-in implant. `root` is the
    checkout, also in the functions below.
    """
    files = _implant_files(study)
    return {name: str(study.data_path(file, root)) for name, file in files.items()}


def _implant_files(study: Study) -> dict[str, str]:
    """Mesh files of the implant as its settings name them."""
    meshes, natural = study.implant.meshes, study.implant.natural
    if study.implant.source == "natural" and natural is not None:
        return {
            "insert_mesh": natural.tibial_cartilage,
            "femoral_mesh": natural.femoral_cartilage,
            "insert_bone_mesh": natural.tibial_bone,
            "femoral_bone_mesh": natural.femoral_bone,
        }
    if study.implant.source != "meshes" or meshes is None:
        return {}
    files = {"insert_mesh": meshes.insert, "femoral_mesh": meshes.femoral}
    if meshes.underside_mesh is not None:
        files["underside_mesh"] = meshes.underside_mesh
    return files


def design_studies(study: Study) -> dict[str, Study]:
    """A study for each design, in each size, of a study of designs; other studies have one."""
    if isinstance(study, CohortStudy):
        return dict(study.implants())
    return study.variants() if isinstance(study, DesignStudy) else {study.implant.name: study}


def activity_files(study: Study, activity: str, root: str | Path) -> dict[str, str]:
    """Files `motion`, `load` and perhaps `tibial` of an activity; empty for a built-in one."""
    files = _curve_files(study, activity)
    return {name: str(study.data_path(file, root)) for name, file in files.items()}


def pose_files(study: Study, root: str | Path) -> list[str]:
    """File of given poses of a static study, as a list; empty where poses are solved."""
    poses = study.static.poses if isinstance(study, StaticStudy) else None
    return [] if poses is None else [str(study.data_path(poses.file, root))]


def model_files(study: Study, root: str | Path) -> dict[str, str]:
    """Data files of the model of a multibody study or a dynamic knee by name; else empty."""
    if isinstance(study, MultibodyStudy):
        files = study.multibody.files
    elif isinstance(study, FeKneeStudy):
        files = study.fe_knee.files
    else:
        return {}
    return {name: str(study.data_path(file, root)) for name, file in files.items()}


def _curve_files(study: Study, activity: str) -> dict[str, str]:
    """Curve files of an activity as its settings name them."""
    settings = study.simulated_activities()[activity]
    if not isinstance(settings, FileActivity):
        return {}
    tibial = settings.motion.tibial_file
    other = {} if tibial is None else {"tibial": tibial}
    return {"motion": settings.motion.file, "load": settings.load.file, **other}


def measured_activities(study: Study, root: str | Path) -> list[dict[str, Any]]:
    """Measured activities of `report.measured` whose files exist, each once, as plain builtins.

    Each has `name`, `beside` (a built-in activity of the study), `settings`, `files` (`motion` and
    `load`) and `knee`.
    """
    simulated = study.simulated_activities()
    found: list[dict[str, Any]] = []
    for name, one in study.report.measured.items():
        if not isinstance(simulated.get(one.beside), ParametricActivity):
            continue
        paths = [Path(root, "config/config.yaml")]
        paths += [study.data_path(file, root) for file in one.settings]
        other = load_study(reduce(merge_settings, map(read_settings, paths)))
        for activity, block in other.simulated_activities().items():
            files = {
                part: str(study.data_path(file, root))
                for part, file in _curve_files(other, activity).items()
            }
            if files and all(Path(file).is_file() for file in files.values()):
                settings = block.model_dump(mode="json")
                if settings in [known["settings"] for known in found]:
                    continue
                found.append({"name": name, "beside": one.beside, "settings": settings,
                              "files": files, "knee": other.implant.knee})  # fmt: skip
    return found


def load_shapes(study: Study, root: str | Path) -> dict[str, TriangleMesh]:
    """Read the meshes of a study's implant, by the names of `mesh_files`."""
    from kneewear.io.shapes import load_shape  # noqa: PLC0415

    return {name: load_shape(path) for name, path in mesh_files(study, root).items()}


def load_activity(study: Study, name: str, root: str | Path) -> Activity:
    """Build one activity of a study, from its curve files where it has some."""
    from kneewear.io.curves import read_activity  # noqa: PLC0415

    files = activity_files(study, name, root)
    settings = study.simulated_activities()[name]
    return read_activity(name, settings, files, study.simulation.frames, study.implant.knee)


def peak_loads(study: Study, root: str | Path) -> tuple[str, ...]:
    """Sentence on the peak load of every activity, in body weights and in N for the body masses."""
    from kneewear.activity.load import GRAVITY  # noqa: PLC0415

    masses = study.cases.body_mass_kg if isinstance(study, CaseStudy) else ()
    found = []
    for name in study.simulated_activities():
        peak = float(load_activity(study, name, root).load.max())
        forces = [
            f"{peak * mass * GRAVITY:.0f} N at {mass:g} kg"
            for mass in sorted({min(masses), max(masses)} if masses else ())
        ]
        found.append(f"{name}: peak load {peak:.3g} body weights{': ' * bool(forces)}"
                     f"{', '.join(forces)}.")  # fmt: skip
    return tuple(found)


def plan_files(study: Study, root: str | Path) -> list[str]:
    """File of the cases of a sweep, as a list; empty where the settings plan them."""
    file = study.sweep.file if isinstance(study, SweepStudy) else None
    return [] if file is None else [str(study.data_path(file, root))]


def count_cases(study: SweepStudy, root: str | Path) -> int:
    """Cases of a sweep, those of its file where it has one; InputDataError as `read_plan`."""
    for path in plan_files(study, root):
        _check_readable(path, study, root)
        return len(read_plan(path, list(study.sweep.factors)))
    return study.sweep.case_count or 0


def cohort_file(study: CohortStudy, root: str | Path) -> str:
    """File of the subjects of a cohort."""
    return str(study.data_path(study.cohort.subjects, root))


def cohort_files(study: Study, root: str | Path) -> list[str]:
    """File of the subjects of a cohort and their own files; empty for studies of other kinds."""
    if not isinstance(study, CohortStudy):
        return []
    return [cohort_file(study, root), *subject_files(study, root).values()]


def subjects(study: CohortStudy, root: str | Path) -> list[Subject]:
    """Subjects of a cohort; InputDataError as `read_cohort`."""
    path = cohort_file(study, root)
    _check_readable(path, study, root)
    return read_cohort(path, study)


def subject_files(study: CohortStudy, root: str | Path) -> dict[str, str]:
    """Motion and load files of all subjects of a cohort, by the names settings and rows give them.

    InputDataError if one does not exist; it names the first subject with it.
    """
    name = study.cohort.activity
    found: dict[str, str] = {}
    if name is not None:
        files, own = _curve_files(study, name), activity_files(study, name, root)
        found = {file: own[part] for part, file in files.items()}
    for subject in subjects(study, root):
        for part, file in subject.files.items():
            if file not in found:
                path = str(study.data_path(file, root))
                if not Path(path).is_file():
                    raise InputDataError(
                        cohort_file(study, root),
                        f"{part} file {file}, which does not exist",
                        "a file in the data folder, or a path",
                        f"Check the name and {_data_folder(study, root)}.",
                        f"subject {subject.name}",
                    )
                found[file] = path
    return found


def simulator_tests(study: Study, root: str | Path) -> dict[str, str]:
    """Files of wear that was measured in a simulator, by the names of the tests."""
    tests = study.report.simulator_tests
    return {name: str(study.data_path(test.file, root)) for name, test in tests.items()}


def twin_table(study: Study, root: str | Path) -> list[str]:
    """Table of the finished finite-element twin that the page of a wear study quotes, as a list."""
    file = study.report.fe_twin if isinstance(study, WearStudy) else None
    # A result, no measured data: relative paths start in the checkout.
    return [str(Path(root) / Path(file).expanduser())] if file else []


def uncertain_constants(study: Study, root: str | Path) -> UncertaintySettings | None:
    """Constants that the samples of a wear study's centre case vary; None without samples.

    InputDataError if the file of `report.spread.constants` has none, or a fault in them.
    """
    spread = study.report.spread
    if not isinstance(study, WearStudy) or not spread.samples:
        return None
    file = read_settings_file(study.data_path(spread.constants, root))
    block = file.content.get("uncertainty")
    if not isinstance(block, dict):
        raise InputDataError(
            file.path,
            "no block uncertainty",
            "constants, their spreads and sources, as in config/monte_carlo.yaml",
            "Name another file in report.spread.constants, or set report.spread.samples to 0.",
        )
    own = {"uncertainty": block | {"method": "monte_carlo", "samples": spread.samples}}
    try:
        return ConstantsFile.model_validate(own).uncertainty
    except ValidationError as error:
        raise refusal(error, ConstantsFile, own, file.path, [file]) from None


def given_poses(study: Study, root: str | Path) -> NDArray[np.float64] | None:
    """Given poses (n, 6) of a static study, mm and rad; None where poses are solved."""
    from kneewear.io.curves import read_poses  # noqa: PLC0415

    poses = study.static.poses if isinstance(study, StaticStudy) else None
    return None if poses is None else read_poses(pose_files(study, root)[0], poses)


def check_inputs(study: Study, root: str | Path) -> tuple[str, ...]:
    """Refuse a study whose data files are missing or cannot be what the settings state.

    Returns warnings, without those that `checks.silence` names: the study can run. InputDataError
    when a file is missing or not readable, a mesh or curve is not what its settings say, the insert
    of a case has no thickness somewhere, or a motion or load (a built-in one too) is not one of a
    knee, or not of this one.
    """
    named = {name: activity_files(study, name, root) for name in study.simulated_activities()}
    curves = [path for files in named.values() for path in files.values()]
    meshes = [
        path for one in design_studies(study).values() for path in mesh_files(one, root).values()
    ]
    for path in (
        *meshes,
        *curves,
        *pose_files(study, root),
        *model_files(study, root).values(),
        *simulator_tests(study, root).values(),
    ):
        _check_readable(path, study, root)
    given_poses(study, root)
    if isinstance(study, SweepStudy):
        count_cases(study, root)
    if isinstance(study, CohortStudy):
        subject_files(study, root)
    _check_optimiser(study)
    _check_model(study, root)
    _check_tests(study, root)
    _check_twin(study, root)
    warnings = []
    for one in design_studies(study).values():
        warnings += [*setting_warnings(one), *_check_implant(one, root)]
    warnings += [warning for name in named for warning in load_activity(study, name, root).warnings]
    return (*heard(warnings, study.checks.silence), *_files_of_checkout(study, root))


def _check_implant(study: Study, root: str | Path) -> tuple[str, ...]:
    """Check the meshes, and the thickness of the thinnest case; warnings about the meshes."""
    from kneewear.geometry.implant_sources import (  # noqa: PLC0415
        check_meshes,
        check_thickness,
        judge_meshes,
    )

    shapes = load_shapes(study, root)
    if shapes:
        check_meshes(study.implant, **shapes)
    parts = {name: shapes.get(name) for name in ("insert_mesh", "underside_mesh")}
    check_thickness(study.implant, study.thinnest_mm, **parts)
    return judge_meshes(study.implant, **shapes) if study.implant.source == "meshes" else ()


def _check_optimiser(study: Study) -> None:
    """Refuse an optimisation where the library of its search is missing."""
    if isinstance(study, OptimisationStudy) and find_spec("pymoo") is None:
        raise InputDataError(
            "kind: optimisation",
            "no pymoo to search with",
            "the optional extra `optimisation`",
            "Install it: pip install 'kneewear[optimisation]'.",
        )


def _check_model(study: Study, root: str | Path) -> None:
    """Read the tables and shapes of the model of a multibody study or a dynamic knee."""
    if isinstance(study, MultibodyStudy):
        from kneewear.io.multibody_inputs import load_parts  # noqa: PLC0415

        load_parts(study.multibody, model_files(study, root))
    if isinstance(study, FeKneeStudy):
        from kneewear.io.fe_knee_files import load_bones  # noqa: PLC0415

        load_bones(study.fe_knee.bones, model_files(study, root), study.implant.knee)
        if study.fe_knee.bones.source == "natural" and find_spec("pytetwild") is None:
            raise InputDataError(
                "fe_knee.bones.source: natural",
                "no pytetwild to fill bones with tetrahedra",
                "the optional extra `fe`",
                "Install it: pip install 'kneewear[fe]'. Or take simplified bones.",
            )


def _check_tests(study: Study, root: str | Path) -> None:
    """Read the measured wear of simulators, if there is any."""
    files = simulator_tests(study, root)
    if files:
        from kneewear.io.curves import read_simulator_test  # noqa: PLC0415

        for name, test in study.report.simulator_tests.items():
            read_simulator_test(files[name], test.columns.model_dump(), 1.0)


def _check_twin(study: Study, root: str | Path) -> None:
    """Refuse a twin that is not finished, or not of this implant, material, motion and load."""
    for path in twin_table(study, root):
        record = Path(path).parent.parent / "provenance.json"
        if Path(path).name != "fe_twin.csv" or not Path(path).is_file() or not record.is_file():
            raise InputDataError(
                path,
                "no table of a finished finite-element twin",
                "results/<study>/tables/fe_twin.csv of a study of kind fe_twin",
                "Run that study first, or set report.fe_twin to null.",
            )
        load_table(path, ("case", "side", "quantity", "foundation", "finite_elements"))
        of_twin = load_json(record)["settings"]
        settings = study.model_dump(mode="json")
        activity = of_twin["fe_twin"]["activity"]
        of_both = [
            ("implant",), ("activities", activity), ("simulation", "analysis"),
            ("simulation", "youngs_modulus_mpa"), ("simulation", "poisson_ratio"),
            ("simulation", "pressure_law"),
        ]  # fmt: skip
        other = [
            ".".join(keys)
            for keys in of_both
            if reduce(_value, keys, of_twin) != reduce(_value, keys, settings)
        ]
        if other:
            raise InputDataError(
                path,
                f"a twin with another {' and '.join(other)}",
                "the implant, activity, analysis and material of this study",
                "Run the twin with these settings (name this study's file before its own), or set "
                "report.fe_twin to null.",
            )


def _value(settings: Mapping[str, Any] | None, key: str) -> Any:
    """Value of a key; None where a mapping or the key is missing."""
    return (settings or {}).get(key)


def _check_readable(path: str, study: Study, root: str | Path) -> None:
    if not Path(path).is_file():
        folder = _data_folder(study, root)
        remedy = (
            f"Check the file's name, or correct {folder}."
            if os.environ.get("KNEEWEAR_DATA")
            else f"Check the file's name and {folder}, or set $KNEEWEAR_DATA."
        )
        raise InputDataError(path, "no such file", "a data file", remedy)
    if not os.access(path, os.R_OK):
        found = "a file without read permission"
        raise InputDataError(path, found, "a readable file", "Grant permission.")


def _data_folder(study: Study, root: str | Path) -> str:
    """Setting that names the data folder, its path, and whether it exists."""
    folder = study.data_root(root).resolve()
    name = "$KNEEWEAR_DATA" if os.environ.get("KNEEWEAR_DATA") else "data_folder"
    return f"{name}, which points to {folder}{'' if folder.is_dir() else ' (no such folder)'}"


def _files_of_checkout(study: Study, root: str | Path) -> tuple[str, ...]:
    """Warning about files taken from the checkout because the data folder does not exist."""
    if study.data_root(root).is_dir():
        return ()
    designs = design_studies(study).values()
    named = [file for one in designs for file in _implant_files(one).values()]
    for activity in study.simulated_activities():
        named += _curve_files(study, activity).values()
    used = [
        path
        for path in named
        if study.data_path(path, root) == Path(root) / Path(path).expanduser()
        and not Path(path).expanduser().is_absolute()
    ]
    if not used:
        return ()
    return (
        f"Read from the checkout ({Path(root).resolve()}): {', '.join(used)}. "
        f"Check {_data_folder(study, root)}.",
    )
