"""File of the posterior in the package, from the table of its study.

`python -m kneewear.evidence.synthesis.posterior_file TABLE` writes
`kneewear/wear/wear_posterior.csv` and its digest.
"""

from __future__ import annotations

import sys

import pandas as pd

from kneewear.evidence.synthesis.blind import write
from kneewear.wear.posterior import FILE

_HEAD = """\
# Posterior of wear laws, their constants and laboratories from measured wear of conventional polyethylene: one row a draw. Made by
#     python -m kneewear.evidence.synthesis.posterior_file TABLE
# with tables/wear_posterior.csv of the study config/evidence/wear_posterior.yaml; not edited by hand.
# log_level: logarithm of the wear factor over 1e-6 mm3/(N m); tau, sigma: deviations of laboratories, and of conditions within one.
"""  # noqa: E501


def posterior_text(draws: pd.DataFrame) -> str:
    """Text of the file of draws, with five significant digits."""
    return _HEAD + draws.to_csv(index=False, float_format="%.5g", lineterminator="\n")


if __name__ == "__main__":
    write(posterior_text(pd.read_csv(sys.argv[1])), "kneewear.wear", FILE)
