"""Solids: patch test, condensation against the whole matrix, and balance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import spsolve

from kneewear.contact.condensation import Condensation
from kneewear.contact.material import Elastic, Strains
from kneewear.contact.solid import SHAPE
from tests.contact.blocks import block

LINES = [0.0, 1.0, 2.5, 3.0]
MATERIAL = Elastic(463.0, 0.46)


def distorted(nodes):
    """Smooth displacement of inner nodes by a tenth of an element."""
    x, y, z = np.moveaxis(nodes, -1, 0)
    bump = np.sin(np.pi * x / 3.0) * np.sin(np.pi * y / 3.0) * np.sin(np.pi * z / 3.0)
    return 0.1 * np.stack([bump, -bump, 0.5 * bump], axis=-1)


def assembled(solid, stiffness):
    rows = np.repeat(solid.element_freedoms, 81, axis=1).ravel()
    columns = np.tile(solid.element_freedoms, (1, 81)).ravel()
    free = (rows >= 0) & (columns >= 0)
    values = stiffness.ravel()[free], (rows[free], columns[free])
    return coo_matrix(values, shape=(solid.size, solid.size)).tocsc()


@pytest.mark.parametrize("poisson_ratio", [0.0, 0.46, 0.4999])
def test_patch_of_distorted_elements_has_the_uniform_strain_of_its_border(poisson_ratio):
    material = Elastic(463.0, poisson_ratio)
    solid = block(LINES, LINES, LINES, distorted)
    strains = Strains(solid)
    matrix = assembled(solid, strains.stiffness(material.tensor))
    # Zero on the base, as the solid requires: u = (a, b, c) y.
    gradient = np.array([2e-3, -5e-3, 1e-3])
    wanted = (solid.nodes[:, :, 1:, 1, None] * gradient).reshape(-1)
    border = np.zeros(solid.nodes.shape[:3], dtype=bool)
    border[[0, -1]] = border[:, [0, -1]] = border[:, :, -1] = True
    held = np.repeat(border[:, :, 1:].ravel(), 3)
    found = np.where(held, wanted, 0.0)
    found[~held] = spsolve(matrix[~held][:, ~held], -(matrix @ found)[~held])
    # Rounding, times the ratio of bulk and shear modulus.
    ratio = material.bulk_modulus / material.shear_modulus
    assert found == pytest.approx(wanted, abs=1e-13 * max(1.0, ratio))
    uniform = np.array([0.0, gradient[1], 0.0, gradient[0], gradient[2], 0.0])
    assert strains.strains(found) == pytest.approx(
        np.broadcast_to(uniform, (*strains.volume.shape, 6)), abs=1e-12 * max(1.0, ratio)
    )


def wave(points):
    """A smooth function that is zero on the base, its gradient and its second derivatives."""
    k = 1.1
    x, y, z = np.moveaxis(k * points, -1, 0)
    x = x + 0.3
    values = np.stack([np.sin(x), np.sin(y), np.cos(z)])
    slopes = k * np.stack([np.cos(x), np.cos(y), -np.sin(z)])
    second = np.empty((3, 3, *x.shape))
    for i in range(3):
        for j in range(3):
            factors = [slopes[m] if m in (i, j) else values[m] for m in range(3)]
            second[i, j] = -(k**2) * values.prod(0) if i == j else np.prod(factors, axis=0)
    gradient = [
        np.prod([slopes[m] if m == i else values[m] for m in range(3)], 0) for i in range(3)
    ]
    return values.prod(0), np.stack(gradient, -1), np.moveaxis(second, (0, 1), (-2, -1))


@pytest.mark.slow
def test_errors_of_a_smooth_displacement_fall_with_the_orders_of_the_elements():
    # Displacements c f under the body force that they need; held at the border.
    direction = np.array([1.0, -0.7, 0.4])
    shear, lame = MATERIAL.shear_modulus, MATERIAL.bulk_modulus - 2.0 / 3.0 * MATERIAL.shear_modulus
    errors = []
    for count in (2, 4, 8):
        lines = np.linspace(0.0, 3.0, count + 1)
        solid = block(lines, lines, lines, distorted)
        strains = Strains(solid)
        value, gradient, second = wave(solid.points)
        laplacian = np.trace(second, axis1=-2, axis2=-1)[..., None]
        force = -(lame + shear) * second @ direction - shear * laplacian * direction
        parts = np.einsum("epc,ep,pn->enc", force, strains.volume, SHAPE).reshape(len(force), 81)
        load = np.zeros(solid.size + 1)
        np.add.at(load, solid.element_freedoms, parts)
        load = load[:-1]
        border = np.zeros(solid.nodes.shape[:3], dtype=bool)
        border[[0, -1]] = border[:, [0, -1]] = border[:, :, -1] = True
        held = np.repeat(border[:, :, 1:].ravel(), 3)
        exact = (wave(solid.nodes)[0][..., None] * direction)[:, :, 1:].reshape(-1)
        matrix = assembled(solid, strains.stiffness(MATERIAL.tensor))
        found = np.where(held, exact, 0.0)
        found[~held] = spsolve(matrix[~held][:, ~held], (load - matrix @ found)[~held])
        nodes = solid.displacements(found).reshape(-1, 3)[solid.element_nodes]
        rate = gradient[..., None, :] * direction[:, None]
        e = 0.5 * (rate + np.swapaxes(rate, -1, -2))
        strain = np.stack(
            [
                e[..., 0, 0],
                e[..., 1, 1],
                e[..., 2, 2],
                2 * e[..., 0, 1],
                2 * e[..., 1, 2],
                2 * e[..., 2, 0],
            ],
            -1,
        )
        pairs = (
            (np.einsum("pn,enc->epc", SHAPE, nodes), value[..., None] * direction),
            (strains.strains(found) @ MATERIAL.tensor, strain @ MATERIAL.tensor),
        )
        weight = strains.volume[..., None]
        errors.append(
            [np.sqrt((weight * (a - b) ** 2).sum() / (weight * b**2).sum()) for a, b in pairs]
        )
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    # The orders of Q2-P1: three in displacement, two in stress (1.8 on the coarsest pair).
    assert (orders[:, 0] > 2.9).all()
    assert (orders[:, 1] > 1.75).all() and orders[1, 1] > 1.9


def test_condensed_solid_is_the_whole_one():
    solid = block([0, 1, 2, 4], [0, 1, 3, 4, 6], [0, 1, 2])
    strains = Strains(solid)
    stiffness = strains.stiffness(MATERIAL.tensor)
    kept = np.sort(solid.surface_freedoms[2:5, 3:6].ravel())
    condensed = Condensation(solid, stiffness, kept)
    load = np.random.default_rng(1).normal(size=solid.size)
    reduced, rest = condensed.reduce(load)
    found = condensed.expand(np.linalg.solve(condensed.matrix, reduced), rest)
    whole = spsolve(assembled(solid, stiffness), load)
    assert found == pytest.approx(whole, rel=1e-9, abs=1e-12)
    # The stresses balance the load, and so does what `forces` makes of them.
    stress = strains.strains(found) @ MATERIAL.tensor
    assert strains.forces(stress) == pytest.approx(load, abs=1e-10)


def test_stresses_at_nodes_of_a_linear_field_are_exact():
    solid = block(LINES, LINES, LINES, distorted)
    # Linear in the reference coordinates of undistorted elements.
    plain = block(LINES, LINES, LINES)
    values = plain.points @ np.array([1.0, -2.0, 0.5])
    assert plain.at_nodes(values) == pytest.approx(plain.nodes @ [1.0, -2.0, 0.5], abs=1e-12)
    constant = solid.at_nodes(np.full(values.shape, 3.0))
    assert constant == pytest.approx(np.full(constant.shape, 3.0), abs=1e-12)
