"""Two designs under the same motion and load: a flatter and a more conforming plateau.

A more conforming plateau lowers the pressure. By Archard's law it hardly changes the volume, which
is proportional to force times sliding distance. The wear factor cancels in the ratio of volumes.
"""

import kneewear as kw

case = {"variables": {"thickness_mm": [10], "body_mass_kg": [75]}}
radius = kw.load_study("config/quick.yaml").implant.parametric.plateau_coronal_radius_mm

results = {}
for name, factor in (("flatter", 1.2), ("as shipped", 1.0), ("more conforming", 0.85)):
    design = {"medial": factor * radius.medial, "lateral": factor * radius.lateral}
    implant = {"implant": {"parametric": {"plateau_coronal_radius_mm": design}}}
    study = kw.load_study("config/quick.yaml", case, implant)
    cycles = kw.simulate(kw.build_knee(study), study)
    damage = kw.accumulate_wear(cycles, study)
    results[name] = (
        float(cycles.to_dataset("gait").max_pressure.max()),
        float((damage.wear_depth * damage.area).sum()),
    )

_, reference = results["as shipped"]
print("coronal radius      maximum pressure   wear volume   relative to the shipped design")
for name, (pressure, volume) in results.items():
    ratio = volume / reference
    print(f"{name:18s} {pressure:13.1f} MPa {volume:10.1f} mm3 {ratio:15.2f}")
