"""Small studies of designs, cases and several bodies: what their pages show."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from docs.generators.results import SNAPSHOT
from kneewear import default_settings_file
from kneewear.geometry.implant import Implant
from kneewear.geometry.implant_sources import build_implant
from kneewear.io.cohorts import read_cohort
from kneewear.io.documents import load_table
from kneewear.report.cohort import draw_cohort
from kneewear.report.design_view import build_design_view
from kneewear.report.designs import draw_characterisation, draw_laxity
from kneewear.report.fe_knee import draw_knee
from kneewear.report.fe_twin import draw_twin
from kneewear.report.multibody import draw_multibody_figures
from kneewear.report.optimisation import draw_optimisation
from kneewear.report.sweep import draw_sweep
from kneewear.settings.cases import OUTPUTS
from kneewear.settings.study import load_study, merge_settings, read_settings, read_study
from kneewear.sides import SIDES
from kneewear.studies.cases import column_name, evaluate_cases
from kneewear.studies.cohort.analysis import tabulate_cohort
from kneewear.studies.designs.bench import Bench, coulomb
from kneewear.studies.designs.characterisation import (
    characterise_contact,
    find_worst_cases,
    reference_conditions,
    tabulate_contact,
)
from kneewear.studies.designs.laxity import compare_designs, drive_loops, summarise_loops
from kneewear.studies.fe_knee.bones import build_bones
from kneewear.studies.fe_knee.run import KneeRun, run_knee
from kneewear.studies.fe_knee.statements import knee_statements
from kneewear.studies.fe_twin.twin import compute_twin
from kneewear.studies.life import built_in_activities, exact_knee
from kneewear.studies.multibody.result import curves, scene_record, statements
from kneewear.studies.optimisation.designs import evaluate_generation
from kneewear.studies.optimisation.front import (
    evaluate_front,
    find_front,
    shown_designs,
    simulate_design,
    tabulate_front,
)
from kneewear.studies.sweep.analysis import tabulate_sweep
from kneewear.studies.sweep.plan import plan_cases, planned_cases, sweep_runner
from tests.fe_knee.knees import small_study

CONFIG = Path(__file__).parents[2] / "config"
GRID = {"grid": {"rows": 16, "columns": 12}}
# Kind, settings, tables and figures.
Contents = tuple[str, dict[str, Any], dict[str, pd.DataFrame], dict[str, Figure]]


def small(name: str, changes: dict[str, Any]) -> Any:
    """A shipped study with changes."""
    settings = merge_settings(read_settings(default_settings_file()),
                              read_settings(CONFIG / f"{name}.yaml"))  # fmt: skip
    return load_study(merge_settings(settings, changes))


def implants_of(study: Any) -> dict[str, Implant]:
    """Implant of every design."""
    return {name: build_implant(one.implant)[0] for name, one in study.variants().items()}


def bench(study: Any, implant: Implant, friction: float = 0.0) -> Bench:
    """Bench of a design."""
    return Bench(implant, study.grid, study.table, study.simulation, coulomb(friction))


def characterisation() -> Contents:
    """Two designs at two flexions."""
    flexion = {"characterisation": {"flexion_deg": [0, 60], "medial_offset_mm": [0]}}
    study = small("characterisation", GRID | flexion | {"designs": {"large": None}})
    implants, setup = implants_of(study), study.characterisation
    records = {
        name: characterise_contact(bench(study, one), setup) for name, one in implants.items()
    }
    contact = pd.concat(
        [tabulate_contact(one, name, setup.pressures_mpa) for name, one in records.items()],
        ignore_index=True,
    )
    worst = find_worst_cases(contact)
    figures = draw_characterisation(contact, worst, implants, records)
    tables = {"contact": contact, "worst_cases": worst, "submission": reference_conditions(contact)}
    return "contact_characterisation", study.model_dump(mode="json"), tables, figures


def laxity() -> Contents:
    """Two designs at one flexion."""
    study = small("laxity", GRID | {"laxity": {"flexion_deg": [0], "steps": 4}})
    loops = pd.concat(
        [
            drive_loops(bench(study, one, friction), study.laxity, friction, name)
            for friction in study.laxity.friction
            for name, one in implants_of(study).items()
        ],
        ignore_index=True,
    )
    found = summarise_loops(loops, study.laxity)
    tables = {"loops": loops, "laxity": found, "laxity_comparison": compare_designs(found)}
    return "laxity", study.model_dump(mode="json"), tables, draw_laxity(loops, found)


def finite_elements() -> Contents:
    """One frame of two cases on few elements."""
    elements = {"along_mm": 3.0, "across_mm": 4.0, "ends_mm": 2.0, "below_mm": 4.0}
    changes = {
        "simulation": {"frames": 10, "distance": "exact"},
        "cases": {"thickness_mm": [8, 10], "body_mass_kg": [75]},
        "fe_twin": {"frames_percent": [10], "cases": "all", "elements": elements},
    }
    study = small("fe_twin", GRID | changes)
    knee, gait = exact_knee(study), built_in_activities(study)["gait"]
    own = study.twin_frames(), study.fe_twin, study.simulation
    found = [compute_twin(knee, gait, case, *own) for case in study.twin_cases()]
    names = {
        "fe_twin": "results",
        "fe_maps": "maps",
        "fe_profiles": "profiles",
        "fe_solids": "solids",
    }
    tables = {
        name: pd.concat([getattr(one, part) for one in found], ignore_index=True)
        for name, part in names.items()
    }
    figures = draw_twin(*(tables[name] for name in ("fe_twin", "fe_maps", "fe_profiles")))
    del tables["fe_maps"]
    return "fe_twin", study.model_dump(mode="json"), tables, figures


def dynamic_knee_run() -> tuple[Contents, KneeRun]:
    """Few steps of a dynamic knee on the coarsest bones."""
    study = small_study({"steps": 14})
    bones = build_bones(study.fe_knee.bones)
    run = run_knee(bones, study.fe_knee)
    tables = {
        "knee_statements": knee_statements(run, bones, study.fe_knee),
        "knee_history": run.history,
        "knee_meshes": run.meshes,
    }
    figures = draw_knee(run.history, run.frames)
    return ("fe_knee", study.model_dump(mode="json"), tables, figures), run


def planar_knee() -> Contents:
    """The knee in the sagittal plane: statements of the documentation, curves made up."""
    study = read_study(CONFIG / "planar_knee.yaml", defaults=default_settings_file())
    at = np.linspace(0.0, 4.0, 20)
    laws = {law: (1.0 + number) * at for number, law in enumerate(study.multibody.laws)}
    motion = curves("indentation by law", "flexion (deg)", at, "mm", laws)
    forces = curves("force, first impact, by law", "indentation (mm)", at, "N", laws)
    tables = {
        "multibody_statements": load_table(SNAPSHOT / "planar_knee/tables/multibody_statements.csv")
    }
    return multibody(study, tables, motion, forces)


def multibody(
    study: Any, tables: dict[str, pd.DataFrame], motion: pd.DataFrame, forces: pd.DataFrame
) -> Contents:
    """Contents of the page of several bodies."""
    tables = {**tables, "kinematics": motion, "forces": forces}
    figures = draw_multibody_figures(motion, forces, scene_record(None))
    return "multibody", study.model_dump(mode="json"), tables, figures


def passive_flexion() -> Contents:
    """A knee with ligaments and patella, whose results are made up: its data are not included."""
    study = read_study(CONFIG / "natural_passive.yaml", defaults=default_settings_file())
    at = np.linspace(9.0, 47.0, 20)
    motion = curves(
        "varus", "flexion (deg)", at, "deg", {"computed": np.sin(at), "reference": np.cos(at)}
    )
    forces = curves("contact force", "flexion (deg)", at, "N", {"medial": at, "lateral": 2.0 * at})
    rows = [
        ("rms difference of varus", 0.5, "deg", "at most 1 deg", True, "own check"),
        ("Largest force of the ligaments", 300.0, "N", "below 200 N", False, "a source"),
    ]
    return multibody(study, {"multibody_statements": statements(rows)}, motion, forces)


FEW = {"simulation": {"analysis": "quasi_static", "frames": 8}}


def sweep() -> Contents:
    """Twelve cases, one of which cannot be built."""
    fewer = dict.fromkeys(("tibial_rotation", "tibial_slope", "tibial_posterior", "medial_share"))
    study = small("sweep", GRID | FEW | {"sweep": {"samples": 12, "factors": fewer}})
    plan = plan_cases(study)
    plan.loc[11, "body_mass"] = -5.0
    runner = sweep_runner(study, exact_knee(study), built_in_activities(study))
    found = tabulate_sweep(plan, evaluate_cases(runner, planned_cases(study, plan)))
    figures = draw_sweep(
        found["sweep"],
        found["effects"],
        {name: one.unit for name, one in study.sweep.factors.items()},
    )
    return "sweep", study.model_dump(mode="json"), {"plan": plan, **found}, figures


def cohort(count: int = 40) -> Contents:
    """Subjects of the shipped cohort, drawn again to `count`; their results are made up."""
    study = small("cohort_example", GRID)
    shipped = read_cohort(CONFIG / "cohort/synthetic.csv", study)
    subjects = [replace(shipped[n % len(shipped)], name=f"s{n}") for n in range(count)]
    spread = np.random.default_rng(1).lognormal(0.0, 0.1, count)
    columns, covariates = study.cohort.columns, study.cohort.covariates
    rows = []
    for heavier, design in enumerate(study.design_names):
        for one, own in zip(subjects, spread, strict=True):
            mass = one.numbers["body_mass_kg"] * (1.0 + 0.1 * heavier) * own
            found = {column_name(side, name): mass for side in SIDES for name in OUTPUTS}
            labels = {"subject": one.name, "design": design, "failure": "", "warnings": ""}
            rows.append({**labels, **one.numbers, **found, "border_pressure": 0.0})
    rows[3] |= {"failure": "found a body mass of 2 kg"}
    rows[3] |= {column_name(side, name): np.nan for side in SIDES for name in OUTPUTS}
    limits = (study.report.pressure_limit_mpa, study.report.avg_pressure_limit_mpa)
    tables = tabulate_cohort(
        pd.DataFrame(rows), study.cohort.percentiles, list(columns), list(covariates), limits
    )
    figures = draw_cohort(
        tables["cohort"], tables["percentiles"], tables["effects"],
        {name: one.unit for name, one in columns.items()},
    )  # fmt: skip
    return "cohort", study.model_dump(mode="json"), tables, figures


def searched() -> tuple[Contents, dict[str, Any]]:
    """Two generations of a search and the view of its chosen designs."""
    search = {"population": 4, "generations": 2, "search_grid": {"rows": 16, "columns": 12}}
    grid = {"grid": {"rows": 24, "columns": 18}}
    study = small("optimisation", grid | FEW | {"optimisation": search})
    knee, activities = exact_knee(study), built_in_activities(study)
    done: list[pd.DataFrame] = []
    for number in range(search["generations"]):
        for part in study.batches().values():
            done.append(evaluate_generation(study, knee, activities, number, part, list(done)))
    designs = find_front(study, done)
    found = tabulate_front(study, designs, [evaluate_front(study, knee, activities, designs, 0, 1)])
    tables = {
        "designs": designs, "front": found.front, "chosen_designs": found.chosen,
        "search_error": found.search_error, "search_progress": found.convergence,
    }  # fmt: skip
    simulated = {
        row["chosen"]: simulate_design(study, knee, activities, row)
        for _, row in shown_designs(study.optimisation, found.front, found.chosen).iterrows()
    }
    figures = draw_optimisation(study.optimisation, tables)
    contents = "optimisation", study.model_dump(mode="json"), tables, figures
    return contents, build_design_view(study.optimisation, simulated)


NEW_KINDS = {
    "sweep": sweep,
    "cohort": cohort,
    "optimisation": lambda: searched()[0],
    "contact characterisation": characterisation,
    "laxity": laxity,
    "finite elements": finite_elements,
    "dynamic knee": lambda: dynamic_knee_run()[0],
    "planar knee": planar_knee,
    "passive flexion": passive_flexion,
}
