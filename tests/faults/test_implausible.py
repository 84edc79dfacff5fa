"""Input that is wrong in meaning is refused, or warned of, before the first job."""

from __future__ import annotations

import re

import pytest

from kneewear import default_settings_file
from kneewear.errors import InputDataError
from kneewear.io.study_inputs import check_inputs
from kneewear.settings.checks import checks
from kneewear.settings.study import read_study
from tests.faults.faulty_files import CHECKOUT
from tests.faults.implausible import MEANINGS, render_table

SHIPPED = sorted(
    str(path.relative_to(CHECKOUT))
    for path in (CHECKOUT / "config").glob("**/*.yaml")
    if path.name != "config.yaml"
)
# Files that come after another one.
AFTER = {
    "config/dm_fluoroscopy/measured_load.yaml": "config/dm_fluoroscopy.yaml",
    "config/uncertainty/one_at_a_time.yaml": "config/monte_carlo.yaml",
    "config/uncertainty/variance_based.yaml": "config/monte_carlo.yaml",
    "config/uncertainty/dm_monte_carlo.yaml": "config/dm_fluoroscopy.yaml",
}


def judged(*paths):
    return check_inputs(read_study(*paths, defaults=default_settings_file()), CHECKOUT)


@pytest.mark.parametrize("one", MEANINGS, ids=lambda one: f"{one.group}: {one.name}")
def test_input_wrong_in_meaning_gets_its_verdict(one, tmp_path, monkeypatch):
    monkeypatch.delenv("KNEEWEAR_DATA", raising=False)
    path = one.make(tmp_path)
    if one.verdict == "E":
        with pytest.raises(InputDataError) as caught:
            judged(path)
        assert one.said in str(caught.value)
        return
    warnings = judged(path)
    found = {re.search(r"\(check ([a-z_.]+)\)$", warning)[1] for warning in warnings}
    assert one.said in found, warnings
    assert "expected" in " ".join(warnings)
    # Each check can be silenced by its name, which is then stated.
    silenced = tmp_path / "silent.yaml"
    silenced.write_text(f"checks: {{silence: [{', '.join(sorted(found))}]}}\n")
    assert all(text.startswith("Silenced by") for text in judged(path, silenced))


def test_catalogue_is_large_and_names_real_checks():
    assert len(MEANINGS) >= 100
    assert len({(one.group, one.name) for one in MEANINGS}) == len(MEANINGS)
    assert {one.said for one in MEANINGS if one.verdict == "W"} <= set(checks())
    assert {one.verdict for one in MEANINGS} == {"E", "W"}
    assert render_table().count("\n") == len(MEANINGS) + 2


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_studies_give_no_alarm(name):
    paths = [AFTER[name], name] if name in AFTER else [name]
    try:
        warnings = judged(*(CHECKOUT / path for path in paths))
    except InputDataError as error:
        if "no such file" in str(error):
            pytest.skip("needs the data folder")
        raise
    assert [text for text in warnings if "(check " in text] == []


def test_default_study_gives_no_alarm():
    assert judged() == ()
