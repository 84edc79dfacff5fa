"""Columns of files of curves by the names that settings give them."""

from __future__ import annotations

import numpy as np

from kneewear.io.curves import read_table


def test_a_line_of_units_below_the_titles_changes_no_name(tmp_path):
    file = tmp_path / "gait.csv"
    rows = [f"{percent},{percent / 2},{percent / 4}" for percent in range(0, 101, 20)]
    file.write_text("\n".join(["percent,flexion,anterior", "%,rad,cm", *rows]) + "\n")
    table = read_table(file)
    np.testing.assert_allclose(table.numbers("percent"), range(0, 101, 20))
    np.testing.assert_allclose(table.numbers("flexion")[1], np.degrees(10.0))
    np.testing.assert_allclose(table.numbers("-anterior")[1], -50.0)
