"""A map of contact pressure on the insert at the largest load, as a picture.

Datasets carry the coordinates of every element (posterior, superior, medial, mm), so that any
plotting library can draw them.
"""

import matplotlib.pyplot as plt

import kneewear as kw

case = {
    "variables": {"thickness_mm": [10], "body_mass_kg": [100]},
    "grid": {"rows": 60, "columns": 45},
}
study = kw.load_study("config/quick.yaml", case)
cycles = kw.simulate(kw.build_knee(study), study)
gait = cycles.to_dataset("gait").squeeze("case")
frame = int(gait.max_pressure.max("side").argmax("frame"))
at = gait.isel(frame=frame)

figure, axes = plt.subplots(1, 2, figsize=(7, 3.4), layout="constrained", sharey=True)
highest = float(at.max_pressure.max())
for axis, side in zip(axes, ("medial", "lateral"), strict=True):
    own = at.sel(side=side)
    drawn = axis.pcolormesh(
        own.z, -own.x, own.pressure.where(own.pressure > 0), vmin=0, vmax=highest, shading="gouraud"
    )
    axis.set(
        title=f"{side}, {float(own.max_pressure):.1f} MPa", xlabel="medial (mm)", aspect="equal"
    )
    axis.invert_xaxis()  # medial on the left
axes[0].set_ylabel("anterior (mm)")
figure.colorbar(drawn, ax=axes, label="contact pressure (MPa)")
figure.savefig("pressure_map.png", dpi=120)

for side in ("medial", "lateral"):
    own = at.sel(side=side)
    area = float((own.area * (own.pressure > 0)).sum())
    force = float((own.area * own.pressure).sum())
    print(f"{side}: {area:.0f} mm2 in contact, {force / area:.1f} MPa on average")
