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
from docs.generators.front_picture import draw_front_picture
from docs.generators.identifiers import linked
from docs.generators.mathematics import with_formulas
from docs.generators.pages import ROOT, generated_pages
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
    draw_front_picture(folder / "images" / "worn_insert.png")
    write_example_page(folder)
    write_example_report(folder / "example")
    copy_pictures(RESULTS, SNAPSHOT / "records" / "gallery.csv", folder / "images")
    for page in folder.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        page.write_text(linked(with_formulas(with_tables(text))), encoding="utf-8")


def write_example_report(folder: Path) -> None:
    """Run the quick study and copy its report, for readers who want to see one first."""
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "kneewear", "run", "quick", "--cores", "2"]
        own = {"PYTHONPATH": str(ROOT)}
        subprocess.run(
            command, cwd=place, env=os.environ | own, check=True, capture_output=True, text=True
        )
        shutil.copytree(Path(place) / "results" / "quick" / "report", folder)


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
