"""Slack lengths fitted to half of a motion: recovered where known, within their bounds."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.knees.tissue.bundles import Bundles
from kneewear.knees.tuning import groups_of, strained, tune_strains
from kneewear.mechanics.tension_laws import quadratic_to_linear

GROUPS = ("MCL", "LCL")
TRUE = {"MCL": 0.012, "LCL": -0.007}
# Sensitivity of nine frames and two coordinates to both strains.
SLOPES = np.random.default_rng(4).normal(0.0, 100.0, (9, 2, 2))


def errors(strain):
    return SLOPES @ (np.array([strain[name] - TRUE[name] for name in GROUPS]))


def test_known_strains_are_recovered_from_half_of_the_frames():
    tuned = tune_strains(GROUPS, errors, 0.02, 20)
    assert tuned.strain == pytest.approx(TRUE, abs=1e-5)
    assert tuned.after[0] < 1e-3 * tuned.before[0] and tuned.after[1] < 1e-3 * tuned.before[1]


def test_the_tested_half_has_no_influence():
    def worse(strain):
        changed = errors(strain)
        changed[1::2] += 7.0
        return changed

    one, other = tune_strains(GROUPS, errors, 0.02, 20), tune_strains(GROUPS, worse, 0.02, 20)
    assert one.strain == other.strain and one.after[1] < other.after[1]


def test_strained_bundles_are_longer_by_that_strain_and_as_stiff():
    law = quadratic_to_linear([40.0, 60.0, 30.0], [500.0, 300.0, 200.0])
    path = (("femur", (0.0, 0.0, 0.0)), ("tibia", (0.0, 1.0, 0.0)))
    bundles = Bundles(("MCL1", "MCL2", "LCL1"), ("femur", "tibia"), (path,) * 3, law)
    assert groups_of(bundles.names) == {"MCL": [0, 1], "LCL": [2]}
    found = strained(bundles, {"MCL": 0.02, "LCL": 0.0}).law
    np.testing.assert_allclose(found.strain(law.slack_length), [0.02, 0.02, 0.0], atol=1e-12)
    # The same tension at the same strain.
    for strain in (0.03, 0.1):
        expected = law.tension(law.slack_length * (1.0 + strain))
        np.testing.assert_allclose(found.tension(found.slack_length * (1.0 + strain)), expected)
