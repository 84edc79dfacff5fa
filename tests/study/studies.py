"""Studies that the tests of plans, cases and analyses start from."""

from __future__ import annotations

from kneewear.study.inputs import CaseInputs, built_in_activities, exact_knee
from kneewear.study.plans import plan_cases
from kneewear.study.run import run_cases
from kneewear.study.settings import merge_settings, read_settings, validate_study
from kneewear.study.shipped import find_study
from tests.physics.bodies import IS_COMPILED, SMALL
from tests.workflow.conftest import CHECKOUT

CONFIG = CHECKOUT / "config"
DEFAULT = read_settings(CONFIG / "defaults.yaml")
COARSE = merge_settings(
    DEFAULT,
    {
        "grid": {"rows": SMALL[0], "columns": SMALL[1]},
        "table": {"u_points": 31, "v_points": 21},
        "simulation": {"analysis": "quasi_static", "frames": 8 if IS_COMPILED else 6},
        "report": {"compare_with_published": False, "spread": {"samples": 0}},
    },
)
FACTORIAL = {"plan": "factorial", "maps": False}


def shipped(name):
    """Settings of a shipped study, merged with the defaults."""
    return merge_settings(DEFAULT, read_settings(find_study(f"config/{name}")))


def coarse_study(variables, cases=None, **changes):
    """Return a study on few elements with some variables."""
    blocks = {"variables": variables, "cases": cases or FACTORIAL, "analyses": {}}
    return validate_study(merge_settings(COARSE, blocks | changes))


def computed(study, table=None, knee=None):
    """Results of the cases of a study of built-in activities."""
    inputs = CaseInputs(study, knee or exact_knee(study), built_in_activities(study), exact=True)
    return run_cases(study, plan_cases(study) if table is None else table, inputs)
