"""Data files a study names: where they are, what they hold, and checks before the first job."""

from __future__ import annotations

import os
from bisect import bisect_left
from dataclasses import replace
from functools import reduce
from importlib.util import find_spec
from math import isfinite, prod
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import Field, ValidationError

from kneewear.activity.settings import FileActivity, ParametricActivity, RegisteredMotion
from kneewear.base.agreement import disagreements
from kneewear.base.checks import checks, drop_ignored, judge, setting_findings
from kneewear.base.faults import refusal
from kneewear.base.files import read_settings_file
from kneewear.base.renamed_keys import present_settings
from kneewear.base.types import Settings
from kneewear.base.variables import Variable, apply_values
from kneewear.errors import Finding, InputDataError
from kneewear.geometry.settings import MeshImplant, NaturalKnee
from kneewear.io.documents import load_json
from kneewear.study.models import MODELS, model_of
from kneewear.study.plan_files import read_plan
from kneewear.study.settings import merge_settings, read_settings, study_findings, validate_study
from kneewear.study.shipped import moved_finding
from kneewear.study.statements import TEST_PAIRS
from kneewear.study.study import LifeStudy, Study

# Imported where used: jobs that only name files need none of it, and it costs about a second.
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from kneewear.activity.activity import Activity
    from kneewear.geometry.implant import Implant
    from kneewear.geometry.meshes import TriangleMesh


_MASS = "patient.body_mass_kg"
# Labels of which more than this part differ are names of subjects.
_NAMES = 0.7
# Values of a column, at least, of which one is judged against the others.
_MANY = 20


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
    implant = study.implant
    if isinstance(implant, NaturalKnee):
        natural = implant.natural
        return {
            "insert_mesh": natural.tibial_cartilage,
            "femoral_mesh": natural.femoral_cartilage,
            "insert_bone_mesh": natural.tibial_bone,
            "femoral_bone_mesh": natural.femoral_bone,
        }
    if not isinstance(implant, MeshImplant):
        return {}
    meshes = implant.meshes
    files = {"insert_mesh": meshes.insert, "femoral_mesh": meshes.femoral}
    if meshes.underside_mesh is not None:
        files["underside_mesh"] = meshes.underside_mesh
    return files


def design_studies(study: Study) -> dict[str, Study]:
    """A study for each design, which a variable names as blocks of the implant; else its own."""
    for name, variable in study.variables.items():
        blocks = variable.blocks or {}
        changed = variable.settings or [key for block in blocks.values() for key in block]
        if blocks and any(key.startswith("implant") for key in changed):
            return {design: _design_study(study, name, design) for design in blocks}
    return {study.implant.name: study}


def _design_study(study: Study, name: str, design: str) -> Study:
    """Study of one level of a variable, with the other variables."""
    settings = apply_values(study.model_dump(mode="json"), study.variables, {name: design})
    del settings["variables"][name]
    return type(study).model_validate(settings | {"analyses": {}})


def activity_files(study: Study, activity: str, root: str | Path) -> dict[str, str]:
    """Files `motion`, `load` and perhaps `tibial` of an activity; empty for a built-in one."""
    files = _curve_files(study, activity)
    return {name: str(study.data_path(file, root)) for name, file in files.items()}


def directions_are_stated(study: Study, activity: str, root: str | Path) -> bool:
    """True if the titles of an activity's motion file state the directions that settings use."""
    from kneewear.io.column_uses import states_directions  # noqa: PLC0415

    settings = study.simulated_activities()[activity]
    if not isinstance(settings, FileActivity):
        return False
    knee = settings.motion.knee or study.implant.knee
    return states_directions(settings, activity_files(study, activity, root), knee)


def pose_files(study: Study, root: str | Path) -> list[str]:
    """File of given poses of a study of model press, as a list; empty where poses are solved."""
    poses = study.pose_file
    return [] if poses is None else [str(study.data_path(poses.file, root))]


