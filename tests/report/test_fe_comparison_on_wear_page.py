"""A finished finite-element comparison on the page of a wear study."""

from __future__ import annotations

import pandas as pd
import pytest

from kneewear import default_settings_file
from kneewear.errors import InputDataError
from kneewear.io.documents import save_json, save_table
from kneewear.report.wear_tables import twin_effects
from kneewear.study.files import check_inputs, comparison_table
from kneewear.study.settings import read_study

LINEAR = {"wear": {"wear_law": "archard"}}


def rows_of(side, **quantities):
    """Rows of one compared case and side: foundation and finite elements at 15 and 46 %."""
    return [
        {
            "case": "10mm_100kg",
            "thickness_mm": 10.0,
            "body_mass_kg": 100.0,
            "percent": percent,
            "side": side,
            "quantity": quantity,
            "unit": "MPa",
            "foundation": foundation,
            "finite_elements": elements,
            "mesh_error_percent": 1.0,
            "layer_error_percent": 0.5,
            "foundation_error_percent": 100.0 * (foundation / elements - 1.0),
        }
        for quantity, values in quantities.items()
        for percent, (foundation, elements) in zip((15.0, 46.0), values, strict=True)
    ]


FE_COMPARISON = pd.DataFrame(
    rows_of(
        "medial",
        middle_pressure=((20.0, 25.0), (16.0, 8.0)),
        max_pressure=((20.0, 25.0), (16.0, 20.0)),
        avg_pressure=((10.0, 12.5), (11.0, 10.0)),
        contact_area=((100.0, 80.0), (90.0, 100.0)),
    )
)


def finished(folder, **changes):
    """File of a finished FE comparison of the default implant, with changes of its settings."""
    settings = read_study(defaults=default_settings_file()).model_dump(mode="json")
    settings |= {"model": "fe_comparison", "fe_comparison": {"activity": "gait"}}
    for block, own in changes.items():
        settings[block] |= own
    save_json({"settings": settings}, folder / "provenance.json")
    (folder / "tables").mkdir(exist_ok=True)
    save_table(FE_COMPARISON, folder / "tables/fe_twin.csv")
    return folder / "tables/fe_twin.csv"


def study_with(path):
    own = {"report": {"fe_comparison": str(path), "spread": {"samples": 0}}}
    return read_study(own, defaults=default_settings_file())


def cases_with(**depths):
    keys = {
        "case": "10mm_100kg",
        "life": "gait",
        "thickness_mm": 10.0,
        "body_mass_kg": 100.0,
        "side": "medial",
    }
    return pd.DataFrame([keys | {"quantity": name, "value": depths[name]} for name in depths])


def test_creep_follows_the_frame_that_loads_most_and_wear_all_frames():
    cases = cases_with(
        creep_depth_at_deepest_damage=0.2, wear_depth_at_deepest_damage=0.3, damage_depth=0.5
    )
    (row,) = twin_effects(FE_COMPARISON, cases, LINEAR).to_dict("records")
    assert row["creep_twin"] == pytest.approx(0.2 * 25.0 / 20.0)
    assert row["wear_twin"] == pytest.approx(0.3 * (25.0 + 8.0) / (20.0 + 16.0))
    assert row["damage_twin"] == pytest.approx(row["creep_twin"] + row["wear_twin"])
    assert row["area"] == pytest.approx(-20.0)
    (row,) = twin_effects(FE_COMPARISON, cases, {"wear": {"wear_law": "pressure_power"}}).to_dict(
        "records"
    )
    assert row["wear_twin"] == row["wear"] == 0.3
    assert twin_effects(FE_COMPARISON, cases.assign(thickness_mm=8.0), LINEAR).empty


def test_comparison_of_this_implant_is_accepted(tmp_path):
    path = finished(tmp_path)
    study = study_with(path)
    assert comparison_table(study, ".") == [str(path)]
    check_inputs(study, ".")
    assert comparison_table(study_with_none(), ".") == []


def study_with_none():
    return read_study(defaults=default_settings_file())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"implant": {"name": "another"}}, r"a comparison with another implant"),
        ({"activities": {"gait": {"flexion_deg": 1}}}, r"another activities\.gait"),
        ({"simulation": {"analysis": "quasi_static"}}, r"another simulation\.analysis"),
        ({"simulation": {"youngs_modulus_mpa": 500.0}}, r"another simulation\.youngs_modulus_mpa"),
    ],
)
def test_comparison_of_another_implant_motion_or_material_is_refused(tmp_path, changes, message):
    path = finished(tmp_path, **changes)
    with pytest.raises(InputDataError, match=message):
        check_inputs(study_with(path), ".")


def test_comparison_that_is_not_finished_is_refused(tmp_path):
    with pytest.raises(InputDataError):
        check_inputs(study_with(tmp_path / "tables/fe_twin.csv"), ".")
    finished(tmp_path)
    (tmp_path / "provenance.json").unlink()
    with pytest.raises(InputDataError):
        check_inputs(study_with(tmp_path / "tables/fe_twin.csv"), ".")
