"""Plans: how the cases of a study follow from its variables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from math import prod
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, model_validator

from kneewear.base.cases import OUTPUTS
from kneewear.base.faults import fault, fault_at, suggestion
from kneewear.base.ranges import Range
from kneewear.base.types import FileName, Finite, Name, Positive, Removable, Settings, quantity
from kneewear.base.variables import Variable
from kneewear.geometry.settings import GridSettings
from kneewear.motion.rig_settings import LaxityTest, StiffnessSettings
from kneewear.study.models import Lazy

# Cases of the largest plan.
MAX_CASES = 1_000_000


def _power_of_two(samples: int) -> int:
    """Refuse numbers of samples for which a Sobol sequence is not balanced."""
    if samples & (samples - 1):
        lower = 1 << samples.bit_length() - 1
        raise fault(
            f"{samples} samples",
            "a power of two, for which the sequence is balanced",
            f"Take {lower} or {2 * lower}.",
        )
    return samples


Samples = Annotated[int, Field(ge=2, le=MAX_CASES)]
_SAMPLES = Range("1", 2, 8, 10_000, MAX_CASES, "More than coefficients of a response surface")
BalancedSamples = Annotated[Samples, AfterValidator(_power_of_two)]


class Plan(Settings, ABC):
    """Base of all plans."""

    plan: str = Field(description="How the cases follow from the variables.")
    maps: bool = Field(
        default=False,
        description="Whether damage and contact of every case are kept as maps, which needs cases "
        "on the same elements; otherwise a case has a row of results.",
    )

    @abstractmethod
    def case_count(self, variables: Mapping[str, Variable]) -> int | None:
        """Number of cases; None where a file states it."""

    def check_variables(self, variables: Mapping[str, Variable]) -> None:
        """Refuse variables that the plan cannot have, as of `fault_at`."""

    @property
    def files(self) -> tuple[str, ...]:
        """Files of cases, as the settings give them."""
        return ()

    def cases_at_once(self, count: int) -> int:
        """Cases of `count` in all that can be computed before results of others are known."""
        return count


class Factorial(Plan):
    """All combinations of the levels of all variables; the last variable varies fastest."""

    plan: Literal["factorial"] = Field(description="All combinations of levels.")
    maps: bool = Field(default=True, description="As of the other plans.")

    def case_count(self, variables: Mapping[str, Variable]) -> int:
        """Product of the numbers of levels."""
        return prod(len(variable.level_values) for variable in variables.values())


class LatinHypercube(Plan):
    """Samples that cover the range of every variable evenly.

    McKay, Beckman and Conover 1979, Technometrics 21, 239-245 (from memory).
    """

    plan: Literal["latin_hypercube"] = Field(description="Latin hypercube.")
    samples: Samples = quantity("Number of samples.", _SAMPLES)

    def case_count(self, variables: Mapping[str, Variable]) -> int:
        """The samples."""
        return self.samples


class SobolSequence(Plan):
    """A scrambled Sobol sequence (Sobol 1967, Owen 1998; from memory)."""

    plan: Literal["sobol"] = Field(description="Scrambled Sobol sequence.")
    samples: BalancedSamples = quantity("Number of samples, a power of two.", _SAMPLES)

    def case_count(self, variables: Mapping[str, Variable]) -> int:
        """The samples."""
        return self.samples


class MonteCarlo(Plan):
    """Independent random samples after a case without changes."""

    plan: Literal["monte_carlo"] = Field(description="Independent random samples.")
    samples: Samples = quantity("Number of samples.", _SAMPLES)

    def case_count(self, variables: Mapping[str, Variable]) -> int:
        """The samples and the nominal case."""
        return 1 + self.samples


class OneAtATime(Plan):
    """Each variable a standard deviation lower and higher, after a case without changes."""

    plan: Literal["one_at_a_time"] = Field(description="One variable after the other.")

    def case_count(self, variables: Mapping[str, Variable]) -> int:
        """Two cases per variable and the nominal case."""
        return 1 + 2 * len(variables)


class VarianceBased(Plan):
    """Blocks of samples for variance-based indices, after a case without changes.

    Saltelli et al. 2010, Computer Physics Communications 181, 259-270.
    """

    plan: Literal["variance_based"] = Field(description="Samples for variance-based indices.")
    samples: BalancedSamples = quantity("Number of samples, a power of two.", _SAMPLES)

    def case_count(self, variables: Mapping[str, Variable]) -> int:
        """The nominal case, and in each block one more than there are variables, and one."""
        return 1 + self.samples * (len(variables) + 2)


class TablePlan(Plan):
    """Rows of a file; variables that it has no column for are combined with every row."""

    plan: Literal["table"] = Field(description="Rows of a file.")
    file: FileName = Field(description="CSV file with a header; a column `case` names the rows.")
    labels: tuple[Name, ...] = Field(
        default=(), description="Columns of the file that change no setting."
    )

    @property
    def files(self) -> tuple[str, ...]:
        """The file."""
        return (self.file,)

    def case_count(self, variables: Mapping[str, Variable]) -> None:
        """The file states it."""
        return


def _no_maps(maps: bool) -> bool:
    """Refuse maps of plans whose cases are planned while they are computed."""
    if maps:
        raise fault("true", "false for this plan: its results are table rows", "Remove it.")
    return maps


def _check_bounds(variables: Mapping[str, Variable], *needed: str) -> None:
    """Refuse a search without variables, or variables that lack some of their keys."""
    if not variables:
        raise fault_at(("variables",), "no variable", "at least one", "Add what is searched.")
    for name, variable in variables.items():
        missing = [key for key in needed if getattr(variable, key) is None]
        if missing:
            raise fault_at(
                ("variables", name),
                f"no {' and no '.join(missing)}",
                f"{', '.join(needed)} of every variable that is searched",
                "Add the keys.",
            )


Goal = Literal["minimise", "maximise"]

# Mean stiffness over the flexions of a laxity test: the constraint that the bearing puts on the
# motion. By the name of the test.
STIFFNESS: dict[str, LaxityTest] = {
    f"{test}_stiffness": test
    for test in ("anterior_posterior", "medial_lateral", "internal_external", "varus_valgus")
}
# Designs that are shown and exported beside the extremes of the front: the settings of the study,
# the compromise of several objectives, and the optimum of a single one.
BASELINE = "baseline"
KNEE_POINT = "knee_point"
BEST = "best"
MIN_CASES = 4


def quantity_unit(name: str) -> str:
    """Unit of a result that a search may have as an objective or a constraint."""
    if name in OUTPUTS:
        return OUTPUTS[name]
    test = STIFFNESS[name]
    return "N m/deg" if test in ("internal_external", "varus_valgus") else "N/mm"


_OF_RESULT = Range.unlimited("unit of the result", "Limits are wishes")


class LimitSettings(Settings):
    """Constraint of one result."""

    at_least: Finite | None = quantity(
        "Smallest value, in the unit of the result; null for none.", _OF_RESULT, None
    )
    at_most: Finite | None = quantity("Largest value.", _OF_RESULT, None)

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


class Search(Plan):
    """Generations of designs, each a function of the results before it.

    NSGA-II (Deb, Pratap, Agarwal and Meyarivan 2002, IEEE Transactions on Evolutionary Computation
    6, 182-197; from memory).
    """

    plan: Literal["search"] = Field(description="Generations of designs.")
    maps: Annotated[bool, AfterValidator(_no_maps)] = Field(
        default=False, description="False: the results are rows of a table."
    )
    objectives: Annotated[dict[str, Goal], Field(min_length=1), Removable] = Field(
        description="Results by name, each minimise or maximise; of both sides together, areas and "
        "volumes as sums, others as the larger one. Stiffnesses (anterior_posterior_stiffness and "
        "so on) are means over the flexions of laxity, at its lowest friction."
    )
    constraints: Annotated[dict[str, LimitSettings], Removable] = Field(
        default_factory=dict,
        description="Results by name with their limits, which a design of the front keeps.",
    )
    population: int = quantity(
        "Designs of a generation, and most designs of the front.",
        Range("1", MIN_CASES, 8, 500, 10_000, "NSGA-II uses tens to hundreds"),
    )
    generations: int = quantity(
        "Generations; the product with population is the number of evaluations.",
        Range("1", 1, 1, 500, 1000, "NSGA-II uses tens to hundreds"),
    )
    shown: int = quantity(
        "Designs in the three-dimensional view of the page, the chosen ones and others spread "
        "along the front.",
        Range("1", 0, 0, 20, 100, "Size of the page"),
    )
    search_grid: GridSettings = Field(
        description="Elements per side on which designs are searched, by equilibria; the front is "
        "computed again on grid by simulation.analysis."
    )
    stiffness: StiffnessSettings | None = Field(
        default=None,
        description="Laxity tests whose stiffness is an objective or a constraint; null for none.",
    )

    def case_count(self, variables: Mapping[str, Variable]) -> int:
        """Designs of all generations, at most."""
        return self.population * self.generations

    def cases_at_once(self, count: int) -> int:
        """Designs of a generation."""
        return self.population

    def check_variables(self, variables: Mapping[str, Variable]) -> None:
        """Refuse variables without bounds."""
        _check_bounds(variables, "low", "high")

    @property
    def quantities(self) -> tuple[str, ...]:
        """Results that objectives and constraints name, each once."""
        return tuple(dict.fromkeys([*self.objectives, *self.constraints]))

    @property
    def stiffnesses(self) -> tuple[str, ...]:
        """Results among them that laxity tests have."""
        return tuple(name for name in self.quantities if name in STIFFNESS)

    @property
    def chosen(self) -> tuple[str, ...]:
        """Names of the designs that are shown and exported, that of the settings first."""
        if len(self.objectives) == 1:
            return BASELINE, BEST
        ends = {"minimise": "lowest", "maximise": "highest"}
        extremes = [f"{ends[goal]}_{name}" for name, goal in self.objectives.items()]
        return (BASELINE, *extremes, KNEE_POINT)

    @model_validator(mode="after")
    def _quantities_are_known(self) -> Search:
        known = (*OUTPUTS, *STIFFNESS)
        for key, names in (("objectives", self.objectives), ("constraints", self.constraints)):
            for name in names:
                at = key, name
                if name not in known:
                    remedy = suggestion(name, known) or "Name one of these."
                    raise fault_at(at, f"'{name}'", f"one of: {', '.join(known)}", remedy)
                test = STIFFNESS.get(name)
                if test is not None and (
                    self.stiffness is None or test not in self.stiffness.paths
                ):
                    raise fault_at(
                        at,
                        f"{name} without the test {test}",
                        f"cases.stiffness.paths with {test}",
                        "Add it, or remove the result.",
                    )
        return self


class ResolutionSettings(Settings):
    """Elements per side and frames of a cycle."""

    rows: int = quantity(
        "Elements of a plateau from front to back.",
        Range("1", 8, 16, 200, 400, "As of grid, on few elements"),
    )
    columns: int = quantity(
        "Elements of a plateau from side to side.",
        Range("1", 8, 12, 150, 400, "As of grid, on few elements"),
    )
    frames: int = quantity(
        "Frames of the cycle.", Range("1", 8, 20, 400, 1000, "As of simulation.frames")
    )


class StageSettings(ResolutionSettings):
    """One stage of a fit."""

    starts: int = quantity(
        "Points it begins from: the best of the stage before; in the first stage a Latin hypercube "
        "between the bounds.",
        Range("1", 1, 1, 10_000, 100_000, "Time of the first stage"),
    )
    steps: int = quantity(
        "Most steps of least squares from each point, each with an analysis for every constant; 0 "
        "only compares the points.",
        Range("1", 0, 0, 60, 200, "Least squares ends earlier"),
    )


_SPREAD = Range("%", 1e-3, 0.1, 50.0, 100.0, "Spread of repeated measurements")


class SpreadSettings(Settings):
    """Spread a value is expected to agree within, per cent; errors count in its multiples."""

    max_pressure: Positive = quantity("Of the maximum pressure.", _SPREAD)
    avg_pressure: Positive = quantity("Of the average pressure.", _SPREAD)
    wear_depth_at_deepest_damage: Positive = quantity("Of the wear depth.", _SPREAD)
    creep_depth_at_deepest_damage: Positive = quantity("Of the creep depth.", _SPREAD)
    damage_depth: Positive = quantity("Of the damage depth.", _SPREAD)
    damage_area: Positive = quantity("Of the damaged area.", _SPREAD)
    damage_volume: Positive = quantity("Of the damaged volume.", _SPREAD)


class Fit(Plan):
    """Least squares of the variables on published cells, from many points between their bounds."""

    plan: Literal["fit"] = Field(description="Least squares on published cells.")
    # Solves the fit of a study: published cells belong to the evidence.
    solve: ClassVar[Lazy] = Lazy("evidence.calibration.fit:fit_study")
    maps: Annotated[bool, AfterValidator(_no_maps)] = Field(
        default=False, description="False: the results are rows of a table."
    )
    spread_percent: SpreadSettings = Field(
        description="Spread of each quantity; rounding of the printed value is added to it."
    )
    exponent: float = quantity(
        "What errors are raised to before their squares are summed: above 1, the largest weigh "
        "more.",
        Range("1", 1.0, 1.0, 3.0, 4.0, "1 is least squares"),
    )
    stages: tuple[StageSettings, ...] = Field(
        min_length=1,
        description="Stages of the fit; each begins from the best points of the one before.",
    )
    trade_off: tuple[int, ...] = quantity(
        "Numbers of variables, from the top of the list, that are fitted for the trade-off curve "
        "in addition to all of them.",
        Range("1", 1, 1, 30, 1000, "Fewer than there are variables"),
        (),
    )

    def case_count(self, variables: Mapping[str, Variable]) -> int:
        """Points that the stages begin from."""
        return sum(stage.starts for stage in self.stages)

    def check_variables(self, variables: Mapping[str, Variable]) -> None:
        """Refuse variables without bounds and start, and fits of more than all of them."""
        _check_bounds(variables, "low", "high", "start")
        if any(number >= len(variables) for number in self.trade_off):
            raise fault_at(
                ("cases", "trade_off"),
                f"{list(self.trade_off)} of {len(variables)} variables",
                "fewer than there are variables",
                "Shorten the list.",
            )

    @model_validator(mode="after")
    def _stages_narrow(self) -> Fit:
        starts = [stage.starts for stage in self.stages]
        if starts != sorted(starts, reverse=True):
            raise fault_at(
                ("stages",), f"{starts} starts", "no more than in the stage before", "Reorder."
            )
        return self


AnyPlan = Annotated[
    Factorial
    | LatinHypercube
    | SobolSequence
    | MonteCarlo
    | OneAtATime
    | VarianceBased
    | TablePlan
    | Search
    | Fit,
    Field(discriminator="plan"),
]
