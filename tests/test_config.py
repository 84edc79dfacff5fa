"""Settings: defaults are in one file, faults are reported in one clear message."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from pydantic import ValidationError

import kneewear
from kneewear import default_study
from kneewear.errors import InputDataError
from kneewear.settings.cases import Case
from kneewear.settings.study import (
    KINDS,
    apply_case,
    load_study,
    merge_settings,
    overridden_activities,
    read_settings,
    read_study,
)
from kneewear.settings.types import Settings
from tests.overlays import AFTER
from tests.settings_page import MEANINGS, PAGE, meaning, render

FOLDER = Path(__file__).parent.parent / "config"
DEFAULT = read_settings(FOLDER / "config.yaml")


def changed(path, value):
    """Return the default settings with one key replaced."""
    overrides = value
    for key in reversed(path.split(".")):
        overrides = {key: overrides}
    return merge_settings(DEFAULT, overrides)


def test_default_study_is_the_factorial_design_of_the_source():
    study = default_study()
    assert len(study.case_list()) == 25
    assert study.case_list()[0] == Case("6mm_50kg", 6.0, 50.0)
    assert list(study.simulated_activities()) == ["gait"]


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.yaml")), ids=lambda file: file.stem)
def test_every_committed_study_is_valid(file):
    base = AFTER.get(f"config/{file.name}")
    first = merge_settings(DEFAULT, read_settings(FOLDER.parent / base)) if base else DEFAULT
    load_study(merge_settings(first, read_settings(file)), file.name)


def test_kind_decides_what_is_inherited():
    study = read_study(FOLDER / "chapter3.yaml", defaults=FOLDER / "config.yaml")
    assert isinstance(study, KINDS["static"])
    assert not study.reads_distance_tables
    assert not hasattr(study, "wear")


def test_samples_with_own_surfaces_read_no_distance_tables():
    study = read_study(FOLDER / "monte_carlo.yaml", defaults=FOLDER / "config.yaml")
    assert not study.reads_distance_tables
    uncertainty = study.uncertainty.model_copy(
        update={
            "constants": {
                name: one
                for name, one in study.uncertainty.constants.items()
                if not any(path.startswith("implant.") for path in one.settings)
            }
        }
    )
    assert study.model_copy(update={"uncertainty": uncertainty}).reads_distance_tables


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "study: mine\nstatic:\n  medial_mm: 0.0\n",
            r"mine\.yaml, line 2, key static: found a block of kind static in a study of "
            r"kind wear; .*Set kind to static, or remove static\.",
        ),
        (
            "kind: static\nwear: {months: 12}\ncases: {}\n",
            r"mine\.yaml, line 2, key wear: found a block of kind wear or calibration or "
            r"cohort or fe_twin or optimisation or sweep or uncertainty or verification in a "
            r"study of kind static.*remove wear and cases\.",
        ),
        ("kind: statik\n", r"line 1, key kind: found 'statik'; .*Did you mean 'static'\?"),
        ("kind: static\n", r"key static: found nothing; expected a value"),
        ("kind: [wear]\n", r"line 1, key kind: found \['wear'\]; expected one of: wear, cal"),
    ],
)
def test_blocks_of_another_kind_are_refused_in_one_message(tmp_path, text, message):
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(InputDataError, match=message) as caught:
        read_study(tmp_path / "mine.yaml", defaults=FOLDER / "config.yaml")
    assert "faults" not in str(caught.value)


def static(**changes):
    """Return the settings of chapter 3 with keys of its static block replaced."""
    settings = merge_settings(DEFAULT, read_settings(FOLDER / "chapter3.yaml"))
    return merge_settings(settings, {"static": changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"posterior_mm": [0, 3]}, r"found 2 values of posterior_mm with anterior_posterior free"),
        ({"free": ["anterior"]}, r"static\.free\.0: found 'anterior'"),
        ({"element_study": {"material": "linaer"}}, r"expected one of.*Did you mean 'linear'\?"),
        (
            {"element_study": {"divisions": [30, 20]}},
            r"divisions: found 30, 20; expected ascending",
        ),
        ({"load_n": [0]}, r"static\.load_n\.0: found 0; expected greater than 0"),
    ],
)
def test_faults_of_a_static_study_are_told(changes, message):
    with pytest.raises(InputDataError, match=message):
        load_study(static(**changes))


def test_static_study_simulates_no_activity():
    assert load_study(static()).simulated_activities() == {}


def test_batches_are_consecutive_and_complete():
    study = load_study(changed("cases_per_job", 7))
    batches = study.batches()
    assert list(batches) == ["b000", "b001", "b002", "b003"]
    assert [len(cases) for cases in batches.values()] == [7, 7, 7, 4]
    assert sum(batches.values(), ()) == study.case_list()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("simulation.frmaes", 50, r"key simulation\.frmaes: found an unknown key.*'frames'\?"),
        ("wear.month", 5, r"key wear\.month: found an unknown key.*Did you mean 'months'\?"),
        ("simulation.poisson_ratio", 0.5, r"poisson_ratio: found 0\.5; expected less than 0\.5"),
        (
            "implant.parametric.femoral_coronal_radius_mm.lateral",
            12.0,
            r"femoral_coronal_radius_mm\.lateral: found 12 with femoral_half_width_mm: 12; "
            r"expected a radius above it",
        ),
        (
            "implant.parametric.plateau_sagittal_radius_mm",
            10.0,
            r"plateau_sagittal_radius_mm: found 10 with plateau_half_length_mm: 18; expected",
        ),
        ("simulation.frames", "many", r"frames: found 'many'; expected a whole number"),
        ("simulation.frames", 50.5, r"frames: found 50\.5; expected a whole number"),
        ("simulation.youngs_modulus_mpa", float("nan"), "expected a finite number"),
        ("wear.wear_law", "archad", r"wear_law: found 'archad'; expected 'archard', 'unified"),
        (
            "wear",
            {"blocks": 4, "creep_time": "constant"},
            r"wear: found blocks: 4.*expected creep_time: logarithm, for creep",
        ),
        (
            "wear",
            {"creep_time": "constant", "months": 120},
            r"wear: found creep_time: constant with months: 120 and creep_months: 51; expected a "
            r"life of creep_months.*Set creep_time to logarithm",
        ),
        ("wear", {"blocks": 4, "months": 0}, r"wear: found blocks: 4.*expected a life of at least"),
        (
            "wear",
            {"mixing": "sequence", "creep_time": "constant"},
            r"wear: found blocks: 1, mixing: sequence with creep_time",
        ),
        ("report.retrievals.autopsy.linear_mm_per_year.low", 1, r"expected low <= mean <= high"),
        ("simulation.load_line", "free", r"found 'free'; expected 'solved' or 'fixed'"),
        (
            "cases.thickness_mm",
            [6, 0],
            r"thickness_mm\.1: found 0; expected greater than or equal to 0\.5",
        ),
        ("cases.thickness_mm", [6, 8, 6.0], r"found 6 more than once; expected distinct"),
        ("cases.thickness_mm", [], r"thickness_mm: found \[\]; expected at least one entry"),
        (
            "cases.thickness_mm",
            [6, 7.5, 7.50000001],
            r"thickness_mm: found 7\.5 and 7\.50000001, all shown as 7\.5; expected levels that",
        ),
        ("cases.body_mass_kg", [100, 100.0001], r"100\.0 and 100\.0001, all shown as 100"),
        (
            "wear",
            {"creep_law": "strain", "months": 0},
            r"key wear: found creep_law: strain with months: 0; expected months above 0",
        ),
        (
            "activities.gait.flexion_deg.bumps",
            [{"height": 1, "centre_percent": 1, "width_percent": 51}],
            r"width_percent: found 51; expected less than or equal to 50",
        ),
        ("grid", None, r"key grid: found nothing; expected a mapping of keys"),
        ("study", "my study", r"study: found 'my study'; expected a name of letters"),
        ("wear.lives", {"gait": {"gait": 0.9}}, r"shares of 'gait' that sum to 0\.9"),
        (
            "wear.lives",
            {"other": {"gate": 1.0}},
            r"key wear\.lives\.other\.gate: found no activity 'gate'.*Did you mean 'gait'\?",
        ),
        ("activities.gait.flexion_deg.bases", 1, r"key activities\.gait\.flexion_deg\.bases"),
        (
            "activities.gait.source",
            "xls",
            r"gait\.source: found 'xls'; expected parametric or file",
        ),
        ("implant.source", "meshes", r"without a block 'meshes'"),
        ("implant.parametric.plateau_edge_radius_mm.medial", -1, "expected greater than 0"),
    ],
)
def test_fault_names_key_finding_and_expectation(path, value, message):
    with pytest.raises(InputDataError, match=message):
        load_study(changed(path, value))


def test_missing_key_is_told_with_the_stranger_beside_it():
    settings = changed("wear.month", 51)
    del settings["wear"]["months"]
    with pytest.raises(InputDataError, match=r"(?s)2 faults.*months: found nothing.*Is it 'month'"):
        load_study(settings)


def test_all_faults_come_in_one_message():
    settings = merge_settings(changed("grid.rows", 1), {"seed": -1, "sed": 2})
    with pytest.raises(InputDataError, match=r"(?s)3 faults.*grid\.rows.*sed"):
        load_study(settings)


def test_a_key_that_takes_several_forms_is_one_fault():
    zero = changed("activities.gait.zero", {"anterior_posterior": "sit"})
    message = r"zero\.anterior_posterior: found 'sit'; expected 'file' or 'seat' or a number\. "
    with pytest.raises(InputDataError, match=message):
        load_study(zero)


def test_life_of_no_length_is_refused():
    with pytest.raises(InputDataError, match="found length of the life of 0 months"):
        load_study(changed("wear.months", 0))
    assert load_study(changed("wear.creep_law", "strain")).wear.creep_law == "strain"


def test_list_with_a_faulty_entry_is_one_fault():
    with pytest.raises(InputDataError) as caught:
        load_study(changed("cases.thickness_mm", ["six"]))
    assert "key cases.thickness_mm.0: found 'six'; expected a number" in str(caught.value)
    assert "faults" not in str(caught.value)


def test_numbers_written_as_text_are_numbers():
    # YAML 1.1 reads 1e-6 without a point as text.
    assert load_study(changed("simulation.tolerance", "1e-6")).simulation.tolerance == 1e-6


def test_settings_never_change():
    with pytest.raises(ValidationError, match="frozen"):
        default_study().seed = 2  # type: ignore[misc]


def test_null_removes_an_inherited_activity_and_life():
    stairs = DEFAULT["activities"]["gait"]
    settings = merge_settings(
        DEFAULT,
        {
            "activities": {"gait": None, "stairs": stairs},
            "wear": {"lives": {"gait": None, "stairs": {"stairs": 1.0}}},
        },
    )
    study = load_study(settings)
    assert list(study.activities) == ["stairs"]
    assert list(study.wear.lives) == ["stairs"]


@pytest.mark.parametrize(
    ("knee", "z", "fits"),
    [("right", "medial", True), ("right", "lateral", False), ("left", "lateral", True)],
)
def test_mesh_axes_are_right_handed_in_their_knee(knee, z, fits):
    meshes = read_settings(FOLDER / "dm_fluoroscopy.yaml")["implant"]["meshes"]
    axes = {"x": "posterior", "y": "superior", "z": z}
    implant = {"source": "meshes", "knee": knee, "meshes": meshes | {"axes": axes}}
    settings = merge_settings(DEFAULT, {"implant": implant})
    if fits:
        assert load_study(settings).implant.meshes.axes.z == z
    else:
        with pytest.raises(InputDataError, match=f"right-handed in a {knee} knee"):
            load_study(settings)


def test_two_axes_along_one_line_are_refused():
    meshes = read_settings(FOLDER / "dm_fluoroscopy.yaml")["implant"]["meshes"]
    axes = {"x": "posterior", "y": "superior", "z": "anterior"}
    implant = {"source": "meshes", "meshes": meshes | {"axes": axes}}
    with pytest.raises(InputDataError, match="three perpendicular axes"):
        load_study(merge_settings(DEFAULT, {"implant": implant}))


def test_file_that_is_no_settings_is_refused(tmp_path):
    with pytest.raises(InputDataError, match="no such file"):
        load_study(tmp_path / "none.yaml")
    (tmp_path / "list.yaml").write_text("- 1")
    with pytest.raises(InputDataError, match="found a list; expected a mapping"):
        load_study(tmp_path / "list.yaml")
    (tmp_path / "broken.yaml").write_text("a: [1")
    with pytest.raises(InputDataError, match="valid YAML"):
        load_study(tmp_path / "broken.yaml")


ROTATION = "activities.gait.tibial_external_rotation_deg.base"
VARIED = {
    "cases": {
        "thickness_mm": [6.0, 8.0],
        "body_mass_kg": [70.0],
        "overrides": {"wear.wear_factor_mm3_per_n_m": [1e-7, 2e-7], ROTATION: [-2.0, 2.0]},
    },
    "cases_per_job": 3,
    "report": {"compare_with_published": False},
}


def test_factorial_design_varies_any_setting_of_a_job():
    study = load_study(merge_settings(DEFAULT, VARIED))
    cases = study.case_list()
    assert len(cases) == len({case.name for case in cases}) == 8
    assert cases[0].settings == {
        "thickness_mm": 6.0,
        "body_mass_kg": 70.0,
        "wear.wear_factor_mm3_per_n_m": 1e-7,
        ROTATION: -2.0,
    }
    # A batch has one set of overrides, so two cases although three are allowed.
    assert [len(batch) for batch in study.batches().values()] == [2, 2, 2, 2]
    own = apply_case(study, cases[-1])
    assert own.wear.wear_factor_mm3_per_n_m == 2e-7
    assert own.activities["gait"].tibial_external_rotation_deg.base == 2.0
    assert set(overridden_activities(study, cases[0])) == {"gait"}


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"grid.rows": [10, 20]}, "Geometry is built once for all cases of a wear study"),
        ({"implant.parametric.condyle_spacing_mm": [40, 50]}, "cases of one study are not built"),
        ({"cases.body_mass_kg.0": [60]}, "cases of one study are not built from"),
        ({"simulation.frames": [20, 40]}, "but not of frames, durations and lives"),
        ({"wear.lives.gait.gait": [0.5, 1.0]}, "but not of frames, durations and lives"),
        ({"activities.gait.duration_s": [1.0, 2.0]}, "but not of frames, durations and lives"),
        (
            {"wear.wear_law": [1.0]},
            r"found wear\.wear_law, which is no number",
        ),
        ({"wear.factor": [1.0]}, "of which there is no 'factor'"),
        ({"simulation.poisson_ratio": [0.4, 0.6]}, "found 0.6, for which simulation.poisson_ratio"),
        ({"simulation.poisson_ratio": [0.4, 0.4]}, "0.4 more than once"),
        ({"simulation.poisson_ratio": []}, "at least one entry"),
    ],
)
def test_impossible_overrides_are_refused(overrides, message):
    report = {"compare_with_published": False}
    with pytest.raises(InputDataError, match=message):
        load_study(merge_settings(DEFAULT, {"cases": {"overrides": overrides}, "report": report}))


def test_overrides_are_for_wear_studies_without_published_values():
    varied = merge_settings(DEFAULT, {"cases": {"overrides": {"simulation.medial_share": [0.6]}}})
    with pytest.raises(InputDataError, match=r"Set report\.compare_with_published to false"):
        load_study(varied)
    one = {"thickness_mm": [6.0], "body_mass_kg": [70.0]}
    with pytest.raises(InputDataError, match="overrides in a study of kind verification"):
        load_study(merge_settings(varied, {"kind": "verification", "cases": one}))


def test_data_folder_follows_the_environment(tmp_path, monkeypatch):
    study = default_study()
    monkeypatch.delenv("KNEEWEAR_DATA", raising=False)
    (tmp_path / "checkout").mkdir()
    expected = tmp_path / "shared" / "data" / "a.stl"
    assert study.data_path("a.stl", tmp_path / "checkout") == expected
    monkeypatch.setenv("KNEEWEAR_DATA", str(tmp_path / "mine"))
    assert study.data_path("a.stl", tmp_path / "checkout") == tmp_path / "mine" / "a.stl"
    assert study.data_path("/a.stl") == Path("/a.stl")
    (tmp_path / "checkout" / "b.stl").touch()
    assert study.data_path("b.stl", tmp_path / "checkout") == tmp_path / "checkout" / "b.stl"


def every_model():
    """Return every block of settings."""
    found, new = set(), {Settings}
    while new:
        found |= new
        new = {inner for model in new for inner in model.__subclasses__()} - found
    return sorted(found, key=lambda model: model.__name__)


@pytest.mark.parametrize("model", every_model(), ids=lambda model: model.__name__)
def test_every_key_says_what_it_means(model):
    for name in model.model_fields:
        assert meaning(model, name).endswith("."), name


def test_every_meaning_belongs_to_a_key():
    models = {model.__name__: model for model in every_model()}
    assert set(MEANINGS) <= set(models)
    for name, texts in MEANINGS.items():
        assert set(texts) <= set(models[name].model_fields), name


def test_page_of_settings_is_up_to_date():
    # Renew it with: python -m tests.settings_page
    assert PAGE.read_text(encoding="utf-8") == render()


@pytest.mark.parametrize("name", ["config", "calibration", "example_meshes", "dm_fluoroscopy"])
def test_settings_can_be_sent_to_another_process(name):
    study = kneewear.load_study(f"config/{name}.yaml")
    assert pickle.loads(pickle.dumps(study)) == study


def test_accuracy_selects_elements_and_frames():
    study = load_study(merge_settings(DEFAULT, {"accuracy": "standard"}))
    assert (study.grid.rows, study.grid.columns, study.simulation.frames) == (200, 150, 300)
    assert default_study().grid.rows == 100
    same = study.model_dump() | {"accuracy": None}
    assert load_study(same).computed() == study.computed()


def test_accuracy_is_refused_beside_elements_of_its_own():
    with pytest.raises(InputDataError, match=r"50 with accuracy: fine") as caught:
        load_study(merge_settings(DEFAULT, {"accuracy": "fine", "grid": {"rows": 50}}))
    assert "grid.rows" in str(caught.value)
    assert "Remove grid.rows" in str(caught.value)


def test_jobs_follow_from_the_size_of_the_study():
    assert [len(cases) for cases in default_study().batches().values()] == [13, 12]
    masses = [50.0 + 0.1 * number for number in range(1000)]
    cases = {"thickness_mm": [*range(6, 16)], "body_mass_kg": masses}
    own = {"cases": cases, "report": {"compare_with_published": False}}
    study = load_study(merge_settings(DEFAULT, own))
    assert [len(study.batches()), study.job_size(1000)] == [50, 200]
    # Maps of the corners and the centre only.
    assert study.cases_with_maps() == [
        *("6mm_50kg", "6mm_149.9kg", "11mm_50kg", "15mm_50kg", "15mm_149.9kg")
    ]
    assert load_study(merge_settings(DEFAULT, own | {"cases_per_job": 7})).job_size(10_000) == 7


def test_jobs_of_long_simulations_are_few_but_none_takes_hours():
    fine = load_study(merge_settings(DEFAULT, {"accuracy": "fine"}))
    assert [fine.job_size(count) for count in (25, 100, 1000)] == [5, 20, 74]
    evolving = {"accuracy": "fine", "wear": {"blocks": 16}}
    assert load_study(merge_settings(DEFAULT, evolving)).job_size(1000) == 4
