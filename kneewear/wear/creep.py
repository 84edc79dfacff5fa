"""Creep over time: one equation per function."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MINUTES_PER_MONTH = 365.25 / 12.0 * 24.0 * 60.0

# Lee and Pienkowski (1998) as quoted by Fregly et al. (2005); both coefficients from memory of
# the literature, not read in either paper. Strain per MPa, time in minutes.
CREEP_STRAIN_BASE = 3.491e-3
CREEP_STRAIN_PER_DECADE = 7.966e-4
CREEP_DECADE_OFFSET = 4.0
# Youngest age of the logarithm, min; before 0.4 min the strain would be negative.
FIRST_MINUTE = 1.0

# Lee and Pienkowski (1998), the paper on recovery; read in its abstract.
RECOVERED_AT_LAST = 0.51
RECOVERED_PER_DECADE = 0.27
RECOVERY_DECADES = 4.0
# Largest pressure of the tests of both papers, MPa; read in the same abstract.
TESTED_MPA = 8.0
# Strain up to this age, min, is in a curve of loading: later strain is creep.
CURVE_MINUTES = 1.0


class CreepInterval(NamedTuple):
    """Least and most creep depth, mm."""

    least: Array
    most: Array


def minutes_of_life(months: float) -> float:
    """Time of implantation in minutes (a month is a twelfth of 365.25 days)."""
    return months * MINUTES_PER_MONTH


def creep_strain_per_pressure(minutes: float) -> float:
    """Compressive creep strain of UHMWPE per MPa after a positive time under load, min.

    3.491e-3 + 7.966e-4 (log10 t - 4). With the cycle maximum for the pressure and the full
    thickness it predicts about twice to four times the depths of Bei (2003), Table B-1, which are
    0.0165-0.0190 mm/MPa at 51 months in all 50 values, independent of the thickness.

    References
    ----------
    Lee, K.Y. and Pienkowski, D. (1998) Compressive creep characteristics of extruded
    ultrahigh-molecular-weight polyethylene. J. Biomedical Materials Research 39, 261-265.
    Fregly, B.J. et al. (2005) Computational wear prediction of a total knee replacement from in
    vivo kinematics. J. Biomechanics 38, 305-314.
    """
    if not minutes > 0.0:
        raise ValueError(f"creep needs a positive time, got {minutes} minutes")
    decades = np.log10(minutes) - CREEP_DECADE_OFFSET
    return float(CREEP_STRAIN_BASE + CREEP_STRAIN_PER_DECADE * decades)


def creep_development(minutes: float, reference_minutes: float) -> float:
    """Ratio of :func:`creep_strain_per_pressure` at two ages; ages below a minute count as one."""
    youngest = max(minutes, FIRST_MINUTE)
    return creep_strain_per_pressure(youngest) / creep_strain_per_pressure(reference_minutes)


def creep_beside_curve(depth: Array, pressure: Array, minutes: float) -> CreepInterval:
    """Interval of the creep of polyethylene whose curve of loading is a part of the contact.

    Parameters
    ----------
    depth : array
        Creep depth by a law that is linear in the pressure, under load, mm.
    pressure : array
        Largest pressure of a cycle, MPa.
    minutes : float
        Age, min.

    Notes
    -----
    Strain within `CURVE_MINUTES` is in the curve: it is taken off both limits, by the growth of
    :func:`creep_strain_per_pressure` with time, so that no strain counts twice. What is left is the
    most. The least has lost the 51 % that recover at last, and rises no further than at the
    pressure of the tests, `TESTED_MPA`: neither creep nor recovery was measured beyond.

    References
    ----------
    Lee, K.Y. and Pienkowski, D. (1998) Viscoelastic recovery of creep-deformed ultra-high molecular
    weight polyethylene (UHMWPE). ASTM International, doi:10.1520/STP11908S (abstract read).
    """
    # Nothing is left of younger creep.
    age = max(minutes, CURVE_MINUTES)
    later = 1.0 - creep_strain_per_pressure(CURVE_MINUTES) / creep_strain_per_pressure(age)
    most = later * np.asarray(depth, dtype=float)
    tested = TESTED_MPA / np.maximum(pressure, TESTED_MPA)
    return CreepInterval((1.0 - RECOVERED_AT_LAST) * tested * most, most)


def recovered_part(minutes: float) -> float:
    """Fraction R = 0.51 [1 + 0.27 (log10 t - 4)] of creep recovered in t minutes without load.

    From zero at 2 min to 0.51 at 10 000 min and beyond. Measured after 10 000 min of 2 to 8 MPa;
    the same fractions are assumed after years and at the pressures of a knee.

    References
    ----------
    Lee, K.Y. and Pienkowski, D. (1998) Viscoelastic recovery of creep-deformed ultra-high molecular
    weight polyethylene (UHMWPE). ASTM International, doi:10.1520/STP11908S.
    """
    if minutes <= 0.0:
        return 0.0
    part = 1.0 + RECOVERED_PER_DECADE * (np.log10(minutes) - RECOVERY_DECADES)
    return RECOVERED_AT_LAST * float(np.clip(part, 0.0, 1.0))
