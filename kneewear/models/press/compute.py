"""Contact of a case under its axial load."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from kneewear.base.cases import Output
from kneewear.base.checks import judge
from kneewear.base.sides import POST, SIDES
from kneewear.geometry.settings import ParametricImplant
from kneewear.models.press.settings import PressStudy
from kneewear.motion.laxity import WORDS, drive_path, path_outputs, tabulate_path
from kneewear.motion.press import Rig, solve_press
from kneewear.motion.press_results import (
    CaseDatasets,
    contact_dataset,
    contact_outputs,
    tabulate_contact,
)
from kneewear.study.inputs import CaseInputs

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class PressResult:
    """Contact at one position or along a path, and its numbers by their columns."""

    dataset: xr.Dataset
    values: Mapping[str, float | str]


def compute_press(study: PressStudy, inputs: CaseInputs) -> PressResult:
    """Contact of a case under its axial load, along its path, or at its given pose."""
    press = study.press
    rig = Rig(inputs.knee(study).implant, study)
    if press.path is not None:
        loop = drive_path(rig, press.path)
        return PressResult(loop, tabulate_path(loop, press.path))
    if press.poses is not None:
        solution = rig.hold(given_pose(study, inputs))
        total = float(np.linalg.norm(solution.equilibrium.reaction[:3]))
        warning = judge("press.pose_force", total, f"pose {press.pose}", "Check the pose.")
        if warning:
            logger.warning("%s", warning)
    else:
        solution = solve_press(rig)
    contact = contact_dataset(solution)
    return PressResult(contact, tabulate_contact(contact, press.pressures_mpa))


def press_outputs(study: PressStudy) -> tuple[Output, ...]:
    """Results of all positions, or of all paths; of the post where a case has one."""
    cases = [study, *study.extreme_studies()]
    paths = [case.press.path for case in cases if case.press.path is not None]
    if paths:
        length, force = (
            " or ".join(dict.fromkeys(units))
            for units in zip(*(path.units for path in paths), strict=True)
        )
        return tuple(path_outputs((length, force)))
    implants = [case.implant for case in cases]
    shapes = [implant.parametric for implant in implants if isinstance(implant, ParametricImplant)]
    post = any(shape.cam_and_post is not None for shape in shapes)
    plateaus = [side for side in SIDES if any(side in one.bearings for one in implants)]
    sides = [*plateaus, POST] if post else plateaus
    return tuple(contact_outputs(sides, study.press.pressures_mpa))


def given_pose(study: PressStudy, inputs: CaseInputs) -> NDArray[np.float64]:
    """Given pose (6,) of a case; ValueError if the file has fewer."""
    if inputs.reader is None:
        raise ValueError("poses of files cannot be read here")
    poses, number = inputs.reader.poses(study), study.press.pose
    if number > len(poses):
        raise ValueError(f"press.pose: {number} of {len(poses)} poses")
    return np.asarray(poses[number - 1])


def further_columns(study: PressStudy) -> tuple[str, ...]:
    """Columns of the cases that are not analysed: words on the end of a path."""
    return WORDS if study.press.path is not None else ()


def collect_contact(study: PressStudy, inputs: CaseInputs) -> CaseDatasets:
    """Keep the contact of all cases, with their elements where maps are asked for."""
    return CaseDatasets(keep_elements=study.cases.maps)
