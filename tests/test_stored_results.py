"""Results of earlier schemas are read for good: a small set of each is kept in `tests/stored`.

The set of schema 1 is a study of two cases on 16 x 12 elements and 12 frames, without figures and
pages; of `geometry/knee.nc` the group `grid` alone.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import kneewear as kw
from kneewear.__main__ import main
from kneewear.errors import InputDataError
from kneewear.evidence.credibility.command import write_credibility
from kneewear.io.documents import load_record, save_json
from kneewear.runs.finished import export_study, finished_studies

STORED = sorted((Path(__file__).parent / "stored").glob("schema_*"))
# Wear volume of both sides in the centre case, mm3, as it was written.
VOLUMES = {"schema_1": 43.266}


def opened(folder, capsys):
    """Return the terminal output about a study."""
    main(["open", "--no-browser", str(folder)])
    return capsys.readouterr().out


def test_every_schema_has_a_stored_set():
    assert [load_record(folder / "provenance.json")["schema"] for folder in STORED] == list(
        range(1, kw.RESULTS_SCHEMA + 1)
    )


@pytest.mark.parametrize("folder", STORED, ids=lambda folder: folder.name)
def test_stored_results_are_opened(folder, capsys):
    summary = json.loads((folder / "report/summary.json").read_text(encoding="utf-8"))
    first = summary["key_results"][0]
    assert first["value"] == pytest.approx(VOLUMES[folder.name], abs=0.001)
    assert f"{VOLUMES[folder.name]:.3g}" in opened(folder, capsys)
    results = kw.open_results(folder)
    assert results.activities == ("gait",)
    cases = results.tables["cases"]
    assert set(cases.columns) >= {"case", "thickness_mm", "body_mass_kg", "side", "quantity"}
    damage = results.damage
    for row in cases[cases["quantity"] == "damage_depth"].to_dict("records"):
        deepest = damage.damage_depth.sel(case=row["case"], side=row["side"]).max()
        assert float(deepest) == pytest.approx(row["value"], rel=1e-6)
    pressure = results.contact("gait").pressure
    for row in cases[cases["quantity"] == "max_pressure"].to_dict("records"):
        largest = pressure.sel(case=row["case"], side=row["side"]).max()
        assert float(largest) == pytest.approx(row["value"], rel=1e-6)


@pytest.mark.parametrize("folder", STORED, ids=lambda folder: folder.name)
def test_stored_results_are_listed_packed_and_judged(folder, tmp_path):
    own = tmp_path / "results" / "stored"
    shutil.copytree(folder, own)
    assert [one.study for one in finished_studies(own.parent)] == ["stored"]
    assert export_study(own, tmp_path / "stored.zip").stat().st_size > 1e4
    assert write_credibility(own).paper.is_file()


def test_results_of_a_later_schema_are_refused(tmp_path):
    own = tmp_path / "stored"
    shutil.copytree(STORED[-1], own)
    for name in ("report/summary.json", "provenance.json"):
        record = json.loads((own / name).read_text(encoding="utf-8"))
        save_json(record | {"schema": kw.RESULTS_SCHEMA + 1}, own / name)
    for read in (
        kw.open_results,
        write_credibility,
        lambda folder: export_study(folder, tmp_path / "stored.zip"),
    ):
        with pytest.raises(InputDataError):
            read(own)
    with pytest.raises(SystemExit):
        main(["open", "--no-browser", str(own)])
