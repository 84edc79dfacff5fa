"""Small studies of designs, cases and several bodies: what their pages show."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import kneewear as kw
from docs.generators.results import SNAPSHOT
from kneewear import default_settings_file
from kneewear.analysis.front import shown_designs
from kneewear.analysis.literature import ComparedNumber, judge_numbers
from kneewear.analysis.tables import analyse_results
from kneewear.evidence.fe_comparison.comparison import compute_comparison
from kneewear.evidence.fe_comparison.figures import draw_comparison
from kneewear.geometry.implant_sources import build_implant
from kneewear.io.documents import load_table
from kneewear.knees.figures import draw_multibody_figures
from kneewear.knees.papers.fe_knee.bones import build_bones
from kneewear.knees.papers.fe_knee.figures import draw_knee
from kneewear.knees.papers.fe_knee.literature import compare_fe_knee
from kneewear.knees.papers.fe_knee.run import KneeRun, run_knee
from kneewear.knees.result import curves, scene_record
from kneewear.models.press.design_figures import draw_characterisation, draw_laxity
from kneewear.report.analyses import draw_analyses
from kneewear.report.design_view import build_design_view
from kneewear.report.optimisation import draw_optimisation
from kneewear.study.designs import simulate_design
from kneewear.study.files import design_studies
from kneewear.study.inputs import CaseInputs, built_in_activities, exact_knee
from kneewear.study.run import run_cases
from kneewear.study.search import plan_front, plan_generation, with_grid
from kneewear.study.search import searched as searched_study
from kneewear.study.settings import merge_settings, read_settings, read_study, validate_study
from kneewear.study.shipped import find_study
from tests.knees.papers.knees import small_study
from tests.models.press.conftest import compute

CONFIG = Path(__file__).parents[2] / "config"
GRID = {"grid": {"rows": 16, "columns": 12}}
# Kind, settings, tables and figures.
Contents = tuple[str, dict[str, Any], dict[str, pd.DataFrame], dict[str, Figure]]


def small(name: str, changes: dict[str, Any]) -> Any:
    """A shipped study with changes."""
    settings = merge_settings(
        read_settings(default_settings_file()), read_settings(find_study(name))
    )
    return validate_study(merge_settings(settings, changes))


def characterisation() -> Contents:
    """Two designs at two flexions."""
    shipped = read_settings(CONFIG / "characterisation.yaml")["variables"]
    design = shipped["design"] | {
        "blocks": {name: shipped["design"]["blocks"][name] for name in ("small", "medium")}
    }
    flexion = shipped["flexion_deg"] | {"values": [0, 60]}
    study = small(
        "characterisation", GRID | {"variables": {"design": design, "flexion_deg": flexion}}
    )
    results, data = compute(study)
    tables = {"results": results} | analyse_results(study, results)
    implants = {name: build_implant(one.implant)[0] for name, one in design_studies(study).items()}
    figures = draw_characterisation(tables, data, implants)
    return "characterisation", study.model_dump(mode="json"), tables, figures


def laxity() -> Contents:
    """Two designs at one flexion."""
    shipped = read_settings(CONFIG / "laxity.yaml")["variables"]
    flexion = shipped["flexion_deg"] | {"values": [0]}
    path = {"press": {"path": {"steps": 4}}}
    study = small("laxity", GRID | path | {"variables": shipped | {"flexion_deg": flexion}})
    results, data = compute(study)
    tables = {"results": results} | analyse_results(study, results, data)
    figures = draw_laxity(tables["loops"], tables["laxity"])
    return "laxity", study.model_dump(mode="json"), tables, figures


def finite_elements() -> Contents:
    """One frame of one case on few elements."""
    elements = {"along_mm": 3.0, "across_mm": 4.0, "ends_mm": 2.0, "below_mm": 4.0}
    changes = {
        "simulation": {"frames": 10, "distance": "exact"},
        "variables": {"thickness_mm": [8], "body_mass_kg": [75]},
        "fe_comparison": {"frames_percent": [10], "cases": "all", "elements": elements},
    }
    study = small("fe_twin", GRID | changes)
    knee, gait = exact_knee(study), built_in_activities(study)["gait"]
    own = study.compared_frames(), study.fe_comparison, study.simulation
    found = [compute_comparison(knee, gait, case, *own) for case in study.compared_cases()]
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
    figures = draw_comparison(*(tables[name] for name in ("fe_twin", "fe_maps", "fe_profiles")))
    del tables["fe_maps"]
    return "fe_comparison", study.model_dump(mode="json"), tables, figures


def dynamic_knee_run() -> tuple[Contents, KneeRun]:
    """Few steps of a dynamic knee on the coarsest bones."""
    study = small_study({"steps": 14})
    bones = build_bones(study.fe_knee.bones)
    run = run_knee(bones, study.fe_knee)
    tables = {
        "literature": compare_fe_knee(run, bones, study.fe_knee),
        "knee_history": run.history,
        "knee_meshes": run.meshes,
    }
    figures = draw_knee(run.history, run.frames)
    return ("fe_knee", study.model_dump(mode="json"), tables, figures), run


def planar_knee() -> Contents:
    """The knee in the sagittal plane: numbers of the documentation, curves made up."""
    study = read_study(CONFIG / "papers/planar_knee.yaml", defaults=default_settings_file())
    at = np.linspace(0.0, 4.0, 20)
    laws = {law: (1.0 + number) * at for number, law in enumerate(study.multibody.laws)}
    motion = curves("indentation by law", "flexion (deg)", at, "mm", laws)
    forces = curves("force, first impact, by law", "indentation (mm)", at, "N", laws)
    tables = {"literature": load_table(SNAPSHOT / "planar_knee/tables/literature.csv")}
    return multibody(study, tables, motion, forces)


def multibody(
    study: Any, tables: dict[str, pd.DataFrame], motion: pd.DataFrame, forces: pd.DataFrame
) -> Contents:
    """Contents of the page of several bodies."""
    tables = {**tables, "kinematics": motion, "forces": forces}
    figures = draw_multibody_figures({"kinematics": motion, "forces": forces}, scene_record(None))
    return "multibody", study.model_dump(mode="json"), tables, figures


def passive_flexion() -> Contents:
    """A knee with ligaments and patella, whose results are made up: its data are not included."""
    study = read_study(CONFIG / "papers/natural_passive.yaml", defaults=default_settings_file())
    at = np.linspace(9.0, 47.0, 20)
    motion = curves(
        "varus", "flexion (deg)", at, "deg", {"computed": np.sin(at), "reference": np.cos(at)}
    )
    forces = curves("contact force", "flexion (deg)", at, "N", {"medial": at, "lateral": 2.0 * at})
    rows = [
        ComparedNumber("rms difference", "varus", 0.5, "deg", "a target", high=1.0),
        ComparedNumber("largest force", "ligaments", 300.0, "N", "a source", high=200.0),
    ]
    return multibody(study, {"literature": judge_numbers(rows)}, motion, forces)


def of_cases(name: str, changes: dict[str, Any]) -> Contents:
    """Cases of a plan, with the figures of their analyses."""
    study = small(name, GRID | FEW | changes)
    tables = dict(kw.run(study).tables)
    figures = draw_analyses(study, tables, None, None)
    return study.page, study.model_dump(mode="json"), tables, figures


def sweep() -> Contents:
    """Few samples of two variables."""
    shipped = read_settings(CONFIG / "sweep.yaml")["variables"]
    variables = {name: shipped[name] for name in ("medial_share", "body_mass")}
    plan = read_settings(CONFIG / "sweep.yaml")["cases"] | {"samples": 12}
    return of_cases("sweep", {"variables": variables, "cases": plan})


def cohort() -> Contents:
    """Few subjects with two designs."""
    changes = dict(read_settings(CONFIG / "cohort_example.yaml"))
    subjects = CONFIG.parent / "tests/report/subjects.csv"
    return of_cases("cohort_example", {"cases": changes["cases"] | {"file": str(subjects)}})


FEW = {"simulation": {"analysis": "quasi_static", "frames": 8}}


def searched() -> tuple[Contents, dict[str, Any]]:
    """Two generations of a search and the view of its chosen designs."""
    plan = read_settings(CONFIG / "optimisation.yaml")["cases"]
    plan |= {"population": 4, "generations": 2, "search_grid": {"rows": 16, "columns": 12}}
    study = small("optimisation", FEW | {"grid": {"rows": 24, "columns": 18}, "cases": plan})
    knee, activities = exact_knee(study), built_in_activities(study)
    results = pd.DataFrame()
    for number in (0, 1, None):
        plan = (
            plan_front(study, results)
            if number is None
            else (plan_generation(study, number, results))
        )
        changed = study if number is None else searched_study(study)
        inputs = CaseInputs(changed, with_grid(changed, knee), activities, exact=True)
        results = pd.concat([results, run_cases(changed, plan, inputs)], ignore_index=True)
    tables = analyse_results(study, results)
    shown = shown_designs(study.cases, tables["front"], tables["chosen_designs"])
    simulated = {row["chosen"]: simulate_design(study, inputs, row) for _, row in shown.iterrows()}
    figures = draw_optimisation(study.cases, study.variables, tables)
    settings = study.model_dump(mode="json")
    view = build_design_view(settings["variables"], simulated)
    return ("optimisation", settings, tables, figures), view


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
