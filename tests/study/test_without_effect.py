"""Settings that a study does not use, among them those of wear laws that it does not have."""

from __future__ import annotations

import pytest

import kneewear as kw
from kneewear.base.types import NonNegative
from kneewear.study.without_effect import reason_without_effect
from kneewear.wear.law_settings import WEAR_LAWS, WearLaw

FACTOR = ("wear", "wear_factor_mm3_per_n_m")


@pytest.fixture
def own_law():
    """Return a law with a coefficient and published constants, while the test runs."""

    class OwnLaw(WearLaw):
        """A law of a constant factor."""

        name = "own_law"
        summary = "Wear has a constant of its own"
        references = ()
        multiplies_wear_factor = False
        own_factor: NonNegative = 1.0e-6

        def factor(self, cross_shear):
            """Return the constant."""
            return self.own_factor

    yield OwnLaw
    del WEAR_LAWS[OwnLaw.name]


def settings_with(law):
    settings = kw.default_study().model_dump(mode="json")
    settings["wear"]["wear_law"] = law
    return settings


@pytest.mark.parametrize("law", list(WEAR_LAWS))
def test_coefficients_are_used_by_their_law_only(law):
    for other in WEAR_LAWS:
        reason = reason_without_effect(settings_with(law), ("wear", "laws", other, "exponent"))
        assert bool(reason) == (other != law)
    used = WEAR_LAWS[law].multiplies_wear_factor
    assert bool(reason_without_effect(settings_with(law), FACTOR)) != used


def test_what_a_new_law_uses_follows_from_its_class(own_law):
    coefficient = ("wear", "laws", own_law.name, "own_factor")
    assert reason_without_effect(settings_with("archard"), coefficient)
    assert not reason_without_effect(settings_with(own_law.name), coefficient)
    assert reason_without_effect(settings_with(own_law.name), FACTOR)
    own_law.multiplies_wear_factor = True
    assert not reason_without_effect(settings_with(own_law.name), FACTOR)
    # A variable of the law may choose it in another case.
    changed = ["wear.wear_law"]
    assert not reason_without_effect(settings_with("archard"), coefficient, changed)
