"""Pictures of the tutorial of a real implant: its commands, and what the reader sees after each.

`python -m docs.generators.tutorial FOLDER` works through the commands of `docs/real-implant.md`
in a folder with the public data (`kneewear fetch --folder FOLDER/public`), and writes the pictures
to `docs/images/`. The build of the site shows them as they are, because it has no network.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docs.generators.pages import ROOT

PAGE = ROOT / "docs" / "real-implant.md"
STUDY = "subject_dm"
DECISIONS = "decisions.yaml"
_WIDTH = 1100  # pixels
_HEIGHT = 700  # pixels
_BROWSER = "chromium"
_WAIT_MS = 3000  # until figures and the view are drawn


@dataclass(frozen=True)
class Picture:
    """A screen of a page in `results/`, after the command number `after` of the page.

    Sections named in `opened` are unfolded, and the picture begins at the element `top`.
    """

    name: str
    after: int
    page: str
    opened: str = ""
    height: int = _HEIGHT


PICTURES = (
    Picture("tutorial_understood", 0, "inputs/index.html", "understood", 760),
    Picture("tutorial_check", 0, "inputs/index.html", "findings", 560),
    Picture("tutorial_report", 1, "report/index.html", height=760),
    Picture("tutorial_trust", 1, "report/index.html", "findings", 560),
)


def commands() -> Iterator[str]:
    """Commands of the page that need neither network nor browser, in their order."""
    for block in re.findall(r"```bash\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        for command in block.replace("\\\n", " ").splitlines():
            if not re.search(r"kneewear (fetch|open)", command):
                yield " ".join(command.split())


def decisions() -> str:
    """Settings that the reader saves as `DECISIONS`."""
    text = re.search(r"```yml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    if text is None:
        raise RuntimeError(f"{PAGE}: no block of settings")
    return text[1]


def work_through(folder: Path, images: Path) -> None:
    """Run the commands of the page, and write the picture of each step.

    Parameters
    ----------
    folder : Path
        Folder with `public/gc_dm`, without results.
    images : Path
        Where the pictures are written to.
    """
    (folder / DECISIONS).write_text(decisions(), encoding="utf-8")
    for number, command in enumerate(commands()):
        words = command.split()
        if words[1] == "new":
            words.append("--no-browser")
        own = os.environ | {"PYTHONPATH": str(ROOT)}
        # Warnings end with 1.
        done = subprocess.run([sys.executable, "-m", *words], cwd=folder, env=own, check=False)
        if done.returncode > 1:
            raise RuntimeError(f"{command}: ended with {done.returncode}")
        photograph(folder / "results" / STUDY, images, number)


def photograph(results: Path, images: Path, after: int) -> None:
    """Write the pictures that follow a command."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only here

    with sync_playwright() as engine:
        browser = engine.chromium.launch(
            executable_path=f"/usr/bin/{_BROWSER}",
            args=["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader"],
        )
        for picture in (listed for listed in PICTURES if listed.after == after):
            screen = browser.new_page(viewport={"width": _WIDTH, "height": picture.height})
            screen.goto((results / picture.page).as_uri())
            screen.wait_for_selector("h1", state="visible")
            screen.wait_for_timeout(_WAIT_MS)
            if picture.opened:
                # A link to a section unfolds it and moves to it.
                screen.evaluate("name => { location.hash = name }", picture.opened)
                screen.wait_for_timeout(_WAIT_MS)
            file = images / f"{picture.name}.png"
            screen.screenshot(path=file)
            screen.close()
            reduce_colours(file)
        browser.close()


def reduce_colours(file: Path) -> None:
    """Store a picture with 256 colours: a third of the size, and the eye sees no difference."""
    from PIL import Image  # noqa: PLC0415 - only here

    with Image.open(file) as picture:
        picture.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)


if __name__ == "__main__":
    work_through(Path(sys.argv[1]).resolve(), ROOT / "docs" / "images")
