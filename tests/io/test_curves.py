"""CSV and OpenSim files of curves: what is wrong with them is named by file, column and row."""

from __future__ import annotations

import numpy as np
import pytest

from kneewear.errors import InputDataError
from kneewear.io.curves import read_curves

NAMES = {"percent": "pct", "flexion": "flexion_deg", "superior_inferior": "up_mm"}


def write(folder, text, encoding="utf-8", name="motion.csv"):
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


class TestCsv:
    @staticmethod
    def rows(**changed):
        lines = [f"{p},{20 + p / 4},41.0" for p in range(0, 101, 10)]
        for row, line in changed.items():
            lines[int(row[1:]) - 1] = line
        return "# a comment\npct,flexion_deg,up_mm\n" + "\n".join(lines) + "\n"

    def test_columns_are_renamed_in_order(self, tmp_path):
        table = read_curves(write(tmp_path, self.rows()), NAMES)
        assert list(table.columns) == ["percent", "flexion", "superior_inferior"]
        assert table["flexion"].iloc[-1] == 45.0

    def test_missing_file(self, tmp_path):
        with pytest.raises(InputDataError, match="found no such file"):
            read_curves(tmp_path / "none.csv", NAMES)

    def test_other_kinds_of_files(self, tmp_path):
        with pytest.raises(
            InputDataError, match=r"found a file ending in '\.xlsx'; expected \.csv"
        ):
            read_curves(write(tmp_path, self.rows(), name="motion.xlsx"), NAMES)

    def test_empty_file(self, tmp_path):
        with pytest.raises(InputDataError, match="found an empty file"):
            read_curves(write(tmp_path, ""), NAMES)

    def test_header_without_rows(self, tmp_path):
        with pytest.raises(InputDataError, match="found no rows"):
            read_curves(write(tmp_path, "pct,flexion_deg,up_mm\n"), NAMES)

    def test_missing_column_suggests_the_nearest(self, tmp_path):
        names = {**NAMES, "flexion": "flexion_degrees"}
        with pytest.raises(InputDataError, match="Did you mean 'flexion_deg'"):
            read_curves(write(tmp_path, self.rows()), names)

    @pytest.mark.parametrize(
        ("cell", "found"),
        [
            ("", "an empty cell"),
            (" ", "an empty cell"),
            ("NaN", "'NaN'"),
            ("n/a", "'n/a'"),
            ("4;5", "'4;5'"),
        ],
    )
    def test_bad_number_is_named_with_its_row(self, tmp_path, cell, found):
        path = write(tmp_path, self.rows(r4=f"30,{cell},41.0"))
        with pytest.raises(InputDataError, match=f"'flexion_deg', data row 4: found {found}"):
            read_curves(path, NAMES)

    def test_row_that_ends_early(self, tmp_path):
        path = write(tmp_path, self.rows(r4="30,27.5"))
        with pytest.raises(InputDataError, match="'up_mm', data row 4: found an empty cell"):
            read_curves(path, NAMES)

    def test_infinite_value(self, tmp_path):
        path = write(tmp_path, self.rows(r2="10,inf,41.0"))
        with pytest.raises(InputDataError, match="data row 2: found 'inf'"):
            read_curves(path, NAMES)

    def test_percent_that_falls(self, tmp_path):
        path = write(tmp_path, self.rows(r5="20,30.0,41.0"))
        with pytest.raises(InputDataError, match="data row 5: found 20 after 30"):
            read_curves(path, NAMES)

    def test_gap_between_samples(self, tmp_path):
        lines = self.rows().splitlines()
        path = write(tmp_path, "\n".join(lines[:4] + lines[10:]))
        with pytest.raises(
            InputDataError, match="found no sample between 10 and 80; expected samp"
        ):
            read_curves(path, NAMES)

    def test_half_a_cycle(self, tmp_path):
        text = "\n".join(self.rows().splitlines()[:8])
        with pytest.raises(InputDataError, match="found percent from 0 to 50"):
            read_curves(write(tmp_path, text), NAMES)

    def test_too_few_rows(self, tmp_path):
        text = "pct,flexion_deg,up_mm\n0,5,41\n50,6,41\n100,5,41\n"
        with pytest.raises(InputDataError, match="found 3 rows"):
            read_curves(write(tmp_path, text), NAMES)

    def test_fractions_for_percent(self, tmp_path):
        lines = [f"{p / 10},{20 + p},41.0" for p in range(11)]
        path = write(tmp_path, "pct,flexion_deg,up_mm\n" + "\n".join(lines))
        with pytest.raises(InputDataError, match="look like fractions"):
            read_curves(path, NAMES)

    def test_time_instead_of_percent(self, tmp_path):
        lines = [f"{3 + p / 100},{20 + p},41.0" for p in range(11)]
        path = write(tmp_path, "s,flexion_deg,up_mm\n" + "\n".join(lines))
        names = {"time_s": "s", **{name: NAMES[name] for name in list(NAMES)[1:]}}
        assert read_curves(path, names)["time_s"].iloc[0] == 3.0
        path = write(tmp_path, path.read_text().replace("3.04,", "3.02,"))
        with pytest.raises(
            InputDataError, match=r"3\.02 after 3\.03; expected time that increases"
        ):
            read_curves(path, names)

    def test_radians_for_degrees(self, tmp_path):
        lines = [f"{10 * p},{p / 10},41.0" for p in range(11)]
        path = write(tmp_path, "pct,flexion_deg,up_mm\n" + "\n".join(lines))
        with pytest.raises(InputDataError, match="look like radians"):
            read_curves(path, NAMES)

    def test_metres_for_millimetres(self, tmp_path):
        lines = [f"{10 * p},{2 * p},0.041" for p in range(11)]
        path = write(tmp_path, "pct,flexion_deg,up_mm\n" + "\n".join(lines))
        with pytest.raises(InputDataError, match="look like metres"):
            read_curves(path, NAMES)

    def test_positions_that_are_all_zero_have_no_unit(self, tmp_path):
        lines = [f"{10 * p},{2 * p},0.0" for p in range(11)]
        path = write(tmp_path, "pct,flexion_deg,up_mm\n" + "\n".join(lines))
        assert read_curves(path, NAMES)["superior_inferior"].max() == 0.0

    def test_other_encodings(self, tmp_path):
        text = "# Beugung in Grad, männlich\n" + self.rows()
        with pytest.raises(InputDataError, match="not UTF-8"):
            read_curves(write(tmp_path, text, "latin-1"), NAMES)

    def test_byte_order_mark_of_spreadsheets(self, tmp_path):
        text = self.rows().removeprefix("# a comment\n")
        assert len(read_curves(write(tmp_path, text, "utf-8-sig"), NAMES)) == 11

    def test_ragged_rows(self, tmp_path):
        path = write(tmp_path, self.rows(r3="20,25.0,41.0,9,9,9"))
        with pytest.raises(InputDataError, match="unequal length"):
            read_curves(path, NAMES)


