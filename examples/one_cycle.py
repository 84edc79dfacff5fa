"""Contact over one gait cycle: load, flexion and pressure, drawn over the cycle.

Flexion, rotation and anterior-posterior position of the built-in gait are prescribed. Height, tilt
and medial-lateral position follow from equilibrium in every frame.
"""

import matplotlib.pyplot as plt

import kneewear as kw

case = {"variables": {"thickness_mm": [10], "body_mass_kg": [75]}}
study = kw.load_study("config/quick.yaml", case)
cycles = kw.simulate(kw.build_knee(study), study)
gait = cycles.to_dataset("gait").squeeze("case")

force = -gait.force.sel(component="y")  # N, on the femoral component, of each side
peak = gait.max_pressure.max("side")
frame = int(peak.argmax("frame"))
print(f"maximum pressure {float(peak[frame]):.1f} MPa at frame {frame} of {gait.sizes['frame']}")
for side in ("medial", "lateral"):
    share = force.sel(side=side).isel(frame=frame) / force.isel(frame=frame).sum("side")
    print(f"{side} share of the load in this frame: {100 * float(share):.0f} %")

figure, (above, below) = plt.subplots(2, sharex=True, figsize=(6, 5), layout="constrained")
for side in ("medial", "lateral"):
    above.plot(force.sel(side=side), label=side)
    below.plot(gait.max_pressure.sel(side=side), label=side)
above.set(ylabel="contact force (N)")
below.set(ylabel="maximum pressure (MPa)", xlabel="frame of the cycle")
above.legend()
figure.savefig("one_cycle.png", dpi=120)
