"""Wear and creep laws: one equation a function."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

MINUTES_PER_MONTH = 365.25 / 12.0 * 24.0 * 60.0
MONTHS_PER_YEAR = 12.0

# Lee and Pienkowski (1998) as quoted by Fregly et al. (2005); both coefficients from memory of
# the literature, not read in either paper. Strain per MPa, time in minutes.
CREEP_STRAIN_BASE = 3.491e-3
CREEP_STRAIN_PER_DECADE = 7.966e-4
CREEP_DECADE_OFFSET = 4.0

MM3_PER_N_MM_FROM_MM3_PER_N_M = 1.0e-3


def cycles_of_life(cycles_per_year: float, months: float) -> float:
    """Activity cycles in a life of so many months."""
    return cycles_per_year * months / MONTHS_PER_YEAR


def minutes_of_life(months: float) -> float:
    """Time of implantation in minutes (a month is a twelfth of 365.25 days)."""
    return months * MINUTES_PER_MONTH


def archard_depth(pressure: ArrayLike, slip: ArrayLike, wear_factor: float) -> NDArray[np.float64]:
    """Depth removed by sliding under pressure in one cycle (Archard).

    Parameters
    ----------
    pressure : array, shape (n_frames, ...)
        Contact pressure, MPa; zero where the surfaces are apart.
    slip : array, shape (n_frames, ..., 2)
        Tangential displacement during each frame's interval, mm, along two perpendicular
        tangents.
    wear_factor : float
        Volume removed per force and sliding distance, mm3/(N mm).

    Returns
    -------
    array, shape (...)
        Depth removed in one cycle, mm, along the inward normal.

    Notes
    -----
    depth = k * sum_t p_t |s_t|. Holds while the depth is small against the thickness; the
    direction of sliding (cross-shear) has no influence.

    References
    ----------
    Archard, J.F. (1953) Contact and rubbing of flat surfaces. J. Applied Physics 24, 981-988.
    """
    work = np.asarray(pressure, dtype=np.float64)
    distance = np.linalg.norm(np.asarray(slip, dtype=np.float64), axis=-1)
    return wear_factor * np.sum(work * distance, axis=0)


def creep_from_pressure(max_pressure: ArrayLike, creep_per_pressure: float) -> NDArray[np.float64]:
    """Creep depth proportional to the largest pressure of the cycle.

    Parameters
    ----------
    max_pressure : array
        Largest pressure each element has seen, MPa.
    creep_per_pressure : float
        Depth per pressure after the whole life, mm/MPa.

    Returns
    -------
    array
        Creep depth, mm, along the inward normal.

    Notes
    -----
    The depths of Bei (2003), Table B-1, follow the cycle-maximum pressure of Table A-1 with
    0.0165-0.0190 mm/MPa in all 50 cells, independently of insert thickness. The constant holds
    for the life it was found for (51 months) and has no time dependence.

    References
    ----------
    Bei, Y. (2003) Dynamic simulation of knee joint contact during human movement. Dissertation,
    University of Florida; Tables A-1 and B-1.
    """
    return creep_per_pressure * np.asarray(max_pressure, dtype=np.float64)


def creep_strain_per_pressure(minutes: float) -> float:
    """Compressive creep strain of UHMWPE per MPa after a time under load in minutes.

    Raises
    ------
    ValueError
        If the time is not positive.
    """
    if not minutes > 0.0:
        raise ValueError(f"creep needs a positive time, got {minutes} minutes")
    decades = np.log10(minutes) - CREEP_DECADE_OFFSET
    return float(CREEP_STRAIN_BASE + CREEP_STRAIN_PER_DECADE * decades)


def creep_from_strain(
    max_pressure: ArrayLike, thickness: ArrayLike, minutes: float
) -> NDArray[np.float64]:
    """Creep depth as a strain over the local thickness, growing with the logarithm of time.

    Parameters
    ----------
    max_pressure : array
        Largest pressure each element has seen, MPa.
    thickness : array, broadcast against `max_pressure`
        Local thickness of the insert, mm.
    minutes : float
        Time of implantation, min.

    Returns
    -------
    array
        Creep depth, mm, along the inward normal.

    Raises
    ------
    ValueError
        If the time is not positive.

    Notes
    -----
    depth = [3.491e-3 + 7.966e-4 (log10 t - 4)] p h, t in minutes, p in MPa. The coefficients are
    quoted from memory of the two papers below and were not checked against them. With the cycle
    maximum for p and the full thickness for h it predicts about twice to four times the depths of
    Bei (2003), Table B-1.

    References
    ----------
    Lee, K.Y. and Pienkowski, D. (1998) Compressive creep characteristics of extruded
    ultrahigh-molecular-weight polyethylene. J. Biomedical Materials Research 39, 261-265.
    Fregly, B.J. et al. (2005) Computational wear prediction of a total knee replacement from in
    vivo kinematics. J. Biomechanics 38, 305-314.
    """
    strain = creep_strain_per_pressure(minutes) * np.asarray(max_pressure, dtype=np.float64)
    return strain * np.asarray(thickness, dtype=np.float64)
