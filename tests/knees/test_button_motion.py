"""Motion of the femoral component on a button, from the poses of bodies."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from kneewear.knees.components import PATELLA, button_motion
from kneewear.mechanics.coordinates import OF_PATELLA
from kneewear.mechanics.rotations import body_three_123

# Tilt, rotation and flexion, deg, and position proximal, posterior and lateral, mm, of each frame.
ANGLES = np.array([[1.0, -2.0, 10.0], [3.0, 4.0, 50.0], [-1.0, 0.5, 90.0]])
PLACES = np.array([[2.0, 28.0, -1.0], [5.0, 27.0, 0.5], [9.0, 26.0, 1.5]])
FEMORAL = body_three_123(np.array([0.1, -0.2, 0.3]))
ORIGIN = np.array([4.0, -5.0, 6.0])
BUTTON = body_three_123(np.array([-0.3, 3.0, 0.2]))
MIDDLE = np.array([1.0, 2.0, -3.0])


def poses_of(frame):
    """Poses of femur (at rest), tibia and patella at which the button has the place of a frame."""
    turn = OF_PATELLA.T @ body_three_123(np.radians(ANGLES[frame])) @ OF_PATELLA
    rotation = FEMORAL @ turn.T @ BUTTON.T
    place = OF_PATELLA.T @ PLACES[frame]
    translation = ORIGIN - rotation @ (BUTTON @ place + MIDDLE)
    rest = np.eye(3), np.zeros(3)
    turns, origins = zip(rest, rest, (rotation, translation), strict=True)
    return SimpleNamespace(rotation=np.array(turns), translation=np.array(origins))


def test_table_has_the_poses_there_and_back():
    placements = {"femur.component": (FEMORAL, ORIGIN), "patella.button": (BUTTON, MIDDLE)}
    components = SimpleNamespace(femoral="femur.component", button="patella.button")
    settings = SimpleNamespace(components=components, button_contact="trochlea")
    system = SimpleNamespace(poses=poses_of, names=("femur", "tibia", "patella"))
    wrench = np.array([3.0, 4.0, 0.0, 9.0, 9.0, 9.0])
    found = [{"trochlea": SimpleNamespace(wrench=wrench * n)} for n in (1, 2, 3)]
    table = button_motion(system, placements, settings, range(3), found)
    np.testing.assert_allclose(table["percent"], [0.0, 25.0, 50.0, 75.0])
    order = [0, 1, 2, 1]
    expected = np.column_stack(
        [ANGLES[order][:, [2, 0, 1]], PLACES[order][:, [0, 2]], 5.0 * (np.array(order) + 1)]
    )
    np.testing.assert_allclose(table[list(PATELLA)], expected, atol=1e-9)
