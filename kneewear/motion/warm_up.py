"""Compilation of the kernels ahead of the jobs that need them.

As a program, `python -m kneewear.motion.warm_up contact` compiles one part.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import llvmlite.binding
import numpy as np

from kneewear.base.kernel_cache import can_cache, kernel_folder
from kneewear.base.sides import SIDES
from kneewear.contact import _kernels
from kneewear.contact._coupling_kernels import press_pair
from kneewear.contact._force_kernels import RESULT
from kneewear.contact._update_kernels import press_updated
from kneewear.contact.foundation import CoupledLayer, ElasticLayer, SmallStrain
from kneewear.contact.influence import flat_influence
from kneewear.contact.material import Elastic, Hardening
from kneewear.contact.pair import ContactModel, ContactPair, empty_model
from kneewear.contact.slabs import SlabWindow
from kneewear.contact.yielding import PlasticSlabs
from kneewear.errors import ConvergenceError
from kneewear.geometry.distance_tabulation import build_distance_table
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant import Implant
from kneewear.geometry.primitives import cylinder, plate
from kneewear.geometry.table import tabulate_surface
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rigid_body import solid_body
from kneewear.motion._equilibrium_kernels import Loading, balance_sides
from kneewear.motion._kernels import carried_parts
from kneewear.motion.component import component_system
from kneewear.motion.cycle import CycleBoundaryConditions
from kneewear.motion.forward import Integrator, solve_forward
from kneewear.motion.static import solve_static


def compile_contact() -> None:
    """Compile the kernels of contact, by pressing two small plates together, and of tables."""
    upright, lowered = np.eye(3), np.array([0.0, -0.1, 0.0])
    contact = _plates()
    layer = ElasticLayer(SmallStrain(1.0), np.ones(contact.index.size))
    pairs, layers = {"one": contact, "other": contact}, {"one": layer, "other": layer}
    assert ContactModel(pairs, layers).evaluate(upright, lowered)["one"].contact_area >= 0.0
    contact.gap(upright, lowered)
    build_distance_table(cylinder(20.0, 5.0), wanted_error=0.1)
    every = np.arange(contact.index.size)
    _kernels.slide(
        contact.centre[every],
        contact.tangent_row[every],
        contact.tangent_column[every],
        *(upright, lowered) * 3,
        np.empty((contact.index.size, 2)),
    )


def compile_motion() -> None:
    """Compile the kernels of equilibria and of motion."""
    load = Load([0.0, -1.0, 0.0])
    conditions = CycleBoundaryConditions(np.zeros((3, 6)), 1e-3, ["y"], [load])
    body = solid_body(1.0, np.ones(3), np.zeros(3))
    with suppress(ConvergenceError):
        solve_static([], [], (np.zeros(3), np.zeros(3)), ["y"], loads=[load])
    with suppress(ConvergenceError):
        solve_forward([], [], body, conditions, Integrator())
    carried_parts(component_system([], [], [load]).record, 0.1, np.zeros(1))
    loading = Loading(1.0, 0.5, True, 0.0, 0.0, 0.0, False)
    unlimited = np.array([-np.inf, np.inf])
    balance_sides(empty_model(), np.zeros(2, RESULT), np.zeros(6), loading, unlimited, 1e-3, 1)


def compile_layers() -> None:
    """Compile the kernels of coupled layers, fresh and dented, and of layers that yield."""
    pair = _plates()
    influence = flat_influence(pair.cells.area.shape, (1.0, 1.0), 1.0, 1.0, 0.3)
    layer = CoupledLayer(SmallStrain(1.0), np.ones(pair.index.size), influence)
    press_pair(pair.prepare(layer).record, np.eye(3), np.zeros(6), False, False)
    sinking = pair.sinkable()
    press_updated(sinking.prepare(layer).record, np.eye(3), np.zeros(6), False, False)
    material = Elastic(1.0, 0.3)
    window = SlabWindow((2, 2), (1.0, 1.0), 1.0, material, single=True, ends=((0.0, 0.0),) * 2)
    slabs, pressure = PlasticSlabs(window, Hardening((0.0,), (1.0,))), np.ones(window.shape)
    fresh = slabs.fresh()
    waves = window.waves(fresh.strain)
    residual = window.deviator(pressure, waves)
    slabs.flow(pressure, fresh.strain, waves, fresh, residual)
    window.deflection_of(waves)


def _plates() -> ContactPair:
    """One of two small plates over the other."""
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
    condyle = implant.femoral[SIDES[0]]
    return ContactPair(grid, 0, condyle, tabulate_surface(condyle, 5, 5))


# About as long each; in processes of their own they compile side by side.
PARTS: dict[str, Callable[[], None]] = {
    "contact": compile_contact,
    "layers": compile_layers,
    "motion": compile_motion,
}


def compile_kernels(code: str, further: Iterable[Callable[[], None]] = ()) -> None:
    """Compile every kernel of the chain once, and `further` ones.

    Later processes load the compiled code from the cache, so jobs that fan out afterwards do not
    compile side by side. A record in the cache states for which version `code` of this module and
    its rooms, numba and processor it is complete: then nothing is done, in any directory. On
    several cores the parts are compiled at the same time.
    """
    record = _record(code)
    if record.is_file():
        return
    if (os.cpu_count() or 1) > 1 and can_cache():
        with ThreadPoolExecutor(len(PARTS)) as pool:
            list(pool.map(_compile_apart, PARTS))
    for compile_part in (*PARTS.values(), *further):
        compile_part()
    if can_cache():
        record.touch()


def _compile_apart(part: str) -> None:
    """Compile a part in a process of its own, which threads of one process cannot do faster.

    If it fails, this process compiles the part, and says why it cannot.
    """
    command = [sys.executable, "-m", "kneewear.motion.warm_up", part]
    own = {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(command, env=os.environ | own, capture_output=True, check=False)


def _record(code: str) -> Path:
    """File that exists once the kernels of a version of the code are in the cache."""
    host = llvmlite.binding
    parts = (
        code,
        version("numba"),
        host.get_host_cpu_name(),
        host.get_host_cpu_features().flatten(),
    )
    return kernel_folder() / f"complete-{hashlib.sha256(repr(parts).encode()).hexdigest()[:12]}"


if __name__ == "__main__":
    PARTS[sys.argv[1]]()
