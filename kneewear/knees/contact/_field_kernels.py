"""Compiled contact of elements with a body given by a field of distances."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kneewear.base.compilation import compiled
from kneewear.contact._distance_kernels import ElementArrays, TileArrays, WorkArrays
from kneewear.contact._force_kernels import (
    PressureLawArrays,
    TractionLaw,
    chunk_forces,
    fill_result,
)
from kneewear.contact._kernels import Options, into_moving_frame
from kneewear.knees.contact._interpolation_kernels import FieldArrays, interpolate, is_in_field

# Cosine of the largest angle between an element's normal and the line to the surface.
MIN_FACING = 0.1


class FieldPair(NamedTuple):
    """Elements and a field, with the names that the kernels of forces use."""

    field: FieldArrays
    elements: ElementArrays
    tiles: TileArrays
    law: PressureLawArrays
    thickness: NDArray[np.float64]
    traction: TractionLaw
    options: Options
    work: WorkArrays


@compiled
def find_active(pair: FieldPair, rotation: NDArray, translation: NDArray) -> None:
    """Find the elements inside the moving body, and their projections."""
    field, work = pair.field, pair.work
    centre, normal, coarse = pair.elements.centre, pair.elements.normal, field.coarse
    found = np.empty(10)
    # A node at most this far away is within half the diagonal of a cell.
    near = 0.9 * field.spacing
    slot = 0
    for n in range(centre.shape[1]):
        rx = centre[0, n] - translation[0]
        ry = centre[1, n] - translation[1]
        rz = centre[2, n] - translation[2]
        x = rotation[0, 0] * rx + rotation[1, 0] * ry + rotation[2, 0] * rz
        y = rotation[0, 1] * rx + rotation[1, 1] * ry + rotation[2, 1] * rz
        z = rotation[0, 2] * rx + rotation[1, 2] * ry + rotation[2, 2] * rz
        if not is_in_field(field, x, y, z):
            continue
        i = int((x - field.origin[0]) / field.spacing + 0.5)
        j = int((y - field.origin[1]) / field.spacing + 0.5)
        k = int((z - field.origin[2]) / field.spacing + 0.5)
        if coarse[i, j, k] > near:
            continue
        interpolate(field, x, y, z, found)
        if found[0] >= 0.0:
            continue
        facing = 0.0
        for a in range(3):
            turned = 0.0
            for b in range(3):
                turned += rotation[b, a] * normal[b, n]
            work.normal[a, slot] = turned
            facing -= turned * found[1 + a]
        if not facing > MIN_FACING:
            continue
        work.point[0, slot], work.point[1, slot], work.point[2, slot] = x, y, z
        for m in range(10):
            work.projection[m, slot] = found[m]
        work.listed[slot] = n
        slot += 1
    work.sums[0].active = slot
    work.sums[0].evaluated = centre.shape[1]


@compiled
def evaluate_field(
    pair: FieldPair,
    rotation: NDArray,
    translation: NDArray,
    velocity: NDArray,
    moving: bool,
    results: Any,
) -> None:
    """Contact at one pose, in one RESULT."""
    turned = np.zeros(6)
    if moving:
        into_moving_frame(rotation, velocity, turned)
    find_active(pair, rotation, translation)
    chunk_forces(pair, rotation, turned, moving, 0)
    fill_result(pair, rotation, translation, moving, results[0])
