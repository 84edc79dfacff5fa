"""Input that is wrong in meaning is refused, or warned of, before the first job."""

from __future__ import annotations

import re

import pytest
import yaml

import kneewear
from kneewear import default_settings_file
from kneewear.errors import InputDataError
from kneewear.io.study_inputs import check_inputs
from kneewear.provenance import provenance_record
from kneewear.settings.checks import checks
from kneewear.settings.study import read_study
from tests.faults.faulty_files import CHECKOUT
from tests.faults.implausible import MEANINGS, render_table
from tests.overlays import AFTER

SHIPPED = sorted(
    str(path.relative_to(CHECKOUT))
    for path in (CHECKOUT / "config").glob("**/*.yaml")
    if path.name != "config.yaml"
)


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


@pytest.mark.parametrize("name", AFTER)
def test_files_that_come_after_another_one_are_refused_alone(name):
    with pytest.raises(InputDataError):
        read_study(CHECKOUT / name, defaults=default_settings_file())


@pytest.mark.parametrize(
    "name",
    [name if "example" in name else pytest.param(name, marks=pytest.mark.slow) for name in SHIPPED],
)
def test_shipped_studies_give_no_alarm(name):
    paths = [AFTER[name], name] if name in AFTER else [name]
    try:
        warnings = judged(*(CHECKOUT / path for path in paths))
    except InputDataError as error:
        if "no such file" in str(error):
            pytest.skip("needs the data folder")
        if "no rows" in str(error):
            pytest.skip("a template that the user fills in")
        if "no table of a finished finite-element twin" in str(error):
            pytest.skip("quotes a twin that has to be run before")
        raise
    assert [text for text in warnings if "(check " in text] == []


def test_default_study_gives_no_alarm():
    assert judged() == ()


def test_natural_knee_with_exchanged_sides_is_refused():
    axes = {"x": "posterior", "y": "superior", "z": "medial"}
    turned = {"implant": {"natural": {"axes": axes}}}
    try:
        judged(CHECKOUT / "config/natural_knee.yaml")
    except InputDataError:
        pytest.skip("needs the data folder")
    with pytest.raises(InputDataError, match=r"a lateral plateau .* longer than the medial one"):
        judged(CHECKOUT / "config/natural_knee.yaml", turned)


def test_page_shows_warnings_and_names_silenced_checks(tmp_path):
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "fit.log").write_text("t WARNING A warning of a job. (check motion.spike)\n")
    settings = kneewear.default_study().model_dump(mode="json")
    settings["cases"]["thickness_mm"] = [3.0]

    def shown(silence):
        settings["checks"] = {"silence": silence}
        folders = {"benchmarks": tmp_path, "logs": logs}
        return provenance_record(settings, [], **folders)["warnings"]

    (first, second) = shown([])
    assert first[0] == "settings"
    assert "(check settings.thickness)" in first[1]
    assert second == ["fit", "A warning of a job. (check motion.spike)"]
    (first, second) = shown(["settings.thickness", "motion.spike"])
    assert first[1].startswith("Silenced by checks.silence: 1 warning of settings.thickness")
    assert second == ["fit", "Silenced by checks.silence: 1 warning of motion.spike "
                      f"({checks()['motion.spike'].quantity})."]  # fmt: skip


def test_positions_that_count_from_the_seat_or_are_moved_are_judged_on_the_bearing_instead(
    tmp_path,
):
    moved = tmp_path / "moved.yaml"
    study = kneewear.default_study().model_dump(mode="json")
    base = study["activities"]["gait"]["femur_posterior_mm"] | {"base": 100.0}
    for start, refused in (("seat", False), (-104.0, False), (53.0, False), ("file", True)):
        gait = {"femur_posterior_mm": base, "zero": {"anterior_posterior": start}}
        moved.write_text(yaml.safe_dump({"activities": {"gait": gait}}))
        if refused:
            with pytest.raises(InputDataError, match=r"anterior posterior position of 98 mm"):
                judged(moved)
        else:
            assert judged(moved) == ()
