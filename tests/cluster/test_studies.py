"""The studies that are compared between SLURM and a local run."""

from __future__ import annotations

import pytest

import kneewear as kw
from tests.cluster.compare_slurm import STUDIES
from tests.workflow.conftest import CHECKOUT


@pytest.mark.parametrize("name", STUDIES)
def test_settings_of_the_compared_studies_are_valid(name):
    file, overrides = STUDIES[name]
    assert kw.load_study(CHECKOUT / file, overrides).study == overrides["study"]
