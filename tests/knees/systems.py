"""A system of three bodies that everything acts on, for tests."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from kneewear.knees.tissue.bundles import Bundles
from kneewear.mechanics.loads import Load
from kneewear.mechanics.rigid_body import solid_body
from kneewear.mechanics.tension_laws import quadratic_to_linear
from kneewear.motion.actions import Contact, skew
from kneewear.motion.system import BODY_THREE, FLEXION_FIRST, Body, System


class Cushion:
    """A point of the moving body held by a stiffening spring and a damper of the fixed body."""

    point = np.array([5.0, -3.0, 8.0])

    def evaluate(self, rotation, translation, velocity=None):
        arm = rotation @ self.point
        place = translation + arm
        to_place = np.hstack([np.eye(3), -skew(arm)])
        cubic = 1e-2
        force = -(20.0 + cubic * (place @ place)) * place
        slope = -(20.0 + cubic * (place @ place)) * np.eye(3) - 2.0 * cubic * np.outer(place, place)
        over = slope @ to_place
        damping = np.zeros((3, 6))
        if velocity is not None:
            resisting = -0.3
            drift = velocity[:3] + np.cross(velocity[3:], arm)
            force = force + resisting * drift
            damping = resisting * to_place
            over[:, 3:] += resisting * skew(velocity[3:]) @ -skew(arm)
        stiffness = np.vstack([over, skew(arm) @ over])
        # The arm turns along: (s x r) x f.
        stiffness[3:, 3:] += skew(force) @ skew(arm)
        energy = 10.0 * (place @ place) + 0.25 * cubic * (place @ place) ** 2
        return SimpleNamespace(
            wrench=np.concatenate([force, np.cross(arm, force)]),
            stiffness=stiffness,
            damping=np.vstack([damping, skew(arm) @ damping]),
            energy=energy,
        )


def example(damped=False):
    """Femur at rest, tibia and patella of two conventions, bundles, contact and loads."""
    random = np.random.default_rng(5)
    bodies = ("femur", "tibia", "patella")
    ends = [("femur", "tibia"), ("femur", "patella"), ("patella", "tibia"), ("tibia", "femur")]
    paths = tuple(tuple((body, random.normal(0.0, 25.0, 3)) for body in pair) for pair in ends * 3)
    law = quadratic_to_linear(np.full(12, 15.0), 400.0, damping_time=0.01 if damped else 0.0)
    bundles = Bundles(tuple(f"b{n}" for n in range(12)), bodies, paths, law)
    return System(
        "femur",
        (
            Body("tibia", FLEXION_FIRST, solid_body(2e-3, [60.0, 30.0, 62.0], [3.0, -40.0, 2.0])),
            Body("patella", BODY_THREE, solid_body(1e-4, [12.0, 15.0, 11.0], [1.0, 0.0, 0.5])),
        ),
        {
            "ligaments": bundles,
            "bearing": Contact("tibia", "femur", Cushion(), has_rate=damped),
            "patellofemoral": Contact("femur", "patella", Cushion(), has_rate=damped),
            "patellar": Contact("patella", "tibia", Cushion(), has_rate=damped),
            "pull": Load((10.0, 60.0, -3.0), point=(2.0, 15.0, 1.0), body="patella"),
            "weight": Load((0.0, -20.0, 5.0), (30.0, 0.0, 9.0), frame="moving", body="tibia"),
        },
    )


START = np.array([4.0, -30.0, 3.0, 0.5, -0.1, 0.2, 40.0, 5.0, -2.0, 0.1, -0.2, -0.4])
