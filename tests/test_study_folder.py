"""A folder that somebody sent: nothing in it is executed, and surroundings do not reach a run."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kneewear.base.search_path import is_command, without_folder

CHECKOUT = Path(__file__).parent.parent
SETTINGS = """
study: received
grid: {rows: 24, columns: 18}
coarse_grid: {rows: 24, columns: 18}
variables: {thickness_mm: [8], body_mass_kg: [75]}
cases: {plan: factorial}
analyses: {}
report: {compare_with_published: false, spread: {blocks: 1}}
"""
# What `python -m` reads itself, before it looks for the package that it is to run.
PYTHONS_OWN = {
    "importlib",
    "warnings",
    "contextlib",
    "collections",
    "keyword",
    "operator",
    "reprlib",
    "functools",
    "types",
}
SHADOW = "open({mark!r}, 'w')\nraise ImportError('a file of the study was run')\n"
# What the command that pip installs does.
INSTALLED = "import sys\nfrom kneewear.__main__ import main\nsys.exit(main())\n"


@pytest.fixture
def received(tmp_path):
    """A study with a Python file of the name of every module that can be imported."""
    folder = tmp_path / "received"
    folder.mkdir()
    (folder / "mine.yaml").write_text(SETTINGS)
    names = set(sys.stdlib_module_names) | set(importlib.metadata.packages_distributions())
    for name in filter(str.isidentifier, names - PYTHONS_OWN - {"kneewear"}):
        (folder / f"{name}.py").write_text(SHADOW.format(mark=str(tmp_path / f"{name}.mark")))
    return folder


def run(words, folder, **variables):
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(CHECKOUT)} | variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("how", ["module", "installed, an empty entry in PYTHONPATH"])
@pytest.mark.slow
def test_nothing_of_a_studys_folder_is_executed(received, tmp_path, how):
    command = tmp_path / "bin" / "kneewear"
    command.parent.mkdir()
    command.write_text(INSTALLED)
    words = ["-m", "kneewear"] if how == "module" else [command]
    variables = {}
    if how != "module":
        # What Python imports before any program starts is left to Python.
        for name in ("encodings", "traceback", "_distutils_hack", *sys.builtin_module_names):
            (received / f"{name}.py").unlink(missing_ok=True)
        variables["PYTHONPATH"] = f"{os.pathsep}{CHECKOUT}"
    code, said = run([*words, "run", "mine.yaml", "--", "-n"], received, **variables)
    assert not list(tmp_path.glob("*.mark")), said
    assert code == 0, said


@pytest.mark.slow
def test_jobs_execute_nothing_of_a_studys_folder(received, tmp_path):
    _code, said = run(
        ["-m", "kneewear", "run", "mine.yaml", "--", "--until", "prepare_activity"], received
    )
    assert not list(tmp_path.glob("*.mark")), said
    assert list((received / "results" / "received").rglob("*.nc")), said
    # Snakemake started by itself, as on a cluster.
    (received / "results").rename(tmp_path / "done")
    snakemake = Path(sys.executable).with_name("snakemake")
    words = [snakemake, "--snakefile", CHECKOUT / "Snakefile", "--cores", "1"]
    run([*words, "--configfile", "mine.yaml", "--until", "prepare_activity"], received)
    assert not list(tmp_path.glob("*.mark"))
    assert list((received / "results" / "received").rglob("*.nc"))


@pytest.mark.slow
def test_profiles_of_the_folder_and_of_the_user_are_left_out_unless_one_is_named(tmp_path):
    (tmp_path / "mine.yaml").write_text(SETTINGS)
    for folder in ("profiles/default", "default", "named"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "config.yaml").write_text("executor: of_another_cluster\njobs: many\n")
    elsewhere = str(tmp_path / "of_another_cluster")
    words = ["-m", "kneewear", "run", "mine.yaml", "--", "-n"]
    code, said = run(words, tmp_path, SNAKEMAKE_PROFILE=elsewhere)
    assert code == 0, said
    assert run([*words, "--workflow-profile", "named"], tmp_path)[0] != 0


def test_files_of_a_folder_change_neither_figures_nor_kernels(tmp_path):
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\nfont.size: 30\nsavefig.dpi: 7\n")
    (tmp_path / ".numba_config.yaml").write_text("disable_jit: 1\ncache_dir: here\nopt: 0\n")
    program = (
        "import matplotlib as mpl\n"
        "import kneewear.report.style, kneewear.base.machine_code\n"
        "from numba import config\n"
        "default = mpl.rcParamsDefault\n"
        "assert all(mpl.rcParams[key] == default[key] for key in"
        " ('text.usetex', 'font.size', 'savefig.dpi'))\n"
        "assert (config.DISABLE_JIT, config.OPT) == (0, 3), (config.DISABLE_JIT, config.OPT)\n"
        "assert config.CACHE_DIR != 'here'\n"
    )
    code, said = run(["-c", program], tmp_path)
    assert code == 0, said


def test_search_paths_lose_a_folder_and_what_is_relative(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    entries = ["", ".", "lib", "/usr/lib", str(tmp_path), str(tmp_path / "link"), "/opt"]
    assert without_folder(entries, str(tmp_path)) == ["/usr/lib", "/opt"]


@pytest.mark.parametrize(
    ("words", "started", "command"),
    [
        (["-m", "run"], ["python", "-m", "kneewear", "run"], True),
        (["-m"], ["python", "-X", "dev", "-m", "kneewear.io.opencascade"], True),
        (["/usr/bin/kneewear", "run"], ["python", "/usr/bin/kneewear", "run"], True),
        (["-m", "kneewear"], ["python", "-m", "pytest", "kneewear"], False),
        (["-c", "kneewear"], ["python", "-c", "import kneewear", "kneewear"], False),
        ([""], ["python"], False),
        ([], [], False),
    ],
)
def test_only_the_command_changes_its_search_path(words, started, command):
    assert is_command(words, started) == command
