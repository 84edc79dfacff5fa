"""File of the posterior in the package, from the table of its study.

`python -m kneewear.evidence.synthesis.posterior_file TABLE` writes
`kneewear/wear/wear_posterior.csv` and its digest.
"""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path

import pandas as pd

from kneewear.evidence.synthesis.blind import digest
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


def write_posterior(draws: pd.DataFrame, target: Path) -> None:
    """Write draws into a file, with its digest beside it."""
    text = posterior_text(draws)
    target.write_text(text, encoding="utf-8")
    line = f"{digest(text)}  {target.name}\n"
    target.with_name(target.name + ".sha256").write_text(line, encoding="utf-8")


if __name__ == "__main__":
    write_posterior(pd.read_csv(sys.argv[1]), Path(str(files("kneewear.wear").joinpath(FILE))))
