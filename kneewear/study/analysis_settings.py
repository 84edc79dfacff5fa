"""Analyses: what is made of the results of all cases, with the options of each."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from kneewear.base.ranges import Range
from kneewear.base.types import Ascending, Finite, Name, NonNegative, Positive, Settings, quantity
from kneewear.base.variables import Levels

Percent = Annotated[float, Field(gt=0, lt=100)]
_LEVEL = Range("%", 50.0, 80.0, 99.9, 99.99, "95 % is usual")


class RegressionOptions(Settings):
    """Least squares of the results over insert thickness and body mass."""


class EffectsOptions(Settings):
    """Effect of each numeric variable, and a response surface over all of them."""

    by: Name | None = Field(
        default=None, description="Variable or label whose values are analysed apart."
    )
    covariates: tuple[Name, ...] = Field(
        default=(), description="Labels of the plan that get a rank correlation."
    )


class IntervalsOptions(Settings):
    """Interval that holds the next sample with a probability."""

    level_percent: Percent = quantity("Probability.", _LEVEL, 95.0)


class StepsOptions(Settings):
    """Effect of each variable alone, a standard deviation down and up."""


class IndicesOptions(Settings):
    """Variance-based indices of each variable."""

    level_percent: Percent = quantity("Probability.", _LEVEL, 95.0)


class PercentilesOptions(Settings):
    """Distribution of each result over the cases."""

    percentiles: Annotated[tuple[Percent, ...], *Levels] = quantity(
        "Percentiles that are reported.",
        Range("%", 0.001, 0.1, 99.9, 99.999, "Between the ends of a distribution"),
        (5.0, 25.0, 50.0, 75.0, 95.0),
    )
    by: Name | None = Field(
        default=None, description="Variable or label whose values are analysed apart."
    )


class PairedOptions(Settings):
    """Differences between the levels of one variable, for equal values of all others."""

    between: Name = Field(description="Variable whose levels are compared.")


class ValidityOptions(Settings):
    """Cases with results outside the range for which the model is validated."""


class DiscretisationOptions(Settings):
    """The case without changes on the elements and frames of the study, and on twice as many."""


class FrontOptions(Settings):
    """Designs of a search that no other one dominates, and those that are chosen of them."""


class FitOptions(Settings):
    """Fit of constants to the published cells: errors, and how well the cells separate them."""


class ContactOptions(Settings):
    """Results of every case and side of model press as a tidy table."""


class WorstCasesOptions(Settings):
    """Worst case of each design of model press."""

    by: Name | None = Field(
        default=None, description="Variable of the designs; null for one design."
    )


class SubmissionOptions(Settings):
    """Contact of each design of model press over flexion, as regulators ask for it."""

    by: Name | None = Field(
        default=None, description="Variable of the designs; null for one design."
    )


class MaterialsOptions(Settings):
    """Pressures of each material of model press against those of the first one."""

    between: Name = Field(
        description="Variable of the materials; the first is the one others are compared with."
    )


class ComparedOptions(Settings):
    """Laxity of each design of model press against that of the first one."""

    between: Name = Field(
        description="Variable of the designs; the first is the one others are compared with."
    )


class LoopsOptions(Settings):
    """Steps of all paths of model press."""


class MeasuredOptions(Settings):
    """Wear of tests of model wear_test over measured wear, by each wear law."""

    test: Name = Field(description="Variable of the tests.")
    law: Name = Field(description="Variable of the wear laws.")


class MeasuredContact(Settings):
    """Contact in which cross-shear and pressure are uniform."""

    cross_shear: Annotated[float, Field(ge=0, le=0.5)] = quantity(
        "Cross-shear ratio of the frictional work.",
        Range("1", 0, 0, 0.5, 0.5, "0 on straight, 0.5 on square paths"),
    )
    pressure_mpa: Positive = quantity(
        "Contact pressure.", Range("MPa", 0.01, 0.5, 40, 200, "Pins 1, knees 10 to 30 MPa")
    )


class CandidateTest(Settings):
    """Wear test that could be made: every contact once in each laboratory."""

    contacts: Annotated[tuple[MeasuredContact, ...], Field(min_length=1)] = Field(
        description="Contacts whose wear factor a laboratory measures."
    )
    laboratories: Annotated[int, Field(ge=1, le=50)] = quantity(
        "Laboratories that make the test.", Range("1", 1, 1, 10, 50, "One is usual"), 1
    )
    error_percent: Positive = quantity(
        "Standard deviation of a measurement.",
        Range("%", 0.1, 2, 50, 200, "5 to 15 % of pins"),
        10.0,
    )


class PosteriorOptions(Settings):
    """Posterior of wear laws, constants and laboratories from measured wear."""

    test: Name = Field(description="Variable of the tests.")
    law: Name = Field(description="Variable of the nodes: blocks of a wear law and its constants.")
    knee: MeasuredContact = Field(description="Contact whose wear factor is predicted.")
    draws: Annotated[int, Field(ge=100, le=20_000)] = quantity(
        "Draws of the posterior that are stored.",
        Range("1", 100, 500, 10_000, 20_000, "Ends of intervals need some hundreds"),
        2000,
    )
    simulated: Annotated[int, Field(ge=2, le=10_000)] = quantity(
        "Simulated tables from which the coverage of intervals is found.",
        Range("1", 2, 200, 2000, 10_000, "200 give 2 % at 90 %"),
        200,
    )
    outcomes: Annotated[int, Field(ge=1, le=10_000)] = quantity(
        "Simulated results of each candidate test.",
        Range("1", 1, 50, 1000, 10_000, "Medians over them are reported"),
        100,
    )
    candidates: dict[Name, CandidateTest] = Field(
        default={}, description="Tests whose value for the interval is computed."
    )


class ElementsOptions(Settings):
    """Options of the dependence of model press on position and number of elements."""

    active_elements: Annotated[tuple[int, ...], Field(min_length=2), Ascending] = quantity(
        "Wanted numbers of loaded elements per side, ascending; the last is the reference.",
        Range("1", 4, 10, 2000, 5000, "12 to 400 in Bei (2003)"),
    )
    offsets: int = quantity(
        "Random positions of the elements for each of these numbers.",
        Range("1", 1, 1, 100, 1000, "Means and extremes of a sample"),
    )
    divisions: Annotated[tuple[int, ...], Field(min_length=2), Ascending] = quantity(
        "Numbers of rows and of columns over a whole plateau, all combined at a fixed pose, "
        "ascending; the last is the reference.",
        Range("1", 4, 4, 300, 500, "Rows and columns of a plateau"),
    )


class SettlingOptions(Settings):
    """Fall onto the insert of the settings of model press, to rest by numerical damping."""

    lift_mm: NonNegative = quantity(
        "Height of the start above the one from which the search of the equilibrium starts.",
        Range("mm", 0, 0, 50, 200, "Clear of the insert"),
        5.0,
    )
    varus_deg: Finite = quantity(
        "Varus of the femoral component at the start.",
        Range("deg", -15, -10, 10, 15, "Both condyles stay above their plateaus"),
        0.0,
    )
    step_error_mm: Positive = quantity(
        "Largest error of a step, which decides on its duration.",
        Range("mm", 1e-3, 1e-2, 1, 10, "Loose tolerances in Bei (2003), 2.2.4"),
        0.1,
    )
    acceleration: Positive = quantity(
        "Acceleration, and rate, of each free coordinate below which the component has settled.",
        Range("mm/s2 or rad/s2", 1e-12, 1e-7, 1, 1e3, "1e-5 in Bei (2003), 3.2.3"),
        1e-5,
    )


class Analyses(Settings):
    """Analyses of a study; those that are absent are not made."""

    regression: RegressionOptions | None = Field(
        default=None, description="Regression over thickness and body mass."
    )
    effects: EffectsOptions | None = Field(
        default=None, description="Effects and response surfaces of numeric variables."
    )
    intervals: IntervalsOptions | None = Field(
        default=None, description="Prediction intervals of independent samples."
    )
    steps: StepsOptions | None = Field(default=None, description="Effect of each variable alone.")
    indices: IndicesOptions | None = Field(default=None, description="Variance-based indices.")
    percentiles: PercentilesOptions | None = Field(
        default=None, description="Percentiles over the cases."
    )
    paired: PairedOptions | None = Field(
        default=None, description="Differences between levels of a variable, pair by pair."
    )
    validity: ValidityOptions | None = Field(
        default=None, description="Cases outside the validated range."
    )
    discretisation: DiscretisationOptions | None = Field(
        default=None, description="Error of elements and frames."
    )
    front: FrontOptions | None = Field(
        default=None, description="Front of the designs of a search, and those chosen from it."
    )
    fit: FitOptions | None = Field(
        default=None, description="Errors of fits on published cells, and what these separate."
    )
    contact: ContactOptions | None = Field(
        default=None, description="Results of every case and side as a tidy table."
    )
    worst_cases: WorstCasesOptions | None = Field(
        default=None, description="Worst condition of each design."
    )
    submission: SubmissionOptions | None = Field(
        default=None, description="Contact of each design over flexion."
    )
    materials: MaterialsOptions | None = Field(
        default=None, description="Differences of pressures between materials."
    )
    compared_laxity: ComparedOptions | None = Field(
        default=None, description="Differences and ratios of laxity between designs."
    )
    loops: LoopsOptions | None = Field(default=None, description="Steps of all paths.")
    measured: MeasuredOptions | None = Field(
        default=None, description="Wear of tests of bearings over measured wear."
    )
    posterior: PosteriorOptions | None = Field(
        default=None, description="Posterior of wear laws and laboratories from measured wear."
    )
    elements: ElementsOptions | None = Field(
        default=None, description="Dependence of one case on the elements."
    )
    settling: SettlingOptions | None = Field(
        default=None, description="Fall onto the insert by implicit Euler steps, to rest."
    )

    @property
    def chosen(self) -> dict[str, Settings]:
        """Options of the analyses that are made, by name."""
        options = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: value for name, value in options.items() if value is not None}
