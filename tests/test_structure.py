"""The size of the repository is counted right; budgets themselves are no test."""

from __future__ import annotations

import pytest

from benchmarks.structure import count_structure

FILES = {
    "kneewear/__init__.py": '"""Package."""\n',
    "kneewear/a.py": "def solve(): ...\n\n\nclass Record:\n    def solve(self): ...\n",
    "kneewear/room/b.py": "def solve():\n    return isinstance(0, (int, c.SweepStudy))\n",
    "kneewear/room/c.py": "def _private():\n    pass\n\n\nclass Study:\n    pass\n",
    "kneewear/study/models.py": "FOUND = isinstance(1, SobolPlan)\n",
    "kneewear/replications/d.py": "def _private():\n    pass\n\n\nclass Record:\n    pass\n",
    "tests/a/test_a.py": "\n\n\n",
    "workflow/rules/a.smk": "\n",
    "workflow/rules/b.smk": "\n",
    "scripts/a.py": "isinstance(1, SobolPlan)\n",
}


@pytest.fixture
def counts(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return {one.what: one for one in count_structure(tmp_path)}


def test_lines_and_files(counts):
    numbers = [one.number for one in counts.values()]
    assert numbers[:5] == [1 + 5 + 2 + 6 + 1, 6, 3, 2, 1]


def test_names_of_several_modules_are_listed_with_them(counts):
    """Neither methods nor private names."""
    assert counts["names defined in two modules"].places == (
        "Record: kneewear/a.py, kneewear/replications/d.py",
        "solve: kneewear/a.py, kneewear/room/b.py",
    )


def test_questions_for_types_are_placed_and_the_registry_may_ask(counts):
    asked = counts["isinstance on study or plan types"]
    assert asked.places == ("kneewear/room/b.py:2", "scripts/a.py:1")
    assert not asked.kept
