"""Wear of the chosen test of bearings."""

from __future__ import annotations

from kneewear.base.cases import Output
from kneewear.models.bearing_test.settings import PatellarMotion, WearTestStudy
from kneewear.models.bearing_test.simulation import OUTPUTS, BearingContact, TestWear, wear_of_test
from kneewear.study.inputs import CaseInputs


def compute_test(study: WearTestStudy, inputs: CaseInputs) -> TestWear:
    """Wear of the chosen test of bearings."""
    return wear_of_test(chosen_contact(study, inputs), study.wear)


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
