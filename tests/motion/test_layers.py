"""Pressure laws that settings name, and whole studies under them."""

from __future__ import annotations

import pytest

from kneewear import default_study
from kneewear.contact.foundation import (
    MATERIALS,
    LargeStrain,
    SmallStrain,
    ThreeParameter,
    confined_modulus,
)
from kneewear.motion.evaluation import build_layers, choose_pressure_law
from kneewear.study.settings import merge_settings, read_settings, validate_study
from tests.physics.bodies import CASES, contact_of, gait_study
from tests.refusals import refused_at

SETTINGS = default_study().simulation
MODULUS = confined_modulus(463.0, 0.46)


def with_law(**changes):
    law = SETTINGS.pressure_law.model_copy(update=changes)
    return SETTINGS.model_copy(update={"pressure_law": law})


@pytest.mark.parametrize(
    ("changes", "law"),
    [
        ({"strain": "large"}, LargeStrain(MODULUS)),
        ({"cap_mpa": 42.0}, SmallStrain(MODULUS, 42.0)),
        (
            {"material": "polyethylene_23c"},
            ThreeParameter(MATERIALS["polyethylene_23c"], 0.46),
        ),
        (
            {"material": "polyethylene_37c", "nonlinear_form": "integrated", "strain": "large"},
            ThreeParameter(MATERIALS["polyethylene_37c"], 0.46, "integrated", "large"),
        ),
    ],
)
def test_settings_choose_the_law(changes, law):
    assert choose_pressure_law(with_law(**changes)) == law


def test_own_material_goes_with_its_block():
    own = {"exponent": 3, "reference_strain": 0.0257, "reference_pressure_mpa": 15.8}
    base = read_settings("config/defaults.yaml")

    def study(**law):
        return validate_study(merge_settings(base, {"simulation": {"pressure_law": law}}))

    law = choose_pressure_law(study(material="own", own_material=own).simulation)
    assert law == ThreeParameter(MATERIALS["polyethylene_23c"], 0.46)
    for wrong in ({"material": "own"}, {"own_material": own}):
        assert refused_at(study, **wrong) == "settings, key simulation.pressure_law"


@pytest.mark.compiled
def test_thickness_offset_makes_a_thicker_layer():
    study = gait_study()
    contact, _ = contact_of(study.implant, 40, 30)
    contacts = (contact, contact_of(study.implant, 40, 30, 1)[0])
    plain = build_layers(study.grid, contacts, 8.0, SETTINGS)
    shifted = build_layers(study.grid, contacts, 8.0, with_law(thickness_offset_mm=1.5))
    for one, other in zip(plain, shifted, strict=True):
        assert other.thickness == pytest.approx(one.thickness + 1.5, abs=1e-12)
    with pytest.raises(ValueError):
        build_layers(study.grid, contacts, 8.0, with_law(thickness_offset_mm=-9.0))


def cycle_of(**changes):
    """Load carried by the insert, load applied, and largest pressure, of every frame."""
    study = gait_study()
    history = study.with_settings(pressure_law=with_law(**changes).pressure_law).arrays(CASES[0])
    carried = -history.force[0, :, :, 1].sum(axis=1)
    return carried, history.load[0], history.pressure[0].max(axis=(1, 2, 3))


@pytest.mark.compiled
def test_every_law_carries_the_load_and_softer_ones_at_less_pressure():
    linear = cycle_of()
    peaks = {}
    for name, changes in {
        "large": {"strain": "large"},
        "soft": {"material": "polyethylene_23c"},
        "integrated": {"material": "polyethylene_23c", "nonlinear_form": "integrated"},
        "capped": {"cap_mpa": 0.6 * linear[2].max()},
    }.items():
        carried, load, peaks[name] = cycle_of(**changes)
        assert carried == pytest.approx(load, rel=1e-6)
    assert (peaks["large"] > linear[2]).all()
    # As stiff as 1230 MPa when little loaded, it is softer than 463 MPa above 12.3 MPa.
    assert (peaks["soft"] < peaks["integrated"]).all()
    assert peaks["soft"].max() < linear[2].max()
    assert peaks["capped"].max() == pytest.approx(0.6 * linear[2].max(), rel=1e-12)
