"""Constants of the built-in implant and gait, fitted to published cells."""

from kneewear.calibration.closed_form import QUANTITIES, Resolution, simulate_cells
from kneewear.calibration.constants import Constants, apply_overrides, plain_values
from kneewear.calibration.fitting import Fit, Target, fit_constants, published_target
from kneewear.calibration.trade_off import Calibration, calibrate, simulate_published

__all__ = [
    "QUANTITIES",
    "Calibration",
    "Constants",
    "Fit",
    "Resolution",
    "Target",
    "apply_overrides",
    "calibrate",
    "fit_constants",
    "plain_values",
    "published_target",
    "simulate_cells",
    "simulate_published",
]
