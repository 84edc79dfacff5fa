"""A scan of a worn insert: volume and depth of wear from points, and what noise does to them.

The scan is simulated, so that the true volume is known. Points of the worn surface are measured
with noise, and their distance below the unworn surface is integrated over the plateau.
"""

import numpy as np
from scipy.interpolate import griddata

import kneewear as kw

case = {"variables": {"thickness_mm": [10], "body_mass_kg": [75]}}
study = kw.load_study("config/quick.yaml", case, {"grid": {"rows": 60, "columns": 45}})
cycles = kw.simulate(kw.build_knee(study), study)
worn = kw.accumulate_wear(cycles, study).squeeze(["life", "case"]).sel(side="medial")
truth = float((worn.wear_depth * worn.area).sum())
print(f"true volume of the medial plateau: {truth:.1f} mm3")

x, z = worn.x.values.ravel(), worn.z.values.ravel()  # mm, posterior and medial
depth = worn.wear_depth.fillna(0.0).values.ravel()
generator = np.random.default_rng(1)
inside = generator.uniform([x.min(), z.min()], [x.max(), z.max()], (20_000, 2))
exact = griddata((x, z), depth, inside, fill_value=0.0)  # 20,000 points of the scanner

for noise_um in (0, 10, 30):
    scan = exact + generator.normal(0.0, noise_um / 1000.0, len(exact))
    area = (x.max() - x.min()) * (z.max() - z.min())
    volume = scan.mean() * area
    print(f"noise of {noise_um:2d} um: {volume:5.1f} mm3, {scan.max():.3f} mm deep")

# Noise averages out in the volume and adds to the largest depth. An offset of the surface, from
# registration or manufacture, does not average out.
print(f"an offset of 10 um changes the volume by {0.01 * area:.1f} mm3")
