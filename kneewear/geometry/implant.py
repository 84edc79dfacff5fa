"""The joint: bearing surfaces of femoral component and insert, or of a natural knee's cartilage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kneewear.base.sides import POST, SIDES
from kneewear.geometry.coverage import Coverage
from kneewear.geometry.surface import Surface
from kneewear.geometry.thickness import Underside


@dataclass(frozen=True)
class InsertLayer:
    """The bone under the cartilage of one body of a natural knee.

    `bone` are the subchondral surfaces by side, in the body's frame, normals pointing out of the
    bone; `limits` the minimum and maximum thickness, mm, to which measured values are clipped.
    `coverage` states by side where the bone of a tibia was measured (None: everywhere), `points`
    (n, 3), mm, are on it. `beyond` is what cartilage without bone under its normal gets: the
    distance to the "nearest" of these, or no layer ("leave_out"). `along` is the line on which
    thickness is measured: the "shortest" distance, or the cartilage's "normal".
    """

    bone: Mapping[str, Surface]
    limits: tuple[float, float]
    coverage: Mapping[str, Coverage] | None = None
    points: NDArray[np.float64] | None = None
    beyond: str = "nearest"
    along: str = "shortest"

    def normal(self, cartilage: Surface, points: NDArray[np.float64]) -> Any:
        """Normals at points (n, 3) of the cartilage, (n, 3); None for the shortest distance."""
        return cartilage.closest_points(points)[3] if self.along == "normal" else None


@dataclass(frozen=True)
class CamAndPost:
    """The third pair of surfaces of a posterior-stabilised implant.

    The cam is a bar between the condyles (femoral frame), the post the back of the insert's post
    (insert's frame), both with outward normals; `front` is the position x of the post's flat front,
    mm.
    """

    cam: Surface
    post: Surface
    front: float


@dataclass(frozen=True)
class Implant:
    """Bearing surfaces of a total knee replacement or of a natural knee, as a right knee.

    `femoral` and `insert` are condyles and plateaus by side (one side of a unicompartmental
    implant), in the frames of their components,
    normals pointing out of the material (metal, polyethylene or cartilage). `underside` is that of
    the insert, to which the local thickness is measured vertically: the height of a flat one in the
    insert's frame, mm, or a plane or mesh; not used in a natural knee. `nominal_thickness` is the
    minimum thickness by which the implant is specified, mm; `left` is True when the user's knee is
    a left one (mirrored on reading; inside it is a right knee). `coverage` states by side where a
    plateau exists when its patch reaches beyond it; everywhere when absent. `femoral_layer` and
    `insert_layer` are the subchondral surfaces of a natural knee: both or none, or a ValueError is
    raised. `cam_and_post` is the third pair of a posterior-stabilised implant.
    """

    name: str
    femoral: Mapping[str, Surface]
    insert: Mapping[str, Surface]
    underside: float | Underside
    nominal_thickness: float
    left: bool = False
    coverage: Mapping[str, Coverage] | None = None
    femoral_layer: InsertLayer | None = None
    insert_layer: InsertLayer | None = None
    cam_and_post: CamAndPost | None = None

    def __post_init__(self) -> None:
        if (self.femoral_layer is None) != (self.insert_layer is None):
            bodies = ("tibia", "femur")
            given, missing = bodies if self.femoral_layer is None else bodies[::-1]
            raise ValueError(
                f"the {given} has a subchondral surface and the {missing} has none; give both for "
                "a natural knee, none for an artificial one"
            )

    @property
    def natural(self) -> bool:
        """True if both bodies carry cartilage."""
        return self.insert_layer is not None

    @property
    def plateaus(self) -> tuple[str, ...]:
        """Names of the plateaus that there are."""
        return tuple(side for side in SIDES if side in self.insert)

    @property
    def sides(self) -> tuple[str, ...]:
        """Names of the bearings: of the plateaus that there are, and the post if any."""
        return self.plateaus if self.cam_and_post is None else (*self.plateaus, POST)

    def indenter(self, side: str) -> Surface:
        """Surface of the femoral component that meets the insert on one of the `sides`."""
        if side == POST and self.cam_and_post is not None:
            return self.cam_and_post.cam
        return self.femoral[side]
