"""Drop a femoral component onto its insert with the integrator of another library.

The contact of kneewear is one function of pose and velocity, so any multibody program can use it.
Here SciPy's `solve_ivp` integrates a free rigid body of six degrees of freedom under a vertical
load; the knee enters only through the wrench of the contact evaluation.

    python examples/drop_component.py
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from kneewear import default_study
from kneewear.contact.foundation import ElasticLayer, SmallStrain, confined_modulus
from kneewear.contact.pair import ContactModel, ContactPair
from kneewear.contact.traction import Damping, Friction
from kneewear.geometry.grid import build_grid
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.table import tabulate_surface

# Inside kneewear lengths are mm, forces N and times s, so masses are tonnes.
MASS = 0.4e-3
INERTIA = np.diag([0.25, 0.25, 0.2])  # about the component's origin, tonne mm2
LOAD = np.array([0.0, -500.0, 0.0])  # N, at the origin; its weight is small in comparison
START = np.array([0.0, 28.7, 0.0])  # mm, half a millimetre above the insert
DURATION = 0.05  # s


def prepare_contact() -> ContactModel:
    """The default implant, both condyles, with friction and damping."""
    implant, _ = build_implant(default_study().implant)
    grid = build_grid(implant, 30, 30)
    law = SmallStrain(confined_modulus(youngs_modulus=463.0, poisson_ratio=0.46))
    pairs, layers = {}, {}
    for number, (side, condyle) in enumerate(implant.femoral.items()):
        pairs[side] = ContactPair(
            grid,
            number,
            condyle,
            tabulate_surface(condyle, 121, 61),
            friction=Friction(0.08, 0.06, 2.0),
            damping=Damping(0.02),
        )
        layers[side] = ElasticLayer(law, grid.thickness[number].ravel()[pairs[side].index])
    return ContactModel(pairs, layers)


def motion(time: float, state: np.ndarray, contact: ContactModel) -> np.ndarray:
    """Rate of position, quaternion, velocity and angular velocity (Newton and Euler)."""
    translation, quaternion, velocity, spin = np.split(state, [3, 7, 10])
    rotation = Rotation.from_quat(quaternion).as_matrix()
    wrench = contact.evaluate(rotation, translation, np.concatenate([velocity, spin])).wrench
    inertia = rotation @ INERTIA @ rotation.T
    turning = np.linalg.solve(inertia, wrench[3:] - np.cross(spin, inertia @ spin))
    x, y, z, w = quaternion
    rates = 0.5 * np.array([[w, z, -y], [-z, w, x], [y, -x, w], [-x, -y, -z]]) @ spin
    return np.concatenate([velocity, rates, (wrench[:3] + LOAD) / MASS, turning])


def drop_component(contact: ContactModel) -> tuple[np.ndarray, np.ndarray]:
    """Times, s, and states, one row per time."""
    start = np.concatenate([START, [0.0, 0.0, 0.0, 1.0], np.zeros(6)])
    found = solve_ivp(
        motion, (0.0, DURATION), start, "LSODA", args=(contact,), rtol=1e-6, atol=1e-8
    )
    return found.t, found.y.T


def main() -> None:
    """Drop the component, and report where it comes to rest."""
    contact = prepare_contact()
    time, states = drop_component(contact)
    last = states[-1]
    result = contact.evaluate(Rotation.from_quat(last[3:7]).as_matrix(), last[:3], last[7:])
    print(f"{time.size} steps; at {1e3 * time[-1]:.0f} ms the component is {last[1]:.4f} mm high")
    for side, part in result.items():
        print(
            f"{side}: {-part.force[1]:.1f} N on {part.active_elements} elements, peak "
            f"{part.max_pressure:.2f} MPa, {part.contact_area:.1f} mm2"
        )


if __name__ == "__main__":
    main()