def model_files(study: Study, root: str | Path) -> dict[str, str]:
    """Data files of the model of a multibody study or a replication by name; else empty."""
    return {name: str(study.data_path(file, root)) for name, file in study.model_files.items()}


def _curve_files(study: Study, activity: str) -> dict[str, str]:
    """Curve files of an activity as its settings name them."""
    settings = study.simulated_activities()[activity]
    if not isinstance(settings, FileActivity):
        return {}
    motion = settings.motion
    other = {"tibial": motion.tibial_file} if isinstance(motion, RegisteredMotion) else {}
    return {"motion": motion.file, "load": settings.load.file, **other}


def measured_activities(study: Study, root: str | Path) -> list[dict[str, Any]]:
    """Measured activities of `report.measured` whose files exist, each once, as plain builtins.

    Each has `name`, `beside` (a built-in activity of the study), `settings`, `files` (`motion` and
    `load`) and `knee`.
    """
    simulated = study.simulated_activities()
    found: list[dict[str, Any]] = []
    for name, one in study.report.measured.items():
        if not isinstance(simulated.get(one.activity), ParametricActivity):
            continue
        paths = [Path(root, "config/defaults.yaml")]
        paths += [study.data_path(file, root) for file in one.settings]
        other = validate_study(reduce(merge_settings, map(read_settings, paths)))
        for activity, block in other.simulated_activities().items():
            files = {
                part: str(study.data_path(file, root))
                for part, file in _curve_files(other, activity).items()
            }
            if files and all(Path(file).is_file() for file in files.values()):
                settings = block.model_dump(mode="json")
                if settings in [known["settings"] for known in found]:
                    continue
                found.append(
                    {
                        "name": name,
                        "beside": one.activity,
                        "settings": settings,
                        "files": files,
                        "knee": other.implant.knee,
                    }
                )
    return found


def load_shapes(study: Study, root: str | Path) -> dict[str, TriangleMesh]:
    """Read the meshes of a study's implant, by the names of `mesh_files`."""
    from kneewear.io.shapes import load_component  # noqa: PLC0415

    return {name: load_component(path) for name, path in mesh_files(study, root).items()}


def load_activity(study: Study, name: str, root: str | Path) -> Activity:
    """Build one activity of a study, from its curve files where it has some."""
    from kneewear.io.curves import read_activity  # noqa: PLC0415

    files = activity_files(study, name, root)
    settings = study.simulated_activities()[name]
    own = settings.motion.knee if isinstance(settings, FileActivity) else None
    knee = own or study.implant.knee
    return read_activity(name, settings, files, study.simulation.frames, knee)


def peak_loads(study: Study, root: str | Path) -> tuple[str, ...]:
    """Sentence on the peak load of every activity, in body weights and in N for the body masses."""
    from kneewear.activity.load import GRAVITY  # noqa: PLC0415

    found = []
    for name in study.simulated_activities():
        peak = float(load_activity(study, name, root).load.max())
        forces = [
            f"{peak * mass * GRAVITY:.0f} N at {mass:g} kg"
            for mass in sorted(set(study.body_masses_kg))
        ]
        found.append(
            f"{name}: peak load {peak:.3g} body weights{': ' * bool(forces)}{', '.join(forces)}."
        )
    return tuple(found)


def plan_file(study: Study, root: str | Path) -> list[str]:
    """File of the cases of a plan `table`, as a list; empty for other plans."""
    return [str(study.data_path(file, root)) for file in study.cases.files]


def plan_rows(study: Study, root: str | Path) -> list[dict[str, Any]]:
    """Rows of the file of a plan `table`; none for other plans. InputDataError as `read_plan`."""
    rows: list[dict[str, Any]] = []
    for path in plan_file(study, root):
        _check_readable(path, study, root)
        rows = read_plan(path, study)
    return rows


