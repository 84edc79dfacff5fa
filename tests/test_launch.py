"""Checks before Snakemake starts, each fault with its message."""

from __future__ import annotations

import getpass
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from kneewear import __main__ as command
from kneewear import checkout_folder, load_study
from kneewear.base import kernel_cache
from kneewear.runs.launch import (
    LOCKS,
    STOPPED,
    check_locks,
    check_machine,
    complete_environment,
    moved_settings,
    name_interpreter,
    settings_files,
    unlock,
)
from kneewear.study import shipped
from kneewear.study.files import check_inputs
from kneewear.study.shipped import (
    find_study,
    list_studies,
    needs_of,
    reachable,
    shipped_studies,
)
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


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("See config/README.md.", "See {config}/README.md."),
        ("(config/example_meshes.yaml)", "({config}/example_meshes.yaml)"),
        ("as config/bouncing_ball.yaml does", "as {config}/papers/bouncing_ball.yaml does"),
        ("Take config/mine.yaml.", "Take config/mine.yaml."),
        ("Type make unlock, then", "Type kneewear unlock, then"),
        ("run it (make study), or", "run it (kneewear run), or"),
        ("make study CONFIG=mine.yaml", "kneewear run mine.yaml"),
        ("make sure", "make sure"),
        ("/elsewhere/config/defaults.yaml: found", "/elsewhere/config/defaults.yaml: found"),
    ],
)
def test_messages_name_what_exists_outside_a_checkout(said, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert reachable(said) == expected.format(config=checkout_folder() / "config")
    # In a checkout they name its files.
    monkeypatch.chdir(CHECKOUT)
    inside = said.replace("config/bouncing_ball", "config/papers/bouncing_ball")
    assert reachable(inside) == inside


def test_pages_of_the_documentation_are_named_by_their_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    address = reachable("Read docs/how-to/own-motion.md, line 3.")
    assert re.fullmatch(r"Read https://\S+/how-to/own-motion/, line 3\.", address)


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


@pytest.mark.parametrize(
    ("name", "refused"),
    [("{1}", True), ("a {b c} d", True), ("{}", True), ("{a}", False), ("a b", False)],
)
def test_a_folder_that_snakemake_cannot_read_is_refused(name, refused, tmp_path):
    from kneewear.runs.workflow import check_folder

    if refused:
        assert refusal(check_folder, tmp_path / name).where == str(tmp_path / name)
    else:
        check_folder(tmp_path / name)


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


ENTERED = "import sys; print(sys.prefix, *sys.argv[1:])"


@pytest.mark.parametrize("name", ["a", "a b", "a'b", 'a"b', "a$b", "a;b"])
def test_an_interpreter_in_any_folder_is_one_word_of_a_shell(name, tmp_path, monkeypatch):
    environment = tmp_path / name
    (environment / "bin").mkdir(parents=True)
    python = environment / "bin" / "python"
    python.symlink_to(os.path.realpath(sys.executable))
    (environment / "pyvenv.cfg").write_text(f"home = {os.path.realpath(sys.base_prefix)}/bin\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(python))
    for _ in range(2):  # the second finds the script of the first
        line = f"{name_interpreter()} -c '{ENTERED}' 'two words'"
        done = subprocess.run(line, shell=True, check=True, capture_output=True, text=True)
        assert done.stdout.strip() == f"{environment} two words"


def without(*names):
    """Environment of this process without some variables."""
    return {name: text for name, text in os.environ.items() if name not in names}


THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def test_linear_algebra_has_one_thread_unless_the_user_chose(monkeypatch):
    monkeypatch.setattr(os, "environ", without(*THREADS) | {"OMP_NUM_THREADS": "3"})
    complete_environment()
    assert [os.environ[name] for name in THREADS] == ["3", "1", "1"]


def test_threads_are_set_before_numpy_is_loaded():
    program = "import sys, kneewear.__main__; sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], cwd=CHECKOUT, check=True)


def test_a_user_without_name_and_home_gets_both(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "environ", without() | dict.fromkeys(THREADS, "1"))
    before = without()
    complete_environment()
    assert without() == before
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "environ", without("HOME", "USER", "LOGNAME", "LNAME", "USERNAME"))

    def nobody(key):
        raise KeyError(key)

    monkeypatch.setattr("pwd.getpwuid", nobody)
    complete_environment()
    assert Path.home() == tmp_path / ".snakemake"
    assert getpass.getuser()


def test_caches_are_kept_with_the_study_where_the_home_takes_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = without("XDG_CACHE_HOME", "MPLCONFIGDIR") | {"HOME": "/proc"}
    monkeypatch.setattr(os, "environ", own)
    check_machine()
    cache = tmp_path / ".snakemake" / "cache"
    assert os.environ["XDG_CACHE_HOME"] == str(cache)
    assert (cache / "snakemake").is_dir()
    monkeypatch.setattr(kernel_cache, "PACKAGE", Path("/none"))
    assert kernel_cache.cache_folder() == cache / "kneewear"


@pytest.mark.parametrize("place", ["results", "results/mine", ".snakemake"])
def test_a_file_in_place_of_a_folder_is_refused_before_a_run(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "run_workflow", lambda files, options: pytest.fail("was started"))
    Path("mine.yaml").write_text("study: mine\n")
    Path(place).parent.mkdir(exist_ok=True)
    Path(place).touch()
    with pytest.raises(SystemExit) as ended:
        command.main(["run", "mine.yaml"])
    assert str(ended.value).startswith(f"{place}: ")


SLOW_SNAKEMAKE = """
import pathlib, subprocess, sys, time
locks = pathlib.Path(".snakemake", "locks")
locks.mkdir(parents=True, exist_ok=True)
(locks / "0.input.lock").touch()
job = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(job.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.workflow
@pytest.mark.parametrize("whole", [True, False], ids=["terminal", "process"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_leaves_no_process_and_no_lock(number, whole, tmp_path):
    """Also where Snakemake and its jobs would not end by themselves."""
    (tmp_path / "snakemake.py").write_text(SLOW_SNAKEMAKE)
    (tmp_path / "mine.yaml").write_text("study: mine\n")
    started = (
        "from kneewear.runs import launch; launch._SNAKEMAKE = ['snakemake.py']\n"
        "from kneewear.__main__ import main; main(['run', 'mine.yaml'])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", started],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        # Tests that run in the background ignore Ctrl-C, and so would this process.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    job = int(process.stdout.readline())
    os.killpg(process.pid, number) if whole else process.send_signal(number)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == STOPPED
    assert len(said.splitlines()) == 1
    assert not list((tmp_path / LOCKS).glob("*"))
    assert not psutil.pid_exists(job) or psutil.Process(job).status() == psutil.STATUS_ZOMBIE
