"""Signs of the built-in motions, which the check of inputs does not try again."""

from __future__ import annotations

import pytest

import kneewear
from kneewear import checkout_folder
from kneewear.base.cases import Case
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.table import tabulate_surface
from kneewear.motion.sign_check import check_signs
from kneewear.motion.signs import doubtful_signs
from kneewear.study.files import load_activity
from kneewear.study.settings import merge_settings, validate_study

DEFAULT = kneewear.default_study().model_dump(mode="json")
LIVES = {"gait": None, "both": {"gait": 0.5, "stairs": 0.5}}


# The built-in stairs turn outwards with flexion, against the screw-home motion of most knees: a
# user's own curve of this kind would be doubted, and rightly.
@pytest.mark.parametrize(("name", "doubted"), [("gait", False), ("stairs", True)])
def test_built_in_motion_is_judged_once(name, doubted):
    changes = {"simulation": {"frames": 25, "distance": "exact"}, "wear": {"lives": LIVES}}
    study = validate_study(merge_settings(DEFAULT, changes))
    implant, _ = build_implant(study.implant)
    samples = {side: tabulate_surface(one, 41, 21) for side, one in implant.femoral.items()}
    knee = KneeModel(implant, build_grid(implant, 24, 18), samples)
    activity = load_activity(study, name, checkout_folder())
    trials = check_signs(knee, activity, Case("c", 8.0, 75.0), study.simulation)
    assert len(trials) == 4
    assert (doubtful_signs(trials, name) is not None) == doubted
    # Forces of the bearing indicate no reversed sign of either.
    assert trials[0].rollback > 0.7
