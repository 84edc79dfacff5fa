"""Motions that a run tries on the bearing, as the check of its inputs does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

from kneewear.activity.settings import prescribes_motion
from kneewear.study.files import directions_are_stated
from kneewear.study.models import Model
from kneewear.study.trials import tried_cases


class TriedMotions:
    """Motions of a study that are tried, with their cases and tables (rules/motions.smk)."""

    # Its properties are those of one kind of study.
    study: Any
    root: str
    model: Model
    results: str
    at_dwell_pose: Sequence[str]

    @cached_property
    def tried(self) -> list[dict[str, Any]]:
        """Cases with which motions are tried on the bearing; none where cases have no motions."""
        return list(map(asdict, tried_cases(self.study.preflight_cases())))

    @cached_property
    def placed(self) -> list[str]:
        """Motions whose place on the bearing is not known beforehand.

        From files, at the dwell pose, on meshes, or of a model that moves the insert as well.
        """
        return [
            name
            for name, block in self.study.simulated_activities().items()
            if self.tried
            and (
                block.source == "file"
                or name in self.at_dwell_pose
                or self.study.implant.source == "meshes"
                or self.tried_study is not None
            )
        ]

    @cached_property
    def signed(self) -> list[str]:
        """Motions from files whose signs may be wrong; forces have none to try."""
        blocks = self.study.simulated_activities().items()
        return [name for name, block in blocks if self.tried and prescribes_motion(block)]

    @cached_property
    def tried_study(self) -> dict[str, Any] | None:
        """Settings of a study whose model computes the contact of tried cases itself."""
        return self.study.computed() if self.model.modules("try_cases") else None

    @cached_property
    def centre(self) -> dict[str, Any]:
        """Case with which signs are tried."""
        return asdict(self.study.preflight_cases()[0])

    @property
    def placements(self) -> list[str]:
        """Tables of the motions that are tried on the bearing, which the page shows."""
        folder = f"{self.results}/simulation"
        return [
            *(f"{folder}/{name}/signs.csv" for name in self.signed),
            *(f"{folder}/{name}/placement.csv" for name in self.placed),
        ]

    def reference(self, activity: str) -> float | None:
        """Largest posterior position that is expected of a signed motion, mm, if it is known."""
        motion = getattr(self.study.activities.get(activity), "motion", None)
        given = getattr(motion, "reference_posterior_mm", None)
        return given if activity in self.signed else None

    def states_directions(self, activity: str) -> bool:
        """True if the titles of a motion's file state the directions that the settings use."""
        return activity in self.signed and directions_are_stated(self.study, activity, self.root)
