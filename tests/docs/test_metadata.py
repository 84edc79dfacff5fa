"""Version and licence are the same in every file that states them."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import yaml

import kneewear

ROOT = Path(__file__).parents[2]


def test_version_and_licence_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    meta = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
    versions = {kneewear.__version__, project["version"], citation["version"], meta["version"]}
    assert len(versions) == 1
    rules = (ROOT / "workflow/rules/common.smk").read_text(encoding="utf-8")
    assert f'\nVERSION = "{kneewear.__version__}"\n' in rules
    assert str(citation["date-released"]) == meta["datePublished"]
    assert {project["license"], citation["license"], meta["license"].rpartition("/")[2]} == {
        "BSD-3-Clause"
    }
    assert meta["description"] == project["description"]


def test_paper_cites_what_its_bibliography_has():
    text = (ROOT / "paper/paper.md").read_text(encoding="utf-8")
    known = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "paper/paper.bib").read_text("utf-8"), re.M))
    assert set(re.findall(r"\[@(\w+)\]", text)) == known