def count_cases(study: Study, root: str | Path) -> int:
    """Number of cases of a study; InputDataError as `read_plan`."""
    count = study.cases.case_count(study.variables)
    if count is not None:
        return count
    rows = plan_rows(study, root)
    further = [
        len(variable.level_values)
        for name, variable in study.variables.items()
        if name not in rows[0]
    ]
    return len(rows) * prod(further)


def case_files(study: Study, root: str | Path) -> list[str]:
    """Files that cases name by values of variables, beside those of the study.

    InputDataError if one does not exist; it names the first case with it.
    """
    found = dict.fromkeys(model_files(study, root).values())
    names = [
        name
        for name, variable in study.variables.items()
        if any(path.endswith(("file", "insert", "femoral", "mesh")) for path in variable.settings)
    ]
    rows = plan_rows(study, root)
    rows += [{name: value} for name in names for value in study.variables[name].values or ()]
    for row in rows:
        for name in names:
            file = row.get(name)
            if not file:
                continue
            path = str(study.data_path(str(file), root))
            if not Path(path).is_file():
                raise InputDataError(
                    next(iter(plan_file(study, root)), f"variables.{name}"),
                    f"file {file}, which does not exist",
                    "a file in the data folder, or a path",
                    f"Check the name and {_data_folder(study, root)}.",
                    f"{name} of case {row.get('case', '')}",
                )
            found[path] = None
    designs = design_studies(study)
    if len(designs) > 1:
        found |= dict.fromkeys(
            path for one in designs.values() for path in mesh_files(one, root).values()
        )
    return [*found, *pose_files(study, root)]


def design_implants(study: Study, implant: Implant | None, root: str | Path) -> dict[str, Implant]:
    """Implant of each of the `design_studies`; `implant` is that of the study itself, if known."""
    from kneewear.geometry.implant_sources import build_implant  # noqa: PLC0415

    if not study.draws_designs:
        return {}
    return {
        name: implant
        if implant is not None and one.implant == study.implant
        else build_implant(one.implant, **load_shapes(one, root))[0]
        for name, one in design_studies(study).items()
    }


class FileReader:
    """Reads the files that a study, or a case of it, names; `root` is the checkout."""

    def __init__(self, root: str | Path) -> None:
        self.root = root

    def shapes(self, study: Study) -> dict[str, TriangleMesh]:
        """Meshes of the implant."""
        return load_shapes(study, self.root)

    def shape(self, study: Study, file: str) -> TriangleMesh:
        """Mesh of a file."""
        from kneewear.io.shapes import load_shape  # noqa: PLC0415

        return load_shape(study.data_path(file, self.root))

    def activity(self, study: Study, name: str) -> Activity:
        """Cycle of an activity."""
        return load_activity(study, name, self.root)

    def files(self, study: Study) -> dict[str, str]:
        """Data files of the model of a study by name."""
        return model_files(study, self.root)

    def curves(self, study: Study, file: str, columns: Mapping[str, str]) -> pd.DataFrame:
        """Columns of a file of curves, renamed to their quantities."""
        from kneewear.io.curves import read_curves  # noqa: PLC0415

        return read_curves(study.data_path(file, self.root), columns)

    def poses(self, study: Study) -> NDArray[np.float64]:
        """Given poses."""
        poses = given_poses(study, self.root)
        if poses is None:
            raise ValueError("the study has no given poses")
        return poses


def simulator_tests(study: Study, root: str | Path) -> dict[str, str]:
    """Files of wear that was measured in a simulator, by the names of the tests."""
    return {
        name: str(study.data_path(test.file, root)) for name, test in study.simulator_tests.items()
    }


def comparison_table(study: Study, root: str | Path) -> list[str]:
    """Table of the finished finite-element comparison that a wear study quotes, as a list."""
    file = study.comparison_table
    # A result, no measured data: relative paths start in the checkout.
    return [str(Path(root) / Path(file).expanduser())] if file else []


