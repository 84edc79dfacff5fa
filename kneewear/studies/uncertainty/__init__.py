"""Uncertain constants: plans of samples, their outcomes, sensitivities and prediction intervals."""
