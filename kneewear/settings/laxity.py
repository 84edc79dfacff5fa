"""Settings of studies of laxity: how a design resists displacement under load."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from kneewear.settings.cases import Levels
from kneewear.settings.contact_characterisation import Flexion
from kneewear.settings.designs import DesignStudy
from kneewear.settings.faults import fault
from kneewear.settings.types import Positive, Settings

Friction = Annotated[float, Field(ge=0, le=1)]
Free = Literal[
    "anterior_posterior",
    "superior_inferior",
    "medial_lateral",
    "varus_valgus",
    "internal_external",
]


class LaxityTestSettings(Settings):
    """One test: the driven coordinate's amplitude and the force whose position is reported."""

    amplitude: Positive
    end_load: Positive


class LaxitySettings(Settings):
    """Laxity tests, after ASTM F1223: flexions, axial load, friction, and amplitudes."""

    flexion_deg: Annotated[tuple[Flexion, ...], *Levels]
    load_n: Positive
    friction: Annotated[tuple[Friction, ...], *Levels]
    speed_mm_per_s: Positive
    steps: int = Field(ge=4, le=500)
    free: tuple[Free, ...]
    anterior_posterior: LaxityTestSettings | None
    medial_lateral: LaxityTestSettings | None
    internal_external: LaxityTestSettings | None
    varus_valgus: LaxityTestSettings | None
    distraction: LaxityTestSettings | None

    @property
    def tests(self) -> dict[str, LaxityTestSettings]:
        """Tests that are done, by their names."""
        every = {name: getattr(self, name) for name in TESTS}
        return {name: test for name, test in every.items() if test is not None}

    @model_validator(mode="after")
    def _tests_something(self) -> LaxitySettings:
        if not self.tests:
            raise fault("no test", f"at least one of {', '.join(TESTS)}", "Give one.")
        return self

    @model_validator(mode="after")
    def _carries_its_load(self) -> LaxitySettings:
        if "superior_inferior" not in self.free:
            raise fault(
                f"free: {', '.join(self.free) or 'nothing'}",
                "superior_inferior among them; at a held height the axial load has no effect",
                "Add superior_inferior.",
            )
        return self


TESTS = (
    "anterior_posterior", "medial_lateral", "internal_external", "varus_valgus", "distraction",
)  # fmt: skip


class LaxityStudy(DesignStudy):
    """Forces and moments against displacements of designs under load."""

    kind: Literal["laxity"]
    laxity: LaxitySettings

    @property
    def flexions_deg(self) -> tuple[float, ...]:
        """Flexion angles that are tested, deg."""
        return self.laxity.flexion_deg