class ConstantsFile(Settings):
    """Part of a file that another study takes its uncertain constants from."""

    variables: Annotated[dict[str, Variable], Field(min_length=1)]


def uncertain_constants(study: Study, root: str | Path) -> dict[str, Variable]:
    """Variables that the samples of a wear study's centre case have; none without samples.

    InputDataError if the file of `report.spread.constants` has none, or a fault in them.
    """
    if study.constants_file is None:
        return {}
    file = read_settings_file(study.data_path(study.constants_file, root))
    block = {"variables": file.content.get("variables") or {}}
    try:
        return ConstantsFile.model_validate(block).variables
    except ValidationError as error:
        raise refusal(error, ConstantsFile, block, file.path, [file]) from None


def given_poses(study: Study, root: str | Path) -> NDArray[np.float64] | None:
    """Given poses (n, 6) of a study of model press, mm and rad; None where poses are solved."""
    from kneewear.io.curves import read_poses  # noqa: PLC0415

    poses = study.pose_file
    return None if poses is None else read_poses(pose_files(study, root)[0], poses)


def check_inputs(study: Study, root: str | Path) -> tuple[Finding, ...]:
    """Refuse a study whose data files are missing or cannot be what the settings state.

    Returns warnings, without those that `checks.ignore` names: the study can run. InputDataError
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
    case_files(study, root)
    count = float(count_cases(study, root))
    many = judge("cases.count", count, "key cases", "Take fewer levels or samples.")
    _check_search(study)
    findings = [*filter(None, [many]), *model_of(study).check_files(study, FileReader(root))]
    findings += _check_tests(study, root)
    # Outside of a checkout there is no report, and its files are not there.
    if (Path(root) / "config/defaults.yaml").is_file():
        uncertain_constants(study, root)
        measured_activities(study, root)
    _check_quoted(study, root)
    findings += _moved_files(study)
    findings += study_findings(study)
    findings += filter(None, _judge_rows(study, root))
    for one in design_studies(study).values():
        findings += _check_implant(one, root)
    findings += [finding for name in named for finding in load_activity(study, name, root).warnings]
    return drop_ignored([*findings, *_files_of_checkout(study, root)], study.checks.ignore)


def _moved_files(study: Study) -> Iterator[Finding]:
    """Yield findings about files named in the settings that were put on a shelf since."""

    def texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, dict):
            for key, inner in value.items():
                yield from texts(inner, f"{path}.{key}".lstrip("."))
        elif isinstance(value, list):
            for inner in value:
                yield from texts(inner, path)

    for path, text in texts(study.model_dump(mode="json"), ""):
        if text.startswith("config/") and (found := moved_finding(text, f"key {path}, {text}")):
            yield found


def _judge_rows(study: Study, root: str | Path) -> Iterator[Finding | None]:
    """Yield findings about the rows of the file of a plan `table`, and the values of its columns.

    Of each column all but a twentieth of the values at either end are judged: of many subjects some
    are unusual.
    """
    rows = plan_rows(study, root)
    if not rows:
        return
    file = plan_file(study, root)[0]
    names = [name for name in study.variables if name in rows[0]]
    different = {tuple(str(row[name]) for name in names) for row in rows}
    for check, value in (("rows", len(rows)), ("different", len(different) / len(rows))):
        finding = checks()[f"cases.{check}"].judge(value, str(file))
        if finding is not None:
            yield finding
    yield from _judge_heights(study, rows, str(file))
    yield from _judge_labels(study, rows, str(file))
    known = set(study_findings(study))
    for name in names:
        empty = sum(row[name] == "" for row in rows) / len(rows)
        remedy = "Fill them in: these cases have the value of the study."
        yield checks()["cases.empty"].judge(empty, f"{file}, column {name}", remedy)
        given = [row for row in rows if isinstance(row[name], int | float)]
        ordered = sorted((row for row in given if isfinite(row[name])), key=itemgetter(name))
        yield from _judge_column(study, name, [row[name] for row in ordered], str(file))
        refused = _refused_rows(study, name, ordered) + len(given) - len(ordered)
        if refused:
            where = f"{file}, column {name}"
            yield judge("cases.refused", refused / len(rows), where, "Correct these rows.")
        last = len(ordered) - 1
        for number in {round(0.05 * last), round(0.95 * last)} if ordered else ():
            row = ordered[number]
            try:
                unusual = setting_findings(study.at({name: row[name]}))
            except ValidationError:
                # Counted above; the other cases are computed.
                continue
            found = [one for one in unusual if one not in known]
            known.update(found)
            for finding in found:
                yield replace(finding, where=f"{file}, {name} of case {row.get('case', '')}")


def _refused_rows(study: Study, name: str, ordered: list[dict[str, Any]]) -> int:
    """Number of rows, in ascending order of a value, with which the settings are refused."""

    def accepted(number: int) -> bool:
        try:
            study.at({name: ordered[number][name]})
        except ValidationError:
            return False
        return True

    last = len(ordered) - 1
    if last < 0 or (accepted(0) and accepted(last)):
        return 0
    # What is accepted has no gap: rows are refused at either end.
    tried = (last // 2, last // 4, 3 * last // 4, 0, last)
    middle = next((n for n in tried if accepted(n)), None)
    if middle is None:
        return len(ordered)
    low = bisect_left(range(middle), True, key=accepted)
    high = bisect_left(range(middle, last + 1), True, key=lambda n: not accepted(n)) + middle
    return low + len(ordered) - high


def _judge_column(
    study: Study, name: str, values: list[float], file: str
) -> Iterator[Finding | None]:
    """Yield findings about the numbers of a column as a whole: factors, spreads, shares."""
    variable, where = study.variables[name], f"{file}, column {name}"
    if not values:
        return
    low, high = (values[round(part * (len(values) - 1))] for part in (0.05, 0.95))
    if variable.change == "multiply":
        for one in {low, high}:
            yield checks()["cases.factor"].judge(one, where)
    elif variable.unit in ("deg", "mm") and high > low:
        yield checks()[f"variables.spread_{variable.unit}"].judge(high - low, where)
    middle = values[len(values) // 2]
    for end, usual in ((values[0], low), (values[-1], high)):
        if len(values) >= _MANY and end != middle:
            beyond = abs(end - middle) / max(abs(usual - middle), 0.01 * abs(end - middle))
            yield checks()["cases.outlier"].judge(beyond, f"{where}, value {end:g}")
    if variable.settings == ("simulation.medial_share",) and variable.change == "set":
        yield checks()["load.medial_share"].judge(middle, where, "It may be the lateral share.")


def _judge_labels(study: Study, rows: list[dict[str, Any]], file: str) -> Iterator[Finding | None]:
    """Yield findings about subjects that come twice, ages, and covariates that explain nothing."""
    labels = [name for name in rows[0] if name not in study.variables and name != "case"]
    for name in labels:
        values = [row[name] for row in rows]
        part = len({str(one) for one in values}) / len(values)
        # Nearly all differ where they name subjects.
        if name == labels[0] or all(isinstance(one, str) for one in values):
            repeated = 1.0 - part if part > _NAMES else 0.0
            yield checks()["cases.repeated"].judge(repeated, f"{file}, column {name}")
        if name.lower() in ("age", "age_years"):
            ages = sorted(one for one in values if isinstance(one, int | float) and isfinite(one))
            for rank in (0.05, 0.95) if ages else ():
                age = ages[round(rank * (len(ages) - 1))]
                yield checks()["cases.age"].judge(age, f"{file}, column {name}")
    effects = study.analyses.effects
    seen: list[list[Any]] = []
    for name in effects.covariates if effects is not None else ():
        values = [row.get(name) for row in rows]
        known = [value for value in values if isinstance(value, int | float) and isfinite(value)]
        different = len(set(known)) > 1 and values not in seen
        seen.append(values)
        part = len(known) / len(rows) if different else 0.0
        yield checks()["cases.covariate"].judge(part, f"{file}, column {name}")


def _judge_heights(study: Study, rows: list[dict[str, Any]], file: str) -> Iterator[Finding]:
    """Yield findings about the heights of subjects whose body mass index is a column."""
    mass = next(
        (
            name
            for name, one in study.variables.items()
            if one.settings == (_MASS,) and one.change == "set"
        ),
        "",
    )
    index = next((name for name in rows[0] if name.lower() in ("body_mass_index", "bmi")), "")
    pairs = [(row.get(mass), row.get(index)) for row in rows]
    heights = sorted(
        (kg / bmi) ** 0.5
        for kg, bmi in pairs
        if isinstance(kg, int | float) and isinstance(bmi, int | float) and kg > 0.0 < bmi
    )
    for part in (0.05, 0.95) if heights else ():
        height = heights[round(part * (len(heights) - 1))]
        where = f"{file}, columns {mass} and {index}"
        finding = checks()["cases.height"].judge(height, where, "Check both columns.")
        if finding is not None:
            yield finding


def _check_implant(study: Study, root: str | Path) -> tuple[Finding, ...]:
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


def _check_search(study: Study) -> None:
    """Refuse a search where its library is missing."""
    if study.cases.plan == "search" and find_spec("pymoo") is None:
        raise InputDataError(
            "cases.plan: search",
            "no pymoo to search with",
            "the optional extra `optimisation`",
            "Install it: pip install 'kneewear[optimisation]'.",
        )


def _check_tests(study: Study, root: str | Path) -> list[Finding]:
    """Read the measured wear of simulators, if there is any; findings about its size."""
    findings: list[Finding] = []
    files = simulator_tests(study, root)
    if files:
        from kneewear.io.curves import read_simulator_test  # noqa: PLC0415

        for name, test in study.simulator_tests.items():
            per_unit = cast("LifeStudy", study).wear.mm3_per(test.unit)
            table = read_simulator_test(files[name], test.columns.model_dump(), per_unit)
            last = table.iloc[-1]
            rate = float(last["wear_mm3"] / max(last["million_cycles"], 1e-12))
            unit = f"Check report.simulator_tests.{name}.unit, which is {test.unit}."
            clock = "Check the column of cycles: it may hold hours or days."
            step = table["wear_mm3"].diff().min() / max(table["wear_mm3"].max(), 1e-12)
            gain = "The loss of a weighing is below that of the one before: check soak and order."
            judged = (
                judge("test.rate", rate, files[name], unit),
                judge("test.length", float(last["million_cycles"]), files[name], clock),
                judge("test.gain", -step if step < 0.0 else 0.0, files[name], gain),
            )
            findings += filter(None, judged)
            findings += disagreements(TEST_PAIRS, (study, str(files[name]), table))
    return findings


def _check_quoted(study: Study, root: str | Path) -> None:
    """Refuse a comparison that is not finished, or that its model refuses to be quoted."""
    for path in comparison_table(study, root):
        record = Path(path).parent.parent / "provenance.json"
        settings = present_settings(load_json(record)["settings"]) if record.is_file() else {}
        model = settings.get("model")
        if model is None or not Path(path).is_file() or not MODELS[model].can_be_quoted:
            raise InputDataError(
                path,
                "no table of a finished finite-element comparison",
                "results/<study>/tables/<table>.csv of such a study",
                "Run that study first, or set the key to null.",
                "key report.fe_comparison",
            )
        MODELS[model].check_quoted(study, path, settings)


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


def _files_of_checkout(study: Study, root: str | Path) -> tuple[Finding, ...]:
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
        Finding(
            "files.checkout",
            "warn",
            _data_folder(study, root),
            f"no such folder; read from the checkout ({Path(root).resolve()}): {', '.join(used)}",
            "",
            "Check data_folder.",
        ),
    )
