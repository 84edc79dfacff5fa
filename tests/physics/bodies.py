"""Small exact bodies whose contact is known by hand, and studies small enough to repeat."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numba import config

from kneewear import default_settings_file
from kneewear.activity.activity import Activity
from kneewear.activity.sources import build_parametric_activity
from kneewear.base.cases import Case
from kneewear.base.files import read_settings
from kneewear.base.sides import SIDES
from kneewear.contact.foundation import ElasticLayer, SmallStrain, confined_modulus
from kneewear.contact.pair import ContactPair
from kneewear.geometry.element_grid import ElementGrid
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant import Implant
from kneewear.geometry.knee import KneeModel
from kneewear.geometry.parametric import build_parametric_implant
from kneewear.geometry.primitives import (  # noqa: F401  (handed on to the tests)
    arc,
    cylinder,
    plate,
    revolved,
    sphere,
)
from kneewear.geometry.table import tabulate_surface
from kneewear.mechanics.rotations import body_three_123
from kneewear.motion.cases import simulate_cases
from kneewear.study.settings import merge_settings, validate_study
from tests.contact.inverse_laws import energy as stored_energy
from tests.datasets import plain

MODULUS = confined_modulus(463.0, 0.46)
UPRIGHT = np.eye(3)
# Kernels that are not compiled take a hundred times as long.
IS_COMPILED = not config.DISABLE_JIT
ROWS, COLUMNS, FRAMES = (40, 30, 12) if IS_COMPILED else (12, 9, 6)
SMALL = (24, 20, 12) if IS_COMPILED else (10, 8, 8)


def flat_implant(condyle, half_x=8.0, half_z=8.0, spacing=46.0, thickness=8.0):
    """Two flat plates of one thickness under two equal condyles at z = +- spacing / 2."""
    femoral, insert = {}, {}
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        middle = sign * 0.5 * spacing
        femoral[side] = condyle.transformed(UPRIGHT, [0.0, 0.0, middle])
        insert[side] = plate((-half_x, half_x), (middle - half_z, middle + half_z), thickness)
    return Implant("plates", femoral, insert, 0.0, thickness)


def contact_of(
    implant, rows, columns, side=0, direction="minimum_distance", nodes=(61, 41), search="bounds"
):
    """Contact of one side and the layer under its elements."""
    grid = build_grid(implant, rows, columns)
    condyle = implant.femoral[SIDES[side]]
    table = tabulate_surface(condyle, *nodes)
    contact = ContactPair(grid, side, condyle, table, direction=direction, search=search)
    return contact, linear_layer(grid.thickness[side].ravel()[contact.index])


def linear_layer(thickness, modulus=MODULUS):
    """A small-strain layer."""
    return ElasticLayer(SmallStrain(modulus), thickness)


def energy(result, layer):
    """Elastic energy of the foundation, N mm."""
    stored = stored_energy(layer.law, result.penetration, layer.thickness[result.element])
    return float(np.sum(result.area * stored))


@dataclass(frozen=True)
class Study:
    """Everything `simulate_cases` needs, changed piece by piece with `dataclasses.replace`."""

    implant: Implant
    grid: ElementGrid
    activity: Activity
    settings: object
    nodes: tuple[int, int] = (61, 31)

    def knee(self, **options):
        samples = {s: tabulate_surface(f, *self.nodes) for s, f in self.implant.femoral.items()}
        return KneeModel(self.implant, self.grid, samples, **options)

    def run(self, *cases, **options):
        return simulate_cases(self.knee(), self.activity, cases, self.settings, **options)

    def arrays(self, *cases, **options):
        """Plain arrays of the history."""
        return plain(self.run(*cases, **options))

    def with_settings(self, **changes):
        return replace(self, settings=self.settings.model_copy(update=changes))


@cache
def example_study():
    """The default study with the implant and gait of `example_knee.yaml`."""
    own = Path(__file__).with_name("example_knee.yaml")
    return validate_study(
        merge_settings(read_settings(default_settings_file()), read_settings(own))
    )


@cache
def gait_study(rows=ROWS, columns=COLUMNS, frames=FRAMES):
    """The example knee and its gait on a coarse grid, independent of the default study."""
    study = example_study()
    implant = build_parametric_implant(
        study.implant.parametric, "built in", study.implant.nominal_thickness_mm
    )
    activity = build_parametric_activity("gait", study.activities["gait"], frames)
    quasi_static = {"analysis": "quasi_static", "distance": "exact"}
    settings = study.simulation.model_copy(update=quasi_static)
    return Study(implant, build_grid(implant, rows, columns), activity, settings)


@cache
def knee():
    """Pairs and layers of the example knee on a coarse grid."""
    implant = gait_study().implant
    return tuple(zip(*(contact_of(implant, ROWS, COLUMNS, side) for side in (0, 1)), strict=True))


def moved(implant, shift):
    """The implant with its insert described in a frame whose origin lies at -shift."""
    insert = {s: p.transformed(UPRIGHT, shift) for s, p in implant.insert.items()}
    return replace(implant, insert=insert, underside=implant.underside + shift[1])


def pose_of(history, frame, case=0):
    """Rotation matrix and translation of one frame of a history."""
    return body_three_123(history.rotation[case, frame]), history.translation[case, frame]


CASES = (Case("thin", 6.0, 75.0), Case("thick", 10.0, 120.0), Case("light", 14.0, 50.0))
