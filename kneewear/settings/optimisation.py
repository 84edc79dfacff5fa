"""Settings of optimisation studies: variables with bounds, objectives, constraints, search."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from kneewear.settings.base import CaseStudy
from kneewear.settings.cases import OUTPUTS
from kneewear.settings.factors import Factor, check_factors
from kneewear.settings.faults import fault, fault_at, suggestion
from kneewear.settings.files import Location
from kneewear.settings.implant import GridSettings
from kneewear.settings.laxity import LaxitySettings
from kneewear.settings.types import Finite, Name, Removable, Settings

Goal = Literal["minimise", "maximise"]

# Mean stiffness over the flexions of a laxity test, at the lowest friction: the constraint that the
# bearing puts on the motion. By the name of the test.
STIFFNESS = {
    f"{test}_stiffness": test
    for test in ("anterior_posterior", "medial_lateral", "internal_external", "varus_valgus")
}
QUANTITIES = (*OUTPUTS, *STIFFNESS)
# Designs that are shown and exported beside the extremes of the front: the study's own settings,
# the compromise of several objectives, and the optimum of a single one.
AS_SET, KNEE_POINT, BEST = "as_set", "knee_point", "best"
FEWEST = 4


def quantity_unit(name: str) -> str:
    """Unit of one of `QUANTITIES`."""
    if name in OUTPUTS:
        return OUTPUTS[name]
    test = STIFFNESS[name]
    return "N m/deg" if test in ("internal_external", "varus_valgus") else "N/mm"


class LimitSettings(Settings):
    """Constraint of one result."""

    at_least: Finite | None = None
    at_most: Finite | None = None

    @model_validator(mode="after")
    def _limits_agree(self) -> LimitSettings:
        if self.at_least is None and self.at_most is None:
            raise fault("no limit", "at_least, at_most or both", "Give one, or remove the result.")
        if self.at_least is not None and self.at_most is not None and self.at_least > self.at_most:
            raise fault(
                f"at_least: {self.at_least:g}, at_most: {self.at_most:g}",
                "at_least up to at_most",
                "Exchange or correct the limits: no design fulfils both.",
            )
        return self


class OptimisationSettings(Settings):
    """What a search varies and minimises, and its number of generations and designs."""

    variables: Annotated[dict[Name, Factor], Field(min_length=1), Removable]
    objectives: Annotated[dict[str, Goal], Field(min_length=1), Removable]
    constraints: Annotated[dict[str, LimitSettings], Removable]
    population: int = Field(ge=FEWEST, le=10_000)
    generations: int = Field(ge=1, le=1000)
    shown: int = Field(ge=0, le=100)
    search_grid: GridSettings
    laxity: LaxitySettings | None

    @property
    def evaluations(self) -> int:
        """Designs that the search evaluates, at most."""
        return self.population * self.generations

    @property
    def quantities(self) -> tuple[str, ...]:
        """Results that objectives and constraints name, each once."""
        return tuple(dict.fromkeys([*self.objectives, *self.constraints]))

    @property
    def chosen(self) -> tuple[str, ...]:
        """Names of the designs that are shown and exported, the study's own settings first."""
        if len(self.objectives) == 1:
            return AS_SET, BEST
        ends = {"minimise": "lowest", "maximise": "highest"}
        extremes = [f"{ends[goal]}_{name}" for name, goal in self.objectives.items()]
        return (AS_SET, *extremes, KNEE_POINT)

    @model_validator(mode="after")
    def _variables_have_bounds(self) -> OptimisationSettings:
        for name, variable in self.variables.items():
            if variable.low is None:
                raise fault_at(
                    ("variables", name),
                    "no bounds",
                    "low and high, between which the search looks",
                    "Give both.",
                )
        return self

    @model_validator(mode="after")
    def _quantities_are_known(self) -> OptimisationSettings:
        named: list[tuple[Location, str]] = []
        named += [(("objectives", name), name) for name in self.objectives]
        named += [(("constraints", name), name) for name in self.constraints]
        for at, name in named:
            if name not in QUANTITIES:
                remedy = suggestion(name, QUANTITIES) or "Name one of these."
                raise fault_at(at, f"'{name}'", f"one of: {', '.join(QUANTITIES)}", remedy)
            test = STIFFNESS.get(name)
            if test is not None and (self.laxity is None or test not in self.laxity.tests):
                raise fault_at(
                    at,
                    f"{name} without the test {test}",
                    f"optimisation.laxity with {test}",
                    "Add it, as config/laxity.yaml has it, or remove the result.",
                )
        return self


class OptimisationStudy(CaseStudy):
    """Designs with the best compromises between several results, for one case and one life."""

    kind: Literal["optimisation"]
    optimisation: OptimisationSettings

    @property
    def reads_distance_tables(self) -> bool:
        """No: a table costs more than the cycles of a design."""
        return False

    @model_validator(mode="after")
    def _is_of_one_plain_case(self) -> OptimisationStudy:
        self.require_single("an optimisation", "config/optimisation.yaml", quasi_static=False)
        return self

    @model_validator(mode="after")
    def _variables_are_possible(self) -> OptimisationStudy:
        check_factors(self, self.optimisation.variables, ("optimisation", "variables"))
        return self

    def searched(self) -> OptimisationStudy:
        """The study as its search computes it: equilibria on the elements of `search_grid`."""
        simulation = self.simulation.model_copy(update={"analysis": "quasi_static"})
        grid = self.optimisation.search_grid
        return self.model_copy(update={"simulation": simulation, "grid": grid})

    def search_settings(self) -> dict[str, Any]:
        """Settings that decide the designs of a generation and their results, as `computed`.

        How many generations follow, and how the front is computed and shown, does not run them
        again.
        """
        settings = self.searched().computed()
        settings["optimisation"] |= {"generations": 1, "shown": 0}
        return settings

    def batches(self) -> dict[str, tuple[int, int]]:
        """First design of each job of a generation and the one after its last, by its batch."""
        count = self.optimisation.population
        size = self.job_size(count)
        starts = range(0, count, size)
        return {f"b{i:03d}": (one, min(one + size, count)) for i, one in enumerate(starts)}
