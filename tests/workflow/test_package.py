"""Wheel and sdist: what they contain, and that an installed copy runs without the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

from kneewear.base.kernel_cache import kernel_folder
from tests.workflow.conftest import CHECKOUT
from tests.workflow.test_environments import PROJECT, module_of_the_guide

BUILD = """
import os, sys
from hatchling.build import build_sdist, build_wheel
os.chdir(sys.argv[1])
build_wheel(sys.argv[2])
build_sdist(sys.argv[2])
"""
# Their packages are optional extras.
EXTRAS = {"kneewear.io.opencascade"}
IMPORT_ALL = """
import importlib, pkgutil, sys, kneewear
for one in pkgutil.walk_packages(kneewear.__path__, "kneewear."):
    if one.name not in sys.argv[1:] and not one.name.endswith("__main__"):
        importlib.import_module(one.name)
print(kneewear.checkout_folder())
"""


def run(*command, folder, path):
    """Output of a Python command in a folder, with the packages of another before all others."""
    environment = {name: value for name, value in os.environ.items() if name != "KNEEWEAR_DATA"}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_module(snakefile, folder, paths, *options, **variables):
    """Run a Snakefile in an empty folder, with packages before those of the environment."""
    folder.mkdir()
    (folder / "Snakefile").write_text(snakefile, encoding="utf-8")
    variables["PYTHONPATH"] = os.pathsep.join(map(str, paths))
    return subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "1", "--quiet", "rules", *options],
        cwd=folder,
        env=os.environ | {"XDG_CACHE_HOME": str(folder / "cache")} | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Folders with wheel and sdist of this checkout, and with the wheel of that sdist."""
    folder = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [*command, "--target", str(folder / "backend"), "hatchling>=1.25"],
        check=True,
        capture_output=True,
        timeout=300,
    )
    own, again = folder / "own", folder / "again"
    run("-c", BUILD, str(CHECKOUT), str(own), folder=folder, path=folder / "backend")
    (sdist,) = own.glob("*.tar.gz")
    with tarfile.open(sdist) as packed:
        packed.extractall(folder, filter="data")
    unpacked = folder / sdist.name.removesuffix(".tar.gz")
    run("-c", BUILD, str(unpacked), str(again), folder=folder, path=folder / "backend")
    return own, again


def names_of(folder):
    """Names of the files in the wheel of a folder."""
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        return {name for name in packed.namelist() if not name.endswith("/")}


