"""An implant of your own from triangle meshes, without the command line.

The meshes here are small invented ones of the repository. `kneewear new` writes such a block of
settings from your files, including the regions of the bearing surfaces.
"""

import kneewear as kw

implant = {
    "source": "meshes",
    "name": "Implant read from STL",
    "knee": "right",
    "nominal_thickness_mm": 6.0,
    "meshes": {
        "insert": "config/example_meshes/insert.stl",
        "femoral": "config/example_meshes/femoral.stl",
        "unit": "mm",
        "axes": {"x": "anterior", "y": "superior", "z": "lateral"},  # of the files
        "insert_region_mm": {
            "medial": {"x": [-21.0, 21.0], "z": [12.0, 35.0]},
            "lateral": {"x": [-21.0, 21.0], "z": [-35.0, -12.0]},
        },
        "femoral_region_mm": {
            "medial": {"z": [9.0, 40.0], "angle_deg": [-30.0, 110.0]},
            "lateral": {"z": [-40.0, -9.0], "angle_deg": [-30.0, 110.0]},
        },
    },
}
study = kw.load_study(
    "config/example_meshes.yaml",
    {"implant": implant, "variables": {"thickness_mm": [6], "body_mass_kg": [75]}},
)
knee = kw.build_knee(study)
cycles = kw.simulate(knee, study)
table = kw.tabulate_cases(cycles, kw.accumulate_wear(cycles, study), study)

for quantity in ("max_pressure", "max_wear_depth", "wear_volume"):
    rows = table[table["quantity"] == quantity].set_index("side")
    values = ", ".join(f"{side} {rows.value[side]:.2f}" for side in ("medial", "lateral"))
    print(f"{quantity:15s} {values} {rows.unit.iloc[0]}")
