"""The gallery shows every study."""

from __future__ import annotations

import csv
import importlib.util
import re

import yaml

from docs.generators.gallery import DOCS, RECORD, ROOT, render_gallery
from docs.generators.pages import concepts, source_points
from kneewear.study.settings import merge_settings, read_settings, validate_study
from kneewear.study.shipped import shipped_studies

STUDIES = [
    path
    for shelf in shipped_studies(ROOT / "config").values()
    for path in shelf
    if path.parent.name != "uncertainty"
]


def test_gallery_has_every_study_with_a_command_that_names_it():
    sections = re.split(r"^### ", render_gallery(), flags=re.MULTILINE)[1:]
    shown = {section.partition("\n")[0]: section for section in sections}
    assert set(shown) == {"default", *(path.stem for path in STUDIES)}
    for path in STUDIES:
        commands = re.search(r"```bash\n(.*?)```", shown[path.stem], re.DOTALL)[1]
        assert path.relative_to(ROOT).as_posix() in commands


def test_commands_of_the_gallery_run_studies():
    default = read_settings("config/defaults.yaml")
    found = re.findall(r'^make study CONFIG="?([^"\n]+)"?$', render_gallery(), re.MULTILINE)
    assert len(found) >= len(STUDIES)
    for files in found:
        settings = default
        for file in files.split():
            settings = merge_settings(settings, read_settings(ROOT / file))
        assert validate_study(settings, files).study


def test_records_of_the_gallery_name_studies_and_pictures():
    lines = [line for line in RECORD.read_text("utf-8").splitlines() if not line.startswith("#")]
    for row in csv.DictReader(lines):
        assert row["study"] in {"default", *(path.stem for path in STUDIES)}
        assert not row["picture"] or (DOCS / "images" / row["picture"]).is_file()
        assert row["picture"] or row["time"]


def test_navigation_names_every_page_of_docs():
    navigation = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]
    named = set(re.findall(r"[\w/-]+\.md\b", str(navigation)))
    assert {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} - named == {
        "generators/settings.md"
    }


def test_concepts_of_the_sources_stand_on_their_page_and_in_their_module():
    rows = concepts()
    assert len(rows) >= 60
    assert len({row["source"] for row in rows}) == 5
    for row in rows:
        text = (DOCS / "theory" / row["page"]).read_text("utf-8")
        assert row["concept"].lower() in " ".join(text.lower().split()), row
        assert importlib.util.find_spec(row["module"]), row


def test_points_of_the_sources_hold_by_a_file_or_have_a_reason():
    rows = source_points()
    assert len({row["point"] for row in rows}) == len(rows) == 92
    assert len({row["source"] for row in rows}) == 5
    for row in rows:
        assert (ROOT / row["shown"]).is_file(), row
        assert row["holds"] in {"yes", "partly"}
        assert bool(row["reason"]) == (row["holds"] == "partly"), row


def test_gallery_starts_with_eight_cards_with_pictures():
    head = render_gallery().partition("## More studies")[0].partition("## Start here")[2]
    assert head.count("images/") == 8
