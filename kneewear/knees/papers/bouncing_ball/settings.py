"""Settings of the bouncing ball."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from kneewear.base.ranges import Range
from kneewear.base.types import Finite, Positive, Settings, quantity
from kneewear.knees.papers.point_contact.ranges import (
    CONDYLE_RADIUS,
    FALL,
    GRAVITY,
    INERTIA,
    OUTPUT_STEP,
)
from kneewear.knees.papers.point_contact.settings import (
    BLOCK,
    BLOCKS,
    SAMPLES,
    Blocks,
    Samples,
    require_middle,
)

_LENGTH = Range("mm", 0.1, 5, 500, 5000, "Gap of 10 to 16 mm over 200 mm of ground")
_MASS = Range("kg", 1e-4, 0.01, 10, 1000, "0.092 (Machado, section 6.5.1)")
_SPEED = Range("mm/s", -1e4, -1000, 1000, 1e4, "150 (Machado, section 6.5.1)")
_STIFFNESS = Range(
    "N/mm^1.5", 0.1, 10, 1e7, 1e9, "173925, printed as 5.5e9 N/m^1.5 (Machado, section 6.5.1)"
)


class BallSettings(Settings):
    """A ball, and its start over the ground."""

    mass_kg: Positive = quantity("Mass.", _MASS)
    inertia_kg_m2: Positive = quantity("Moment of inertia about its centre.", INERTIA)
    radius_mm: Positive = quantity("Radius.", CONDYLE_RADIUS)
    gap_mm: Positive = quantity("Gap to the ground at the start.", _LENGTH)
    speed_mm_per_s: Finite = quantity("Horizontal speed, along y.", _SPEED)


class GroundSettings(Settings):
    """A rectangle of the plane z = 0."""

    length_mm: Positive = quantity("Length along y; the ball starts a tenth of it inside.", _LENGTH)
    width_mm: Positive = quantity("Width along x; the ball starts in the middle.", _LENGTH)
    samples: Samples = quantity("Samples of its table along x and along y.", SAMPLES)
    block: Samples = quantity(
        "Samples of a block of its table along x and along y.",
        BLOCK,
    )


class WindowSettings(Settings):
    """Blocks in memory of a storage window, along u and v; odd and 3 or more, or all."""

    ball: Blocks = quantity("Blocks of the ball's table, along colatitude and longitude.", BLOCKS)
    ground: Blocks = quantity("Blocks of the ground's table, along x and y.", BLOCKS)


class BouncingBallSettings(Settings):
    """A ball on a plane, by lookup tables of both (Machado thesis, section 6.5.1)."""

    model: Literal["bouncing_ball"] = Field(description="This model: a ball on a plane.")
    duration_s: Positive = quantity("Duration of the motion.", FALL)
    output_step_s: Positive = quantity("Time between two rows while apart.", OUTPUT_STEP)
    gravity_mm_per_s2: Positive = quantity("Acceleration downwards (minus z).", GRAVITY)
    stiffness_n_per_mm1_5: Positive = quantity("Stiffness of Hertz's law.", _STIFFNESS)
    ball: BallSettings = Field(description="The ball.")
    ground: GroundSettings = Field(description="The ground.")
    samples: Annotated[tuple[Samples, ...], Field(min_length=1)] = quantity(
        "Samples of the ball's table along colatitude and longitude that are compared; the first "
        "is the usual one.",
        SAMPLES,
    )
    ball_blocks: Samples = quantity(
        "Blocks of the ball's table along each parameter.",
        Range("1", 4, 4, 50, 500, "9 (Machado, Table 6.3)"),
    )
    windows: Annotated[tuple[WindowSettings, ...], Field(min_length=1)] = Field(
        description="Storage windows that are compared; the last is drawn."
    )
    files: ClassVar[dict[str, str]] = {}

    @model_validator(mode="after")
    def _windows_have_a_middle(self) -> BouncingBallSettings:
        ground = -(-self.ground.samples // self.ground.block)
        for number, window in enumerate(self.windows):
            for name, sizes, whole in (
                ("ball", window.ball, self.ball_blocks),
                ("ground", window.ground, ground),
            ):
                require_middle(f"windows[{number}].{name}", sizes, whole)
        return self


SETTINGS = BouncingBallSettings
