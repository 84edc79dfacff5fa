"""The structure of a checkout is counted from its files: here of a small one with known faults."""

from __future__ import annotations

from itertools import pairwise

import pytest

from benchmarks.structure import (
    CHAIN,
    Count,
    Sources,
    circles_of,
    count_examples,
    count_rooms,
    count_rules,
    count_run,
    count_slices,
    duplicate_names,
    model_names,
)
from benchmarks.trace import executed
from kneewear import default_settings_file

CONTRACT = """
[tool.importlinter]
root_package = "kneewear"

[[tool.importlinter.contracts]]
name = "Rooms"
type = "layers"
containers = ["kneewear"]
exhaustive = true
exhaustive_ignores = ["api"]
layers = ["models", "knees | evidence", "study", "wear | io", "base"]
"""
FILES = {
    "pyproject.toml": CONTRACT,
    "kneewear/__init__.py": "",
    "kneewear/api.py": "from kneewear.models.press.settings import PressStudy\n",
    "kneewear/loose.py": "",
    "kneewear/base/__init__.py": "def load(): ...\n",
    "kneewear/base/up.py": "from kneewear.wear import laws\n",
    "kneewear/wear/__init__.py": "def load(): ...\n",
    "kneewear/wear/laws.py": "from kneewear import base\nfrom kneewear.io import files\n",
    "kneewear/io/__init__.py": "",
    "kneewear/io/files.py": "from . import other\n",
    "kneewear/io/other.py": "",
    "kneewear/study/__init__.py": "",
    "kneewear/study/models.py": "import kneewear.models.press.settings\n",
    "kneewear/models/__init__.py": "",
    "kneewear/models/press/__init__.py": "def compute(): ...\n",
    "kneewear/models/press/settings.py": (
        "from typing import Literal\nfrom kneewear.models.press import compute\n"
        "class PressStudy:\n    model: Literal['press']\n"
    ),
    "kneewear/models/mobile/__init__.py": "def compute(): ...\n",
    "kneewear/knees/__init__.py": "",
    "kneewear/evidence/__init__.py": "from kneewear.knees import bodies\nx = s.model == 'press'\n",
    "kneewear/knees/bodies.py": "",
    "kneewear/runs/jobs.py": "a = 1\nb = 2\n",
    "scripts/job.py": "from kneewear.knees import bodies\n",
    "workflow/rules/common.smk": (
        'from kneewear.knees import bodies\nx = STUDY.model in ("press",)\n'
    ),
}


@pytest.fixture
def sources(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return Sources(tmp_path)


def test_imports_that_point_up_or_to_the_side_and_circles_are_counted(sources):
    upward, circles, loose = count_rooms(sources)
    assert {place.split(":")[0] for place in upward.places} == {
        "kneewear/base/up.py",
        "kneewear/wear/laws.py",
        "kneewear/evidence/__init__.py",
        "kneewear/study/models.py",
    }
    assert circles.places == ("kneewear.base and kneewear.wear",)
    assert set(loose.places) == {"kneewear.loose", "kneewear.runs.jobs"}


def test_slices_are_known_only_to_the_loader(sources):
    imports, named, asked = count_slices(sources)
    assert {place.split(":")[0] for place in imports.places} == {
        "kneewear/api.py",
        "kneewear/evidence/__init__.py",
        "scripts/job.py",
        "workflow/rules/common.smk",
    }
    assert model_names(sources) == dict.fromkeys(
        ["PressStudy", "press"], "kneewear.models.press.settings"
    )
    assert set(named.places) == {
        "kneewear/api.py:1 PressStudy",
        "kneewear/evidence/__init__.py:2 press",
        "workflow/rules/common.smk:2 press",
    }
    assert asked.places == ("kneewear/evidence/__init__.py:2", "workflow/rules/common.smk:2")


def test_slices_may_share_names_and_rooms_may_not(sources):
    assert duplicate_names(sources) == ("load: kneewear.base, kneewear.wear",)


def test_modules_of_the_top_and_of_run_are_counted(sources):
    assert [one.number for one in count_run(sources)] == [3, 1, 2]


def test_a_count_that_cannot_be_made_is_missed():
    assert not Count("rules", None, 13).kept
    assert not Count("rules", 14, 13).kept
    assert Count("rules", 13, 13).kept


def test_circles_are_sets_that_reach_each_other():
    assert circles_of({"a": "b", "b": "c", "c": "a", "d": "a"}) == [{"a", "b", "c"}]
    assert circles_of({"a": "b", "b": "c"}) == []


def test_chain_of_rules_may_have_other_rules_between_but_no_gap():
    after = {first: [f"{first}_more"] for first in CHAIN[:-1]}
    after |= {f"{first}_more": [second] for first, second in pairwise(CHAIN)}
    rules, links = count_rules(("a", "b"), after)
    assert (rules.number, links.number) == (2, 0)
    after["simulate_contact_more"] = []
    assert count_rules((), after)[1].places == ("simulate_contact before accumulate_wear",)
    assert count_rules((), after)[0].number is None


def test_examples_count_files_that_exist(tmp_path):
    (tmp_path / "laws.py").write_text("")
    block = "```python\n# {}\na = 1\n```\n"
    text = (
        "### A wear law: one\n"
        + block.format('laws.py, before "x"')
        + block.format("new.py")
        + "### A model: none\n"
        + block.format("config/mine.yaml")
        + block.format("new.py")
    )
    found = {one.what.split(" that ")[1]: one for one in count_examples(tmp_path, text)}
    assert found["a wear law changes"].places == ("laws.py",)
    assert found["a model changes"].number == 0
    assert found["a figure changes"].number is None


def test_executed_functions_are_those_of_a_folder_each_counted_once():
    folder = default_settings_file.__code__.co_filename.rpartition("/")[0]
    functions, result = executed(lambda: [default_settings_file() for _ in range(3)], folder)
    assert {code.co_name for code in functions} == {"default_settings_file", "checkout_folder"}
    assert len(result) == 3
