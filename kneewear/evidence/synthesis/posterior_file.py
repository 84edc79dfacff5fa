"""Files of the posteriors in the package, from the tables of their study.

`python -m kneewear.evidence.synthesis.posterior_file TABLE` writes
`kneewear/wear/wear_posterior.csv` from `wear_posterior.csv`, and
`kneewear/wear/wear_posterior_larger.csv` from `larger_posterior.csv`, each with its digest.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from kneewear.evidence.synthesis.blind import write
from kneewear.wear.posterior import FILE, LARGER_FILE

# Files of the package by the names of the tables of the study.
FILES = {"wear_posterior": FILE, "larger_posterior": LARGER_FILE}
_HEAD = """\
# Posterior of wear laws, their constants and laboratories from measured wear of conventional polyethylene: one row a draw. Made by
#     python -m kneewear.evidence.synthesis.posterior_file TABLE
# with a table of the study config/evidence/wear_posterior.yaml; not edited by hand.
# log_level: logarithm of the wear factor over 1e-6 mm3/(N m); tau, sigma: deviations of laboratories, and of conditions within one.
"""  # noqa: E501


def posterior_text(draws: pd.DataFrame) -> str:
    """Text of the file of draws, with five significant digits.

    Lengths of memory are rounded to powers of the square root of 2: each costs a study as much as
    hundreds of draws of other constants, and by this rounding no interval changes by a per cent.
    """
    if "memory_mm" in draws:
        rounded = np.sqrt(2.0) ** np.round(np.log2(draws["memory_mm"]) * 2.0)
        draws = draws.assign(memory_mm=rounded)
    return _HEAD + draws.to_csv(index=False, float_format="%.5g", lineterminator="\n")


if __name__ == "__main__":
    for table in map(Path, sys.argv[1:]):
        write(posterior_text(pd.read_csv(table)), "kneewear.wear", FILES[table.stem])
