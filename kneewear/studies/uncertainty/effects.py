"""Effect of each uncertain constant alone."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import pandas as pd

NOMINAL = "nominal"


@dataclass(frozen=True)
class StepEffects:
    """What one constant does to one output when it alone changes.

    Parameters
    ----------
    constant : str
        Name.
    at_low, at_high : float
        Output with the constant one standard deviation lower and higher.
    effect_percent : float
        Half of their difference, percent of the nominal output: the standard deviation the
        constant gives it, with the sign of the slope.
    curvature_percent : float
        Half of their sum less the nominal output, percent of it: zero for a straight line.
    share_percent : float
        Square of the effect as part of the sum over all constants: of the variance, were the output
        linear in the constants.
    """

    constant: str
    at_low: float
    at_high: float
    effect_percent: float
    curvature_percent: float
    share_percent: float

    def row(self) -> dict[str, object]:
        """Names and values."""
        return asdict(self)


def step_effects(output: pd.DataFrame) -> list[StepEffects]:
    """Effects of all constants on one output.

    Parameters
    ----------
    output : DataFrame
        Columns role, constant and value of a one_at_a_time plan.

    Returns
    -------
    list of StepEffects
        In the order of the plan; NaN where a sample failed. Percentages are of nothing where the
        nominal output is zero.
    """
    nominal = output.loc[output["role"] == NOMINAL, "value"].iloc[0]
    steps = output[output["role"] != NOMINAL]
    ends = steps.pivot(index="constant", columns="role", values="value")
    ends = ends.loc[list(dict.fromkeys(steps["constant"]))]
    effect = 0.5 * (ends["high"] - ends["low"])
    share = effect**2 / (effect**2).sum()
    percent = 100.0 / nominal if nominal else float("nan")
    return [
        StepEffects(
            constant=str(name),
            at_low=float(ends.loc[name, "low"]),
            at_high=float(ends.loc[name, "high"]),
            effect_percent=percent * float(effect[name]),
            curvature_percent=percent * float(0.5 * ends.loc[name].sum() - nominal),
            share_percent=100.0 * float(share[name]),
        )
        for name in ends.index
    ]
