"""Page of the Python examples: code, output and picture of each, which is run for this page."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# In the order in which a newcomer reads them.
EXAMPLES = (
    "one_contact",
    "one_cycle",
    "pressure_map",
    "own_wear_law",
    "own_activity",
    "own_implant",
    "two_designs",
    "monte_carlo",
    "cohort",
    "scan",
)
HEAD = """# Python examples

Each example is a complete program of at most 60 lines. The outputs and pictures on this page were
made by these programs when the page was built. Run one in a checkout with
`.venv/bin/python examples/one_contact.py`, or copy it: with kneewear installed, it runs in any
folder. All functions are documented on the page [Python API](reference/api.md).
"""


@dataclass(frozen=True)
class Ran:
    """An example that was run: what it printed, and its pictures by name."""

    output: str
    pictures: dict[str, bytes]


def run_example(name: str) -> Ran:
    """Run an example in an empty folder.

    Parameters
    ----------
    name : str
        Its file in `examples/`, without the ending.

    Raises
    ------
    RuntimeError
        If it fails.
    """
    own = {"PYTHONPATH": str(ROOT), "MPLBACKEND": "agg", "KNEEWEAR_DATA": ""}
    environment = {name: value for name, value in (os.environ | own).items() if value}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, ROOT / "examples" / f"{name}.py"],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"examples/{name}.py: {done.stderr}")
        pictures = {file.name: file.read_bytes() for file in sorted(Path(folder).glob("*.png"))}
    return Ran(done.stdout, pictures)


def write_example_page(folder: Path) -> None:
    """Write the page of the examples, and their pictures, into a folder of pages."""
    parts = [HEAD]
    with ThreadPoolExecutor(2) as pool:
        for name, ran in zip(EXAMPLES, pool.map(run_example, EXAMPLES), strict=True):
            parts.append(section(name, ran))
            for picture, content in ran.pictures.items():
                (folder / "images" / picture).write_bytes(content)
    (folder / "examples.md").write_text("\n".join(parts), encoding="utf-8")


def section(name: str, ran: Ran) -> str:
    """Section of one example."""
    source = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    text = ast.get_docstring(ast.parse(source)) or ""
    title, _, meaning = text.partition("\n\n")
    code = source.split('"""', 2)[2].strip()
    lines = [f"## {title.rstrip('.')}", "", meaning, "", f"```python\n{code}\n```", ""]
    lines += ["Output:", "", f"```text\n{ran.output.rstrip()}\n```", ""]
    lines += [
        f"![Picture of {name}](images/{picture}){{ width=560 }}\n" for picture in ran.pictures
    ]
    return "\n".join(lines)