JOINT = {"time_s": "time", "flexion": "knee_flex_r", "anterior_posterior": "knee_tx_r"}


class TestStorage:
    """OpenSim's storage format, as tools of versions 3 and 4 write it."""

    @staticmethod
    def text(head=None, factor=1.0, length=0.001, rows=None):
        if head is None:
            head = ["Coordinates", "version=1", "nRows=11", "nColumns=3", "inDegrees=yes"]
        lines = [f"{t / 10}\t{factor * 6 * t}\t{length * (t - 5)}" for t in range(11)]
        lines = lines if rows is None else rows(lines)
        return "\n".join([*head, "endheader", "time\tknee_flex_r\tknee_tx_r", *lines, ""])

    def read(self, tmp_path, **changed):
        return read_curves(write(tmp_path, self.text(**changed), name="gait.mot"), JOINT)

    def refusal(self, tmp_path, **changed):
        with pytest.raises(InputDataError) as caught:
            self.read(tmp_path, **changed)
        return str(caught.value)

    def test_degrees_stay_and_metres_become_millimetres(self, tmp_path):
        table = self.read(tmp_path)
        np.testing.assert_allclose(table["flexion"], 6.0 * np.arange(11))
        np.testing.assert_allclose(table["anterior_posterior"], np.arange(11) - 5.0)

    def test_radians_become_degrees(self, tmp_path):
        head = ["version=3", "inDegrees=no", "DataType=double", "OpenSimVersion=4.4"]
        table = self.read(tmp_path, head=head, factor=np.pi / 180)
        np.testing.assert_allclose(table["flexion"], 6.0 * np.arange(11))

    def test_old_header_with_spaces(self, tmp_path):
        head = ["name gait", "datacolumns 3", "datarows 11", "inDegrees=yes"]
        assert len(self.read(tmp_path, head=head)) == 11

    @pytest.mark.parametrize("said", [None, "inDegrees=maybe"])
    def test_unit_of_angles_must_be_said(self, tmp_path, said):
        head = ["version=3", *([said] if said else [])]
        text = self.refusal(tmp_path, head=head)
        assert "gait.mot, header: found" in text
        assert "expected inDegrees=yes or inDegrees=no" in text

    def test_radians_called_degrees(self, tmp_path):
        text = self.refusal(tmp_path, factor=np.pi / 180)
        assert "found inDegrees=yes but flexion over a range of 1.05" in text
        assert "look like radians" in text

    def test_degrees_called_radians(self, tmp_path):
        text = self.refusal(tmp_path, head=["version=3", "inDegrees=no"])
        assert "found inDegrees=no but an angle of 60" in text
        assert "look like degrees" in text

    def test_millimetres_for_metres(self, tmp_path):
        assert "look like millimetres" in self.refusal(tmp_path, length=1.0)

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("nRows=12", "nRows=12 but 11 rows"),
            ("nColumns=4", "nColumns=4 but 3 columns"),
            ("nRows=eleven", "nRows=eleven but 11 rows"),
        ],
    )
    def test_counts_must_be_right(self, tmp_path, line, message):
        key = line.split("=")[0]
        head = ["version=1", "nRows=11", "nColumns=3", "inDegrees=yes"]
        head = [line if one.startswith(key) else one for one in head]
        assert message in self.refusal(tmp_path, head=head)

    def test_counts_must_be_there_in_old_versions_only(self, tmp_path):
        text = self.refusal(tmp_path, head=["version=1", "nColumns=3", "inDegrees=yes"])
        assert "no key nRows in a file of version 1" in text
        text = self.refusal(tmp_path, head=["version=²", "nColumns=3", "inDegrees=yes"])
        assert "no key nRows in a file of version ²" in text
        self.read(tmp_path, head=["version=2", "inDegrees=yes"])

    def test_file_without_header(self, tmp_path):
        path = write(tmp_path, "time\tknee_flex_r\n0\t1\n", name="gait.sto")
        with pytest.raises(InputDataError, match="found no line 'endheader'"):
            read_curves(path, JOINT)

    def test_vectors_are_refused(self, tmp_path):
        head = ["version=3", "inDegrees=yes", "DataType=Vec3"]
        assert "DataType=Vec3" in self.refusal(tmp_path, head=head)

    def test_row_with_a_missing_cell(self, tmp_path):
        def cut(lines):
            return [*lines[:4], "0.4\t24", *lines[5:]]

        assert "line 12: found 2 cells; expected 3" in self.refusal(tmp_path, rows=cut)

    def test_row_that_is_cut_off_at_the_end(self, tmp_path):
        text = self.refusal(tmp_path, rows=lambda lines: [*lines[:-1], "1.0\t6"])
        assert "line 18: found 2 cells" in text

    def test_repeated_time(self, tmp_path):
        text = self.refusal(tmp_path, rows=lambda lines: [*lines[:5], lines[4], *lines[6:]])
        assert "column 'time', data row 6: found 0.4 after 0.4" in text

    def test_not_a_number(self, tmp_path):
        text = self.refusal(tmp_path, rows=lambda lines: [*lines[:5], "0.5\tnan\t0", *lines[6:]])
        assert "column 'knee_flex_r', data row 6: found 'nan'" in text

    def test_first_label_is_time(self, tmp_path):
        path = write(tmp_path, self.text().replace("time\t", "frame\t"), name="gait.sto")
        with pytest.raises(
            InputDataError, match="line 7: found 'frame'; expected the label 'time'"
        ):
            read_curves(path, JOINT)

    def test_repeated_label(self, tmp_path):
        text = self.text().replace("knee_tx_r", "knee_flex_r")
        with pytest.raises(InputDataError, match="more than one 'knee_flex_r'"):
            read_curves(write(tmp_path, text, name="gait.sto"), JOINT)

    def test_missing_label_suggests_the_nearest(self, tmp_path):
        path = write(tmp_path, self.text(), name="gait.sto")
        with pytest.raises(InputDataError, match="Did you mean 'knee_tx_r'"):
            read_curves(path, JOINT | {"anterior_posterior": "knee_tx"})
