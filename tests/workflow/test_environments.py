"""Every way of installing names the same packages, and the workflow serves as a module."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import files

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.workflow.conftest import CHECKOUT

SETTINGS = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
PROJECT = SETTINGS["project"]
LOCKS = "requirements.lock", "requirements-dev.lock", "requirements-standards.lock"
# conda's names of packages that pip calls otherwise: parts that need no graphics, no storage.
CONDA_NAMES = {"matplotlib-base": "matplotlib", "snakemake-minimal": "snakemake"}


def requirements(lines):
    """Requirements by their canonical name."""
    parsed = map(Requirement, lines)
    return {canonicalize_name(one.name): one for one in parsed}


def locked(*files):
    """Version of every package of locks, for this version of Python."""
    text = "".join((CHECKOUT / name).read_text() for name in files)
    found = map(Requirement, re.findall(r"^(?!#)(\S+==.*?) \\$", text, re.MULTILINE))
    here = [one for one in found if one.marker is None or one.marker.evaluate()]
    return {canonicalize_name(one.name): Version(str(one.specifier)[2:]) for one in here}


EXTRAS, GROUPS = PROJECT["optional-dependencies"], SETTINGS["dependency-groups"]


@pytest.mark.parametrize(
    ("files", "lists"),
    [
        (
            LOCKS[:1],
            [PROJECT["dependencies"], *map(EXTRAS.get, ("cad", "fe", "optimisation", "synthesis"))],
        ),
        (LOCKS[:2], [GROUPS["dev"], GROUPS["docs"]]),
        (LOCKS[2:], [GROUPS["standards"]]),
    ],
)
def test_locks_satisfy_every_requirement_but_those_of_peers_and_clusters(files, lists):
    assert {*EXTRAS} == {"cad", "fe", "optimisation", "synthesis", "peers", "cluster"}
    assert {*GROUPS} == {"dev", "docs", "standards"}
    wanted = requirements(line for lines in lists for line in lines)
    lock = locked(*files)
    assert not wanted.keys() - lock.keys()
    unmet = [name for name, one in wanted.items() if lock[name] not in one.specifier]
    assert not unmet


@pytest.mark.parametrize("name", LOCKS)
def test_locks_hold_the_digest_of_every_file(name):
    blocks = re.split(r"\n(?=\S)", (CHECKOUT / name).read_text().partition("make lock\n")[2])
    assert len(blocks) > 40
    for block in blocks:
        assert re.match(r"\S+==\S+( ; .*)? \\\n", block), block
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", block), block


def test_packages_in_two_locks_of_one_environment_have_one_version():
    runtime, developed = (locked(name) for name in LOCKS[:2])
    shared = runtime.keys() & developed.keys()
    assert {name: runtime[name] for name in shared} == {name: developed[name] for name in shared}


def test_conda_environment_is_in_step_with_the_project():
    file = yaml.safe_load((CHECKOUT / "workflow/envs/kneewear.yaml").read_text())
    *names, extra = file["dependencies"]  # no channel has the last ones
    conda = requirements([*names, *extra["pip"]])
    assert "pip" in conda
    del conda["pip"]
    for theirs, ours in CONDA_NAMES.items():
        conda[ours] = conda.pop(theirs)
    python = conda.pop("python")
    assert conda.keys() == (project := requirements(PROJECT["dependencies"])).keys()
    assert [conda[name].specifier for name in project] == [p.specifier for p in project.values()]
    assert Version("3.11") in python.specifier
    lock = locked(LOCKS[0])
    assert not [name for name in conda if lock[name] not in conda[name].specifier]


@pytest.mark.parametrize("name", ["local", "slurm", "generic", "kubernetes"])
def test_profiles_go_on_where_a_run_was_lost(name):
    profile = yaml.safe_load((CHECKOUT / f"workflow/profiles/{name}/config.yaml").read_text())
    assert profile["rerun-incomplete"]
    if name != "local":
        assert profile["retries"] >= 1
        assert profile["keep-going"]


@pytest.mark.slow
def test_cad_and_three_dimensional_packages_share_no_file_and_load_in_either_order():
    pytest.importorskip("OCP", reason="the extra 'cad' is not installed")
    # Without a common file, installing one never overwrites the other.
    owned = [
        {str(path) for path in files(name) or () if "__pycache__" not in str(path)}
        for name in ("cadquery-ocp-novtk", "vtk")
    ]
    assert all(owned)
    assert not [one & other for one, other in itertools.combinations(owned, 2) if one & other]
    for order in ("OCP.gp, vtkmodules.vtkIOXML", "vtkmodules.vtkIOXML, OCP.gp"):
        subprocess.run([sys.executable, "-c", f"import {order}"], check=True, timeout=120)


GUIDE = CHECKOUT / "docs" / "how-to" / "cluster.md"
OWN = {"study": "mine", "variables": {"thickness_mm": [6], "body_mass_kg": [50, 75]}}


OF_THE_GUIDE = '{"study": "mine", "insert": {"thickness_mm": 8}}'


def module_of_the_guide(settings):
    """The Snakefile printed in the guide, with other settings."""
    text = re.search(r"^```snakemake\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)[1]
    assert text.count(OF_THE_GUIDE) == 1
    return text.replace(OF_THE_GUIDE, repr(settings))


@pytest.mark.slow
@pytest.mark.workflow
def test_another_workflow_uses_it_as_a_module_without_conda_and_in_any_folder(tmp_path):
    folder = tmp_path / "étude à lire, n° 1"
    folder.mkdir()
    (folder / "Snakefile").write_text(module_of_the_guide(OWN))
    # No conda, and nothing of this shell but the interpreter and the system's own commands:
    # executor plugins that are installed call `which` when they are imported.
    path = os.pathsep.join([os.path.dirname(sys.executable), "/usr/bin", "/bin"])
    environment = {"PATH": path, "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "rules"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert re.search(r"knee_simulate_contact +1\b", said), said
    assert re.search(r"knee_write_report +1\b", said)
    assert "localrules" not in said
