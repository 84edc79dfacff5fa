"""CSV and OpenSim files of curves: what is wrong with them is named by file, column and row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from kneewear.io.curves import read_curves
from tests.refusals import refusal, refused_at

NAMES = {"percent": "pct", "flexion": "flexion_deg", "superior_inferior": "up_mm"}
HEADER = "pct,flexion_deg,up_mm\n"
ROWS = [f"{p},{20 + p / 4},41.0" for p in range(0, 101, 10)]


def write(folder, text, encoding="utf-8", name="motion.csv"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def rows(number=None, line=None):
    """Text of a table after a comment, one row (counted from 1) replaced."""
    lines = list(ROWS)
    if number:
        lines[number - 1] = line
    return "# a comment\n" + HEADER + "\n".join(lines) + "\n"


def curve(function):
    """Text of a table whose rows are computed from 0 to 10."""
    return HEADER + "\n".join(function(p) for p in range(11))


CELL = "motion.csv, column 'flexion_deg', data row "


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "motion.csv"),
        (HEADER, "motion.csv"),
        *((rows(4, f"30,{cell},41.0"), CELL + "4") for cell in ("", " ", "NaN", "n/a", "4;5")),
        (rows(4, "30,27.5"), "motion.csv, line 6"),
        (rows(4, HEADER.strip()), "motion.csv, line 6"),
        (rows(2, "10,inf,41.0"), CELL + "2"),
        (rows(5, "20,30.0,41.0"), "motion.csv, column 'pct', data row 5"),
        (HEADER + "\n".join(ROWS[:2] + ROWS[8:]), "motion.csv, column 'pct', data rows 2 and 3"),
        (HEADER + "\n".join(ROWS[:6]), "motion.csv, column 'pct'"),
        (HEADER + "0,5,41\n50,6,41\n100,5,41\n", "motion.csv, column 'pct'"),
        (curve(lambda p: f"{p / 10},{20 + p},41.0"), "motion.csv, column 'pct'"),
        (curve(lambda p: f"{10 * p},{p / 10},41.0"), "motion.csv, column 'flexion_deg'"),
        (curve(lambda p: f"{10 * p},{2 * p},0.041"), "motion.csv"),
        *((rows(3, ROWS[2] + ends), "motion.csv, line 5") for ends in (",9,9,9", ",9", ",")),
        # The first column of such a table would be taken for an index.
        (curve(lambda p: f"{10 * p},{20 + p},41.0,7.0"), "motion.csv, line 2"),
        (HEADER.replace("flexion_deg", "flexion_degrees"), "motion.csv, header"),
        (HEADER.replace("flexion_deg", "pct"), "motion.csv, header"),
    ],
)
def test_faulty_tables_are_refused_at_their_place(tmp_path, text, place):
    assert refused_at(read_curves, write(tmp_path, text), NAMES) == place


def test_files_that_are_no_tables_are_refused(tmp_path):
    assert refused_at(read_curves, tmp_path / "none.csv", NAMES) == "none.csv"
    assert refused_at(read_curves, write(tmp_path, rows(), name="a.xlsx"), NAMES) == "a.xlsx"
    path = write(tmp_path, "\x01" + rows() + "\xe4", "latin-1")
    assert refused_at(read_curves, path, NAMES) == "motion.csv, line 14"


def test_missing_column_suggests_the_nearest(tmp_path):
    path = write(tmp_path, rows())
    names = {**NAMES, "flexion": "flexion_degrees"}
    assert "'flexion_deg'" in refusal(read_curves, path, names).remedy


def test_time_instead_of_percent(tmp_path):
    text = curve(lambda p: f"{3 + p / 100},{20 + p},41.0").replace("pct", "s")
    names = {"time_s": "s", **{name: NAMES[name] for name in list(NAMES)[1:]}}
    assert read_curves(write(tmp_path, text), names)["time_s"].iloc[0] == 3.0
    path = write(tmp_path, text.replace("3.04,", "3.02,"))
    assert refused_at(read_curves, path, names) == "motion.csv, column 's', data row 5"


def test_harmless_oddities(tmp_path):
    zeros = read_curves(write(tmp_path, curve(lambda p: f"{10 * p},{2 * p},0.0")), NAMES)
    assert zeros["superior_inferior"].max() == 0.0
    marked = write(tmp_path, rows().removeprefix("# a comment\n"), "utf-8-sig")
    assert len(read_curves(marked, NAMES)) == 11
    indented = write(tmp_path, "  # a comment, too\n" + rows())
    assert len(read_curves(indented, NAMES)) == 11


def test_number_signs_within_a_line_are_no_comments(tmp_path):
    path = write(tmp_path, rows(3, "20,25.0,41.0 # one, two"))
    assert refused_at(read_curves, path, NAMES) == "motion.csv, line 5"
    header = HEADER.replace("flexion_deg", "flexion #2")
    path = write(tmp_path, rows().replace(HEADER, header))
    assert read_curves(path, NAMES | {"flexion": "flexion #2"})["flexion"].iloc[0] == 20.0


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("separator", [";", "\t", ","])
def test_separators_decimal_signs_and_encodings_give_one_table(tmp_path, separator, encoding):
    expected = read_curves(write(tmp_path, rows()), NAMES)
    text = rows() if separator == "," else rows().replace(",", separator).replace(".", ",")
    text = (
        text.replace("pct", "pct\xa0") if encoding == "cp1252" else text.replace("pct", "pct\u200b")
    )
    found = read_curves(write(tmp_path, "# Grad, männlich\n" + text, encoding), NAMES)
    pd.testing.assert_frame_equal(found, expected)


def test_commas_between_thousands_are_no_decimal_commas(tmp_path):
    text = "pct,flexion_deg,load\n" + "\n".join(
        f'{10 * n},{5 + n},"1,{200 + n}"' for n in range(11)
    )
    names = {"percent": "pct", "load": "load"}
    place = "motion.csv, column 'load', data row 1"
    assert refused_at(read_curves, write(tmp_path, text), names) == place
    rows = "\n".join(f"{10 * n}.5\t1,{200 + n}" for n in range(11))
    # Numbers with points in another column tell that these commas part thousands.
    rows = rows.replace("100.5", "99.5")
    table = read_curves(write(tmp_path, f"pct\tload\n0.0\t1,199\n{rows}\n"), names)
    assert table["load"].tolist() == [1199.0 + n for n in range(12)]


JOINT = {"time_s": "time", "flexion": "knee_flex_r", "anterior_posterior": "knee_tx_r"}
HEAD = ("Coordinates", "version=1", "nRows=11", "nColumns=3", "inDegrees=yes")


def storage(head=HEAD, factor=1.0, length=0.001, changed=None):
    """OpenSim's storage format, as tools of versions 3 and 4 write it; `changed` rows by index."""
    lines = [f"{t / 10}\t{factor * 6 * t}\t{length * (t - 5)}" for t in range(11)]
    for index, line in (changed or {}).items():
        lines[index] = line
    return "\n".join([*head, "endheader", "time\tknee_flex_r\tknee_tx_r", *lines, ""])


