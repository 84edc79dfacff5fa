"""An activity of your own, from arrays: a squat with two body weights.

Curves are written to CSV files, which a study reads like the export of a motion laboratory. The
convention of the curves is always stated; there is no default for signs.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import kneewear as kw

percent = np.linspace(0.0, 100.0, 51)
depth = np.sin(np.pi * percent / 100.0) ** 2  # 0 standing, 1 at the lowest point
motion = {
    "percent": percent,
    "flexion_deg": 5.0 + 75.0 * depth,
    "varus_deg": 0.0 * depth,
    "external_rotation_deg": -4.0 * depth,  # the tibia rotates inwards with flexion
    "anterior_mm": -6.0 * depth,  # the femur rolls back
    "superior_mm": 0.0 * depth,
    "lateral_mm": 0.0 * depth,
}
pd.DataFrame(motion).to_csv("squat.csv", index=False)
pd.DataFrame({"percent": percent, "load_bw": 0.5 + 1.5 * depth}).to_csv("load.csv", index=False)

meanings = ["percent", "flexion", "varus", "rotation"]
meanings += ["anterior_posterior", "superior_inferior", "medial_lateral"]
titles = dict(zip(meanings, motion, strict=True))
squat = {
    "source": "file",
    "motion": {"file": "squat.csv", "convention": "grood-suntay", "columns": titles},
    "load": {
        "file": "load.csv",
        "kind": "axial_load",
        "columns": {"percent": "percent", "load": "load_bw"},
    },
    "duration_s": 3.0,
    "closing_percent": 0,  # the curves already end where they begin
    "zero": {"anterior_posterior": "dwell_pose", "medial_lateral": "dwell_pose"},
}
study = kw.load_study(
    "config/quick.yaml",
    {
        "data_folder": str(Path.cwd()),
        "activities": {"gait": None, "squat": squat},
        "wear": {"lives": {"gait": None, "squat": {"squat": 1.0}}},
        "variables": {"thickness_mm": [10], "body_mass_kg": [75]},
    },
)
contact = kw.simulate(kw.build_knee(study), study).to_dataset("squat").squeeze("case")
peak = contact.max_pressure.max("side")
frame = int(peak.argmax("frame"))
flexion = np.interp(100.0 * frame / contact.sizes["frame"], percent, motion["flexion_deg"])
print(f"maximum pressure {float(peak[frame]):.1f} MPa at {flexion:.0f} degrees of flexion")
