"""Compilation of the kernels ahead of the jobs that need them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import llvmlite.binding
import numba
import numpy as np

from kneewear.compilation import can_cache, kernel_folder
from kneewear.contact import _kernels
from kneewear.contact.foundation import ElasticLayer, SmallStrain
from kneewear.contact.pair import ContactPair
from kneewear.errors import ConvergenceError
from kneewear.geometry.distance_tabulation import build_distance_table
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant import Implant
from kneewear.geometry.primitives import cylinder, plate
from kneewear.geometry.table import tabulate_surface
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rigid_body import solid_body
from kneewear.sides import SIDES
from kneewear.simulation._equilibrium_kernels import Loading
from kneewear.simulation._sliding_kernels import dissipate
from kneewear.simulation.component import contact_model
from kneewear.simulation.cycle import CycleBoundaryConditions
from kneewear.simulation.equilibrium import solve_equilibrium
from kneewear.simulation.forward import Integrator, solve_forward
from kneewear.simulation.static import solve_static


def compile_kernels(code: str) -> None:
    """Compile every kernel of the chain once, by pressing two small plates together.

    Later processes load the compiled code from the cache, so jobs that fan out afterwards do not
    compile side by side. A record in the cache states for which version `code` of this module and
    its rooms, numba and processor it is complete: then nothing is done, in any directory.
    """
    record = _record(code)
    if record.is_file():
        return
    _call_kernels()
    if can_cache():
        record.touch()


def _record(code: str) -> Path:
    """File that exists once the kernels of a version of the code are in the cache."""
    host = llvmlite.binding
    parts = (
        code,
        numba.__version__,
        host.get_host_cpu_name(),
        host.get_host_cpu_features().flatten(),
    )
    return kernel_folder() / f"complete-{hashlib.sha256(repr(parts).encode()).hexdigest()[:12]}"


def _call_kernels() -> None:
    """Call every kernel of the chain with arguments of the types of the jobs."""
    upright, lowered = np.eye(3), np.array([0.0, -0.1, 0.0])
    plates = {
        side: plate((-5.0, 5.0), (middle - 5.0, middle + 5.0))
        for side, middle in zip(SIDES, (8.0, -8.0), strict=True)
    }
    implant = Implant(
        name="plates",
        femoral={side: surface.reversed_normal() for side, surface in plates.items()},
        insert=plates,
        underside=-8.0,
        nominal_thickness=8.0,
    )
    grid = build_grid(implant, rows=4, columns=4)
    pairs = [
        ContactPair(grid, number, condyle, tabulate_surface(condyle, 5, 5))
        for number, condyle in enumerate(implant.femoral.values())
    ]
    layers = [ElasticLayer(SmallStrain(1.0), np.ones(pair.index.size)) for pair in pairs]
    contact = pairs[0]
    assert contact.evaluate(upright, lowered, layers[0]).contact_area >= 0.0
    contact.gap(upright, lowered)
    _move(pairs, layers)
    build_distance_table(cylinder(20.0, 5.0), wanted_error=0.1)
    every = np.arange(contact.index.size)
    plane, one = np.zeros((1, 2)), np.ones(1)
    dissipate(one, np.zeros((1, 3)), plane, one, np.zeros(3), 1.0, np.empty(3), np.empty((3, 3)))
    _kernels.slide(
        contact.centre[every],
        contact.tangent_row[every],
        contact.tangent_column[every],
        *(upright, lowered) * 3,
        np.empty((contact.index.size, 2)),
    )


def _move(pairs: Sequence[ContactPair], layers: Sequence[ElasticLayer]) -> None:
    """Call the kernels of equilibria and of motion once; the results do not matter."""
    load = Load([0.0, -1.0, 0.0])
    conditions = CycleBoundaryConditions(np.zeros((3, 6)), 1e-3, ["y"], [load])
    body = solid_body(1.0, np.ones(3), np.zeros(3))
    with suppress(ConvergenceError):
        solve_static(pairs, layers, (np.zeros(3), np.zeros(3)), ["y"], loads=[load])
    with suppress(ConvergenceError):
        solve_forward(pairs, layers, body, conditions, Integrator())
    with suppress(ConvergenceError):
        loading = Loading(1.0, 0.5, True, 0.0, 0.0, 0.0, False)
        solve_equilibrium(contact_model(pairs, layers), pairs, np.zeros(6), loading, 1e-3, 0)