@pytest.mark.parametrize(
    ("head", "factor"),
    [
        (HEAD, 1.0),
        (("version=3", "inDegrees=no", "DataType=double", "OpenSimVersion=4.4"), np.pi / 180),
        (("name gait", "datacolumns 3", "datarows 11", "inDegrees=yes"), 1.0),
        (("version=2", "inDegrees=yes"), 1.0),
        # OpenSim needs no counts, of whatever version.
        (("version=1", "nColumns=3", "inDegrees=yes"), 1.0),
        (("version=²", "inDegrees=yes"), 1.0),
        (("inDegrees=yes",), 1.0),
    ],
)
def test_storages_of_all_versions_become_degrees_and_millimetres(tmp_path, head, factor):
    table = read_curves(write(tmp_path, storage(head, factor), name="gait.mot"), JOINT)
    np.testing.assert_allclose(table["flexion"], 6.0 * np.arange(11))
    np.testing.assert_allclose(table["anterior_posterior"], np.arange(11) - 5.0)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (storage(("version=3",)), "header"),
        (storage(("version=3", "inDegrees=maybe")), "header"),
        (storage(factor=np.pi / 180), "column 'knee_flex_r'"),
        (storage(("version=3", "inDegrees=no")), "header"),
        (storage(length=1.0), ""),
        (storage(("version=3", "inDegrees=yes", "DataType=Vec3")), "header"),
        *(
            (storage((*HEAD[:2], *lines, HEAD[4])), "header")
            for lines in (("nRows=12", HEAD[3]), (HEAD[2], "nColumns=4"), ("nRows=ten", HEAD[3]))
        ),
        ("time\tknee_flex_r\n0\t1\n", "header"),
        (storage(changed={4: "0.4\t24"}), "line 12"),
        (storage(changed={10: "1.0\t6"}), "line 18"),
        (storage(changed={5: "0.4\t24\t0"}), "column 'time', data row 6"),
        (storage(changed={5: "0.5\tnan\t0"}), "column 'knee_flex_r', data row 6"),
        (storage().replace("time\t", "frame\t"), "line 7"),
        (storage().replace("knee_tx_r", "knee_flex_r"), "line 7"),
        (storage().replace("knee_tx_r", "knee_tx"), "header"),
    ],
)
def test_faulty_storages_are_refused_at_their_place(tmp_path, text, place):
    path = write(tmp_path, text, name="gait.sto")
    assert refused_at(read_curves, path, JOINT) == f"gait.sto, {place}".removesuffix(", ")


