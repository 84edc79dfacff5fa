"""Uncertain constants: plans of samples, their outcomes, sensitivities and prediction intervals."""

from kneewear.uncertainty.analysis import analyse_samples
from kneewear.uncertainty.plan import changed_study, plan_samples
from kneewear.uncertainty.samples import SampledModel, check_discretisation, evaluate_samples

__all__ = [
    "SampledModel",
    "analyse_samples",
    "changed_study",
    "check_discretisation",
    "evaluate_samples",
    "plan_samples",
]
