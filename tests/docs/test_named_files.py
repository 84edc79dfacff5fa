"""Files of the repository that the documentation names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMED = re.compile(
    r"`((?:tests|kneewear|config|scripts|workflow|benchmarks)/[\w./-]*[\w-](?:\.\w+)?)`"
)
# Of the reader's own.
OWN = {"config/mine.yaml", "config/mine_verified.yaml"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_named_files_exist(page):
    named = set(NAMED.findall(page.read_text(encoding="utf-8"))) - OWN
    assert sorted(name for name in named if not (ROOT / name).exists()) == []