# A text as instrumented implants are exported: lines about it, titles, units, rows to the end.
EXPORT = """Instrumented knee implant
Patient: K0; Activity: level walking
Body weight [N]: 700

Time\tFx\tFz\tMx
[s]\t[N]\t[N]\t[Nm]
"""


def exported(rows=11, separator="\t", comma=False):
    lines = (f"{n / 10:g} 5 {-1000 - n} 2.5".split() for n in range(rows))
    text = "\n".join(separator.join(one) for one in lines)
    return EXPORT + (text.replace(".", ",") if comma else text) + "\n"


@pytest.mark.parametrize("name", ["walking.akf", "walking.txt"])
@pytest.mark.parametrize("comma", [False, True])
def test_exported_texts_have_lines_before_their_table(tmp_path, name, comma):
    path = write(tmp_path, exported(comma=comma), name=name)
    table = read_curves(path, {"time_s": "Time [s]", "load": "-Fz [N]"})
    assert table["load"].tolist() == [1000.0 + n for n in range(11)]
    assert table["time_s"].iloc[-1] == 1.0


def test_percent_of_body_weight_is_read_in_body_weights(tmp_path):
    rows = "\n".join(f"{10 * n}   {-200 - n}" for n in range(11))
    path = write(tmp_path, f"K0 level walking\nCycle [%]   Fz [%BW]\n{rows}\n", name="mean.txt")
    table = read_curves(path, {"percent": "Cycle [%]", "load": "-Fz [%BW]"})
    assert table["load"].iloc[[0, -1]].tolist() == [2.0, 2.1]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("only words\nno table\n", "walking.akf"),
        (exported(rows=3), "walking.akf"),
        (exported() + "end of file\n", "walking.akf"),
        (exported().replace("Fx", "Fz"), "walking.akf, line 6"),
        (exported().replace("\tMx", "").replace("\t[Nm]", ""), "walking.akf, line 6"),
    ],
)
def test_exported_texts_of_another_form_are_refused(tmp_path, text, place):
    path = write(tmp_path, text, name="walking.akf")
    assert refused_at(read_curves, path, {"time_s": "Time [s]", "load": "-Fz [N]"}) == place


@pytest.mark.parametrize("separator", [";", ","])
def test_names_and_values_above_the_titles_are_no_titles(tmp_path, separator):
    above = [["Subject", "S07", ""], ["Mass (kg)", "74", ""], ["", "", ""]]
    rows = [[f"{5 * n}", f"{20 + n}", "2"] for n in range(21)]
    lines = [*above, ["Cycle (%)", "Flexion (deg)", "Load (BW)"], *rows]
    path = write(tmp_path, "\n".join(separator.join(cells) for cells in lines) + "\n")
    columns = {"percent": "Cycle (%)", "flexion": "Flexion (deg)", "load": "Load (BW)"}
    assert read_curves(path, columns)["flexion"].tolist() == [20.0 + n for n in range(21)]
