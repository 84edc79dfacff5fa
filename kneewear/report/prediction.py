"""Cases that were not published beside the published regression, and the nominal patient."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from kneewear.report.names import quantity_name, unit_name
from kneewear.report.sections import Table, make_table, signed

# The dissertation's patient: insert thickness, mm, and body mass, kg.
NOMINAL_PATIENT = (6.8, 70.0)
PLACE = ["damage_location_x", "damage_location_z"]


def prediction_table(prediction: pd.DataFrame) -> Table:
    """Computed values beside those of Table 4-1."""
    life = ["Life"] if "life" in prediction else []
    rows = [
        (
            *((row["life"],) if life else ()),
            row["thickness_mm"],
            row["body_mass_kg"],
            quantity_name(row["quantity"]),
            row["side"],
            unit_name(row["unit"]),
            row["computed"],
            row["predicted"],
            row["predicted_as_printed"],
            signed(100.0 * row["relative_difference"]),
        )
        for row in prediction.to_dict("records")
    ]
    head = [
        "Thickness (mm)", "Body mass (kg)", "Quantity", "Side", "Unit",
        "Here", "Table 4-1, re-fit", "Table 4-1, printed", "Here against re-fit (%)",
    ]  # fmt: skip
    return make_table("Beside the published regression", [*life, *head], rows)


def prediction_sentences(cases: pd.DataFrame, prediction: pd.DataFrame) -> list[str]:
    """What the published regression and Fig. 4-2 can and cannot be compared with."""
    sentences = [
        "Table 4-1 of Bei (2003) predicts 51 months of gait from insert thickness and body mass "
        "alone; it stands beside every life here. Its coefficients are re-fitted on the printed "
        "tables, because the printed a₂ of the depths has one digit."
    ]
    patients = prediction[["thickness_mm", "body_mass_kg"]].to_numpy(dtype=float)
    if np.isclose(patients, NOMINAL_PATIENT).all(axis=1).any():
        sentences.append(
            "Fig. 4-2 of the same work shows this patient's retrieved insert, a prediction with "
            "85 % gait and 15 % stairs, and one with gait alone, each with an X at the largest "
            "damage. The text says that gait alone came close to the retrieval in place and depth "
            "of the largest damage, and that predicted depths were within 0.1 mm of it. Depths, "
            "areas and places of the retrieval are not given as numbers, and implant, motion and "
            "load of the patient are not public, so neither depths nor places can be compared "
            "with the retrieval here. The stairs of this study are invented."
        )
    return sentences + life_sentences(cases)


def life_sentences(cases: pd.DataFrame) -> list[str]:
    """How lives differ from the first one in the largest damage and where it is."""
    first, *others = dict.fromkeys(cases["life"])
    wide = cases.pivot_table(
        index=["life", "case", "side"], columns="quantity", values="value", sort=False
    )
    sentences = []
    for life in others:
        parts = []
        for side in ("medial", "lateral"):
            one, two = wide.xs(first).xs(side, level="side"), wide.xs(life).xs(side, level="side")
            change = 100.0 * (two["damage_depth"] / one["damage_depth"] - 1.0)
            moved = np.linalg.norm((two[PLACE] - one[PLACE]).to_numpy(), axis=1)
            parts.append(f"{side} by {_span(change, '+.1f')} % and {_span(moved, '.1f')} mm away")
        sentences.append(
            f"Life {life} against {first}: the largest damage depth differs {' and '.join(parts)}."
        )
    return sentences


def _span(values: ArrayLike, form: str) -> str:
    """Value, or smallest and largest."""
    texts = dict.fromkeys((format(np.nanmin(values), form), format(np.nanmax(values), form)))
    return " to ".join(texts).replace("-", "−")
