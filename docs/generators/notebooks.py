"""Notebooks as pages: their cells are run, and their output and figures are shown below them."""

from __future__ import annotations

import base64
import contextlib
import html
import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
import nbformat


def notebook_page(path: Path) -> str:
    """Markdown of a notebook that has just been run.

    Parameters
    ----------
    path : Path
        Notebook (version 4) of Markdown and Python cells.

    Returns
    -------
    str
        Its text, code, printed output and figures, which are embedded.
    """
    parts = [
        f"*This page is the notebook `docs/notebooks/{path.name}`, run when the site was built.*"
    ]
    for cell, printed, figures in run_notebook(path):
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        if printed:
            parts.append(f'<pre class="notebook-output">{html.escape(printed)}</pre>')
        text = html.escape(cell.metadata.get("alternative", "Figure drawn by the cell above"))
        parts += [f'<img alt="{text}" src="data:image/png;base64,{figure}">' for figure in figures]
    # The title comes first on a page.
    parts[0], parts[1] = parts[1], parts[0]
    return "\n\n".join(parts) + "\n"


def run_notebook(path: Path) -> list[tuple[Any, str, list[str]]]:
    """Each cell with what it prints and the figures it leaves open, as PNG in base64.

    Raises
    ------
    Exception
        Any error of a cell.
    """
    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 (after the choice above)

    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    names: dict[str, Any] = {"__name__": "__main__"}
    found = []
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            found.append((cell, "", []))
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(cell.source, f"{path.name}, cell {number}", "exec"), names)
        found.append((cell, printed.getvalue(), [_png(plt.figure(n)) for n in plt.get_fignums()]))
        plt.close("all")
    return found


def _png(figure: Any) -> str:
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=110, bbox_inches="tight")
    return base64.b64encode(data.getvalue()).decode()
