"""A wear law of your own: no wear below a pressure threshold.

A law is any object with two methods. `weight` turns the pressure (MPa) of each frame into what is
multiplied by the sliding distance. `factor` multiplies the sum by a function of the cross-shear
ratio. The contact of the study is computed once and used for both laws.
"""

import numpy as np

import kneewear as kw


class Threshold:
    """Archard's law above a threshold of the pressure. An example, not a finding."""

    def __init__(self, threshold_mpa, factor_mm3_per_n_mm):
        self.threshold, self.wear_factor = threshold_mpa, factor_mm3_per_n_mm

    def weight(self, pressure):
        """Pressure that wears, MPa."""
        return np.where(pressure > self.threshold, pressure, 0.0)

    def factor(self, cross_shear):
        """Wear factor, mm3/(N mm)."""
        return self.wear_factor


case = {"variables": {"thickness_mm": [10], "body_mass_kg": [75]}, "wear": {"wear_law": "archard"}}
study = kw.load_study("config/quick.yaml", case)
cycles = kw.simulate(kw.build_knee(study), study)

archard = kw.accumulate_wear(cycles, study)
print("volume of both sides over the life of the study, mm3")
print(f"Archard                     {float((archard.wear_depth * archard.area).sum()):6.1f}")

factor = study.wear.wear_factor_mm3_per_n_m / 1000.0  # mm3/(N mm)
for threshold in (0.0, 5.0, 10.0):
    damage = kw.accumulate_wear(cycles, study, law=Threshold(threshold, factor))
    volume = float((damage.wear_depth * damage.area).sum())
    print(f"threshold of {threshold:4.0f} MPa       {volume:6.1f}")