@pytest.mark.slow
@pytest.mark.workflow
def test_wheel_has_the_package_and_what_a_study_needs_beside_it(built):
    names = names_of(built[0])
    copied = {"workflow", "scripts", "config", "docs/snapshot"}
    expected = {"kneewear/checkout/Snakefile"}
    for part in ("kneewear", *copied):
        place = "" if part == "kneewear" else "kneewear/checkout/"
        expected |= {
            place + path.relative_to(CHECKOUT).as_posix()
            for path in (CHECKOUT / part).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
    assert sorted(expected - names) == []
    assert not [
        name for name in names if name.startswith(("tests", "benchmarks", "kneewear/tests"))
    ]
    (record,) = (name for name in names if name.endswith("entry_points.txt"))
    (wheel,) = built[0].glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        assert "kneewear = kneewear.__main__:main" in packed.read(record).decode()
        metadata = packed.read(record.replace("entry_points.txt", "METADATA")).decode()
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:")]
    assert len([line for line in required if "extra ==" not in line]) == len(
        PROJECT["dependencies"]
    )
    # The sdist builds the same wheel.
    assert names_of(built[1]) == names


@pytest.mark.slow
@pytest.mark.workflow
def test_an_unpacked_wheel_runs_without_the_checkout(built, tmp_path):
    installed, mine = tmp_path / "installed", tmp_path / "mine"
    mine.mkdir()
    (wheel,) = built[0].glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(installed)
    said = run("-c", IMPORT_ALL, *EXTRAS, folder=mine, path=installed)
    assert said.strip().splitlines()[-1] == str(installed / "kneewear/checkout")
    (mine / "mine.yaml").write_text("study: mine\n", encoding="utf-8")
    run("-m", "kneewear", "check", "--files-only", "mine.yaml", folder=mine, path=installed)
    # Planned by the workflow of the package; nothing is computed.
    run("-m", "kneewear", "run", "mine.yaml", "--", "-n", "--quiet", folder=mine, path=installed)
    # Nor of a study that comes with the package, in a folder without it.
    run("-m", "kneewear", "run", "quick", "--", "-n", "--quiet", folder=mine, path=installed)
    assert not (mine / "results").exists()


SMALL = {
    "study": "mine",
    "grid": {"rows": 40, "columns": 30},
    "coarse_grid": {"rows": 40, "columns": 30},
    "table": {"u_points": 41, "v_points": 21},
    "variables": {"thickness_mm": [6], "body_mass_kg": [50, 75]},
    "simulation": {"frames": 25},
    "report": {"compare_with_published": False, "spread": {"samples": 20}},
}
MODULE = """
module wear:
    snakefile: {}
    config: {{"study": "mine"}}


use rule * from wear
"""


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """Folder of the unpacked wheel."""
    folder = tmp_path_factory.mktemp("installed")
    (wheel,) = built[0].glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
    return folder


@pytest.mark.slow
@pytest.mark.workflow
def test_ten_lines_in_an_empty_folder_end_with_the_report(installed, tmp_path):
    lines = module_of_the_guide(SMALL)
    assert len(lines.splitlines()) <= 10
    # The wheel has the checkout's kernels, so that what is compiled already serves both.
    kernels = {"NUMBA_CACHE_DIR": str(kernel_folder().parent)}
    done = run_module(lines, tmp_path / "mine", [installed], **kernels)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "mine/results/mine/report/index.html").is_file()
    cases = (tmp_path / "mine/results/mine/tables/cases.csv").read_text().splitlines()
    assert len(cases) > 2


def package_of(folder, text):
    """Folder with a package kneewear of one line."""
    (folder / "kneewear").mkdir(parents=True)
    (folder / "kneewear/__init__.py").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.workflow
def test_workflow_and_package_belong_together(installed, tmp_path):
    """Plans of modules by the package that Snakemake can import, and by where the workflow is."""
    missing = package_of(tmp_path / "missing", "raise ModuleNotFoundError('x', name='kneewear')\n")
    other = package_of(tmp_path / "other", "__version__ = '0.1.0'\n")
    hosted = tmp_path / "repository"
    for name in ("workflow", "scripts"):
        shutil.copytree(CHECKOUT / name, hosted / name)
    git = ["git", "-C", str(hosted), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "a"], ["tag", "v1"]):
        subprocess.run([*git, *command], check=True)
    # In place of the network.
    variables = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{hosted}.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://github.com/kneewear/kneewear",
    }
    checkout = repr(str(CHECKOUT / "workflow/Snakefile"))
    wheel = repr(str(installed / "kneewear/checkout/workflow/Snakefile"))
    github = 'github("kneewear/kneewear", path="workflow/Snakefile", tag="v1")'
    rows = [
        ("hosted", github, installed, ""),
        ("checkout", checkout, missing, ""),
        ("checkout_of_other", checkout, other, ""),
        ("none", wheel, missing, sys.executable),
        ("versions", wheel, other, "0.1.0"),
        ("hosted_versions", github, other, "0.1.0"),
    ]
    for name, snakefile, package, refused in rows:
        text = MODULE.format(snakefile)
        done = run_module(text, tmp_path / name, [package], "--dry-run", **variables)
        said = done.stdout + done.stderr
        assert (done.returncode != 0) == bool(refused), (name, said)
        assert refused in said, (name, said)
        assert ("write_report" in said) != bool(refused), (name, said)
        assert "Traceback" not in said, (name, said)
