"""Numbers for which inputs that a source does not print were chosen: they are no evidence."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from importlib.resources import files

from kneewear.base.faults import fault_at, suggestion

DESCRIPTION = (
    "Quantities of the comparison with the source for which input that it does not print was "
    "chosen. They are listed and are no evidence."
)


def require_aims(aims: Sequence[str], package: str) -> None:
    """Refuse aims that are no quantities of the printed numbers of a package (`literature.csv`)."""
    if not aims:
        return
    with files(package).joinpath("literature.csv").open("r", encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        known = list(dict.fromkeys(row["quantity"] for row in rows))
    for number, aim in enumerate(aims):
        if aim not in known:
            remedy = suggestion(aim, known) or "Name one of the column 'quantity' of the table."
            expected = "a quantity of the table 'literature' of this model"
            raise fault_at(("aims", number), aim, expected, remedy)
