"""Wear of the chosen test of bearings."""

from __future__ import annotations

from collections.abc import Sequence

from kneewear.base.cases import Output
from kneewear.models.bearing_test.settings import PatellarMotion, WearTestStudy
from kneewear.models.bearing_test.simulation import (
    OUTPUTS,
    TEST,
    BearingContact,
    TestWear,
    settings_of_test,
    wear_of_test,
)
from kneewear.study.inputs import CaseInputs
from kneewear.wear.interval import WearingSurface
from kneewear.wear.settings import WearSettings

# Name of the surface of a test in tables of intervals.
POLYETHYLENE = "polyethylene"


def compute_test(study: WearTestStudy, inputs: CaseInputs) -> TestWear:
    """Wear of the chosen test of bearings."""
    return wear_of_test(chosen_contact(study, inputs), study.wear)


def polyethylene_surfaces(
    study: WearTestStudy, inputs: CaseInputs
) -> tuple[Sequence[WearingSurface], WearSettings]:
    """Polyethylene of the chosen test with its period, and the settings of its wear."""
    contact = chosen_contact(study, inputs)
    surface = WearingSurface({TEST: contact.fresh}, contact.bearing.grid, POLYETHYLENE)
    return [surface], settings_of_test(study.wear_test.chosen, study.wear)


def list_outputs(study: WearTestStudy) -> tuple[Output, ...]:
    """Numbers of a test, in the order of tables."""
    return OUTPUTS


def chosen_contact(study: WearTestStudy, inputs: CaseInputs) -> BearingContact:
    """Contact of the chosen test of bearings, that of the case before where nothing differs."""
    test = study.wear_test.chosen
    settings = study.simulation
    if test.contact is not None:
        settings = type(settings)(**settings.model_dump() | {"contact": test.contact})

    def build() -> BearingContact:
        curves, meshes = None, None
        if test.shapes:
            if inputs.reader is None:
                raise ValueError("shapes of files cannot be read here")
            meshes = {name: inputs.reader.shape(study, file) for name, file in test.shapes.items()}
        if isinstance(test.motion, PatellarMotion):
            if inputs.reader is None:
                raise ValueError("motion of files cannot be read here")
            curves = inputs.reader.curves(study, test.motion.file, test.motion.columns.given())
        return BearingContact(test, settings, curves, meshes)

    return inputs.latest(test.model_dump_json() + settings.model_dump_json(), build)
