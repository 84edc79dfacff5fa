"""The posterior-stabilised study of `config/chapter3.yaml`, made small enough for tests."""

from __future__ import annotations

from functools import cache

from kneewear.geometry.implant_sources import build_implant
from kneewear.settings.study import load_study, merge_settings, read_settings
from kneewear.studies.static.cases import solve_static_cases
from kneewear.studies.static.pairs import KneePairs
from tests.physics.bodies import IS_COMPILED

# Kernels that are not compiled take a hundred times as long.
GRID = 40 if IS_COMPILED else 12
BASE = merge_settings(read_settings("config/config.yaml"), read_settings("config/chapter3.yaml"))


def small_study(materials=("linear",), grid=GRID, **static):
    """Settings of the study with a few cases on grids that stay as they are."""
    chosen = {name: BASE["static"]["materials"][name] for name in materials}
    settings = merge_settings(BASE, {"grid": {"rows": grid, "columns": grid * 3 // 4}})
    settings["static"] = BASE["static"] | {"active_elements": None} | static
    settings["static"]["materials"] = chosen
    return load_study(settings)


@cache
def joint():
    """The implant's pairs."""
    study = small_study()
    return KneePairs(build_implant(study.implant)[0], study.table, study.simulation)


def solved(study):
    """Every case of a study."""
    return solve_static_cases(joint(), study.grid, study.static)
