"""Plain Markdown of all pages, which any builder of sites can read.

`python -m docs.generators.build FOLDER` copies the pages of `docs/`, adds the generated ones, and
fills in tables of finished studies, formulas (as MathML) and links of identifiers. `make docs` then
builds the site from that folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from docs.generators.examples import write_example_page
from docs.generators.identifiers import linked
from docs.generators.mathematics import with_formulas
from docs.generators.pages import ROOT, generated_pages
from docs.generators.playing import write_playing_data
from docs.generators.results import RESULTS, SNAPSHOT, copy_pictures, with_tables

DOCS = ROOT / "docs"
LEFT_OUT = shutil.ignore_patterns(
    "generators", "snapshot", "notebooks", "*.in", "*.csv", "__pycache__"
)


def write_pages(folder: Path) -> None:
    """Write all pages, pictures and style sheets of the documentation into a folder.

    Parameters
    ----------
    folder : Path
        What it holds is replaced.
    """
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder, ignore=LEFT_OUT)
    for name, text in generated_pages():
        page = folder / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    write_example_page(folder)
    write_example_report(folder / "example", folder / "images")
    write_playing_data(folder)
    copy_pictures(RESULTS, SNAPSHOT / "records" / "gallery.csv", folder / "images")
    for page in folder.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        page.write_text(linked(with_formulas(with_tables(text))), encoding="utf-8")


def write_example_report(folder: Path, images: Path) -> None:
    """Run the quick study, for readers who want to see a report first.

    Parameters
    ----------
    folder : Path
        Where its report is copied to.
    images : Path
        Folder that gets the still picture of its view and the film of its cycle.
    """
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "film.yaml").write_text("report: {film: true}\n", encoding="utf-8")
        command = [sys.executable, "-m", "kneewear", "run", "quick", "film.yaml", "--cores", "2"]
        own = {"PYTHONPATH": str(ROOT)}
        subprocess.run(
            command, cwd=place, env=os.environ | own, check=True, capture_output=True, text=True
        )
        results = Path(place) / "results" / "quick"
        shutil.copytree(results / "report", folder)
        shutil.copy(results / "figures" / "contact" / "view.png", images / "worn_insert.png")
        shutil.copy(results / "film.gif", images / "gait.gif")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
