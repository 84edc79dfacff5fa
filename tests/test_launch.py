"""Checks before Snakemake starts, each fault with its message."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kneewear import __main__ as command
from kneewear import checkout_folder, load_study
from kneewear.runs.launch import (
    LOCKS,
    check_folder,
    check_locks,
    check_machine,
    moved_settings,
    settings_files,
    unlock,
)
from kneewear.study import shipped
from kneewear.study.files import check_inputs
from kneewear.study.shipped import find_study, list_studies, needs_of, shipped_studies
from tests.refusals import refusal, refused_at

CHECKOUT = Path(__file__).parent.parent


def test_names_with_blanks_are_found_among_several(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("my file.yaml", "other.yaml"):
        Path(name).write_text("seed: 1\n")
    assert settings_files(["my file.yaml other.yaml"]) == ["my file.yaml", "other.yaml"]
    assert settings_files(["my", "file.yaml", "other.yaml"]) == ["my file.yaml", "other.yaml"]
    assert settings_files([""]) == []
    assert refused_at(settings_files, ["other.yaml none.yaml"]) == "none.yaml"


def test_studies_that_come_with_the_package_are_found_by_name_from_any_folder(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    shipped = checkout_folder() / "config"
    for name in ("quick", "config/quick.yaml"):
        assert settings_files([name]) == [str(shipped / "quick.yaml")]
    file = find_study("variance_based")
    assert file is not None
    assert file.stem == "variance_based"
    assert shipped in file.parents
    assert settings_files(["quick sweep"]) == [
        str(shipped / f"{n}.yaml") for n in ("quick", "sweep")
    ]
    # Names of files are no names of studies: a user's own file is elsewhere.
    for name in ("quick.yaml", "other/quick.yaml", "quikc"):
        assert refused_at(settings_files, [name]) == Path(name).name


def test_files_of_the_user_come_before_studies_of_their_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("quick").mkdir()
    assert find_study("quick") == checkout_folder() / "config" / "quick.yaml"
    Path("config").mkdir()
    own = Path("config", "quick.yaml")
    own.write_text("seed: 1\n")
    assert settings_files(["quick"]) == settings_files([str(own)]) == [str(own)]
    Path("quick").rmdir()
    Path("quick").write_text("seed: 1\n")
    assert settings_files(["quick"]) == ["quick"]


def test_studies_are_found_in_their_folder_before_folders_of_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shipped, "checkout_folder", lambda: tmp_path / "shipped")
    (tmp_path / "shipped/config/papers").mkdir(parents=True)
    for place in ("shipped/config/papers/one.yaml", "shipped/config/one.yaml"):
        (tmp_path / place).write_text("seed: 1\n")
        assert find_study("one") == tmp_path / place
        assert find_study("config/one.yaml") == tmp_path / place


def test_files_at_their_former_place_are_found_with_a_finding(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = checkout_folder() / "config" / "evidence" / "fe_twin.yaml"
    for name in ("config/fe_twin.yaml", str(checkout_folder() / "config" / "fe_twin.yaml")):
        assert settings_files([name]) == [str(place)]
        (found,) = moved_settings([name])
        assert (found.check, found.severity) == ("files.moved", "warn")
        assert (found.where, found.expected) == (name, "config/evidence/fe_twin.yaml")
    assert find_study("config/uncertainty/one_at_a_time.yaml") == (
        place.parent / "uncertainty" / "one_at_a_time.yaml"
    )
    for name in ("fe_twin", "quick", "config/quick.yaml", "config/none.yaml", str(place)):
        assert moved_settings([name]) == ()
    assert load_study("config/bouncing_ball.yaml") == load_study("bouncing_ball")


def test_data_at_their_former_place_are_found_with_a_finding():
    former = "config/monte_carlo.yaml", "config/uncertainty/dm_monte_carlo.yaml"
    for file, count in zip(former, (0, 1), strict=True):
        study = load_study("quick", {"report": {"spread": {"constants": file}}})
        found = [
            one for one in check_inputs(study, checkout_folder()) if one.check == "files.moved"
        ]
        assert len(found) == count
        assert study.data_path(file, checkout_folder()).is_file()


def test_every_shipped_study_is_on_one_shelf_and_listed_with_what_it_needs():
    files = [file.stem for shelf in shipped_studies().values() for file in shelf]
    assert len(files) == len(set(files))
    assert [find_study(name).stem for name in files] == files
    assert set(files) <= {line.strip() for line in list_studies()}
    needs = needs_of(find_study("patellar_button_flexion"))
    named = {word for text in needs for word in re.findall(r"\w+", text)}
    assert {"patellar_button_dm", "tkr_soft_tissue", "gc_dm"} <= named
    assert needs_of(find_study("quick")) == []


@pytest.mark.parametrize(
    ("variable", "place"),
    [
        ("TMPDIR", "temporary folder"),
        ("XDG_CACHE_HOME", "cache folder"),
    ],
)
def test_folder_that_cannot_be_used_is_named_with_the_remedy(variable, place, monkeypatch):
    check_machine()
    monkeypatch.setenv(variable, "/proc/none")
    assert refusal(check_machine).where == f"{place} /proc/none"


@pytest.mark.workflow
@pytest.mark.parametrize("content", [None, b"", b"seed:\n\t- 1\n"])
def test_make_study_reports_a_file_that_is_no_settings(content, tmp_path):
    """Further faults are in tests/faults/faulty_inputs.yaml."""
    path = tmp_path / "mine.yaml"
    if content is not None:
        path.write_bytes(content)
    if not (CHECKOUT / ".venv").exists():
        pytest.skip("needs the environment of make")
    done = subprocess.run(
        ["make", "-s", "study", f"CONFIG={path}"],
        cwd=CHECKOUT,
        check=False,
        capture_output=True,
        text=True,
        env=os.environ,
    )
    assert done.returncode != 0
    assert "mine.yaml" in done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_setting_of_the_command_line_is_named_so():
    from kneewear.runs.workflow import study_of_run

    assert (
        refused_at(
            study_of_run,
            {"wear": {"months": -3}},
            [],
            str(CHECKOUT),
            False,
            {"wear": {"months": -3}},
        )
        == "option --config of the command line, key wear.months"
    )


def test_markup_in_texts_is_refused():
    from kneewear.runs.workflow import study_of_run

    own = {"implant": {"name": "</script><script>alert(1)</script>"}}
    place = refused_at(study_of_run, own, [], str(CHECKOUT), False)
    assert place == "defaults.yaml, key implant.name"


def test_digest_follows_the_content(tmp_path):
    from kneewear.runs.workflow import input_digests

    path = tmp_path / "a.csv"
    path.write_text("1\n")
    before = input_digests([str(path)])
    path.write_text("2\n")
    os.utime(path, (1e9, 1e9))
    assert input_digests([str(path)]) != before
    assert input_digests([str(tmp_path / "none")]) == [""]


def lock(folder):
    (folder / LOCKS).mkdir(parents=True)
    (folder / LOCKS / "0.input.lock").write_text("")


def test_a_killed_run_is_named_with_what_to_type(tmp_path, monkeypatch, capsys):
    check_locks(tmp_path)
    lock(tmp_path)
    found = refusal(check_locks, tmp_path)
    assert found.check == "run.locked"
    assert "make unlock" in found.remedy
    monkeypatch.chdir(tmp_path)
    command.main(["unlock"])
    assert capsys.readouterr().out
    check_locks(tmp_path)
    assert unlock(tmp_path) == 0


def test_a_run_that_is_going_on_is_not_unlocked(tmp_path):
    lock(tmp_path)
    # A process that looks like Snakemake.
    (tmp_path / "snakemake").write_text("import time\ntime.sleep(60)\n")
    with subprocess.Popen([sys.executable, "snakemake"], cwd=tmp_path) as running:
        try:
            found = refusal(unlock, tmp_path)
            assert str(running.pid) in found.found
            assert "make unlock" not in refusal(check_locks, tmp_path).remedy
        finally:
            running.kill()
    assert unlock(tmp_path) == 1


@pytest.mark.parametrize("name", ["a b", "a'b", 'a"b', "a{b}", "a$b"])
def test_checkouts_in_folders_of_several_words_are_refused(name, tmp_path):
    check_folder(tmp_path)
    (tmp_path / name).mkdir()
    assert refusal(check_folder, tmp_path / name).check == "checkout.folder"


@pytest.mark.workflow
@pytest.mark.parametrize("name", ["a b", "a'b", 'a"b'])
def test_make_refuses_such_a_folder_before_it_sets_up_anything(name, tmp_path):
    folder = tmp_path / name
    folder.mkdir()
    (folder / "Makefile").write_bytes((CHECKOUT / "Makefile").read_bytes())
    done = subprocess.run(
        ["make", "study"], cwd=folder, check=False, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert name in done.stderr
    assert [path.name for path in folder.iterdir()] == ["Makefile"]
