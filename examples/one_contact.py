"""Contact of the knee at one pose: forces, pressures and contact areas of both sides.

The femoral component is lowered onto the insert, without any motion or load. The force rises faster
than the penetration, because the contact area grows as well.
"""

import numpy as np

import kneewear as kw

study = kw.load_study("config/quick.yaml")
knee = kw.build_knee(study)

# A pose is the position of the femoral origin in the frame of the insert (posterior, superior,
# medial, mm) and three angles (varus, external rotation of the tibia, extension, rad).
heights = np.array([28.20, 28.15, 28.10])
poses = np.zeros((len(heights), 6))
poses[:, 1] = heights
poses[:, 5] = -np.radians(20.0)  # 20 degrees of flexion

contact = kw.evaluate_contact(knee, poses, study)

print("penetration   force   maximum pressure   contact area")
for pose in range(len(heights)):
    at = contact.isel(pose=pose)
    force = -float(at.force.sel(component="y").sum("side"))  # on the femoral component
    area = float((at.area * (at.pressure > 0)).sum())
    print(
        f"{float(at.max_penetration.max()):8.3f} mm {force:6.0f} N"
        f" {float(at.max_pressure.max()):14.1f} MPa {area:10.0f} mm2"
    )
