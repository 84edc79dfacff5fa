"""A finished finite-element twin on the page of a wear study."""

from __future__ import annotations

import pandas as pd
import pytest

from kneewear import default_settings_file
from kneewear.errors import InputDataError
from kneewear.io.documents import save_json, save_table
from kneewear.io.study_inputs import check_inputs, twin_table
from kneewear.report.case_facts import twin_effects, twin_words
from kneewear.settings.study import read_study

TWIN = pd.DataFrame(
    {
        "case": "10mm_100kg",
        "thickness_mm": 10.0,
        "body_mass_kg": 100.0,
        "percent": [15.0, 46.0],
        "side": "medial",
        "quantity": "middle_pressure",
        "unit": "MPa",
        "foundation": [20.0, 16.0],
        "finite_elements": [25.0, 8.0],
        "foundation_error_percent": [-20.0, 100.0],
        "mesh_error_percent": [1.0, 2.0],
    }
)


def finished(folder, **changes):
    """File of a finished twin of the default implant, with changes of its settings."""
    settings = read_study(defaults=default_settings_file()).model_dump(mode="json")
    for block, own in changes.items():
        settings[block] |= own
    save_json({"settings": settings}, folder / "provenance.json")
    (folder / "tables").mkdir(exist_ok=True)
    save_table(TWIN, folder / "tables/fe_twin.csv")
    return folder / "tables/fe_twin.csv"


def study_with(path):
    own = {"report": {"fe_twin": str(path), "spread": {"samples": 0}}}
    return read_study(own, defaults=default_settings_file())


def test_creep_scales_with_the_pressure_of_the_frame_that_loads_most():
    cases = pd.DataFrame(
        {
            "case": "10mm_100kg", "life": "gait", "thickness_mm": 10.0, "body_mass_kg": 100.0,
            "side": "medial", "quantity": ["creep_depth", "damage_depth"], "value": [0.2, 0.5],
        }
    )  # fmt: skip
    (row,) = twin_effects(TWIN, cases)
    assert row["creep_twin"] == pytest.approx(0.25)
    assert row["damage_twin"] == pytest.approx(0.55)
    assert twin_effects(TWIN, cases.assign(thickness_mm=8.0)) == []
    assert twin_words(TWIN, "middle_pressure") == "-20 to +100 %"


def test_twin_of_this_implant_is_accepted(tmp_path):
    path = finished(tmp_path)
    study = study_with(path)
    assert twin_table(study, ".") == [str(path)]
    check_inputs(study, ".")
    assert twin_table(study_with_none(), ".") == []


def study_with_none():
    return read_study(defaults=default_settings_file())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"implant": {"name": "another"}}, r"a twin with another implant"),
        ({"simulation": {"youngs_modulus_mpa": 500.0}}, r"another simulation\.youngs_modulus_mpa"),
    ],
)
def test_twin_of_another_implant_or_material_is_refused(tmp_path, changes, message):
    path = finished(tmp_path, **changes)
    with pytest.raises(InputDataError, match=message):
        check_inputs(study_with(path), ".")


def test_twin_that_is_not_finished_is_refused(tmp_path):
    with pytest.raises(InputDataError, match=r"no table of a finished finite-element twin"):
        check_inputs(study_with(tmp_path / "tables/fe_twin.csv"), ".")
    finished(tmp_path)
    (tmp_path / "provenance.json").unlink()
    with pytest.raises(InputDataError, match=r"Run that study first"):
        check_inputs(study_with(tmp_path / "tables/fe_twin.csv"), ".")
