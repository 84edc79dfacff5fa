"""Uncertainty of one knee: samples of geometry, material, load and alignment.

The shipped study states a distribution and a source for every uncertain constant. Forty samples on
a coarse grid give a rough picture in seconds; an interval to quote needs a thousand.
"""

import kneewear as kw

study = kw.load_study(
    "config/monte_carlo.yaml",
    {
        "cases": {"plan": "monte_carlo", "samples": 40},
        "grid": {"rows": 40, "columns": 30},
        "simulation": {"frames": 25},
    },
)
intervals = kw.run(study).tables["intervals"]

shown = ["max_pressure", "max_wear_depth", "wear_volume"]
medial = intervals[(intervals["side"] == "medial") & intervals["quantity"].isin(shown)]
print("95 % of the samples, medial side")
for row in medial.itertuples():
    print(
        f"{row.quantity:15s} {row.lower:6.2f} to {row.upper:6.2f} {row.unit:4s}"
        f" median {row.median:.2f}, without uncertainty {row.nominal:.2f}"
    )
