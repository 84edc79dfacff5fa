"""A cohort: two designs in 200 subjects, compared subject by subject.

Body mass, thickness, size, activity and alignment of each subject are a row of a CSV file. The
subjects of the shipped file are drawn from distributions; no row is a patient.
"""

import kneewear as kw

study = kw.load_study(
    "config/cohort_example.yaml",
    {"grid": {"rows": 30, "columns": 24}, "simulation": {"frames": 25}},
)
result = kw.run(study)

spread = result.tables["percentiles"].query("side == 'both' and quantity == 'wear_volume'")
for row in spread.itertuples():
    print(f"{row.design:11s} wear volume {row.p5:.0f} to {row.p95:.0f} mm3 in 90 % of the subjects")

# The spread between subjects is large, the difference between designs is not: compare pairs.
difference = result.tables["differences"].query("side == 'both'").set_index("quantity")
for quantity in ("wear_volume", "max_pressure"):
    row = difference.loc[quantity]
    print(f"{quantity:13s} {row.median_percent:+.1f} %, less for {row.less_percent:.0f} % of them")
