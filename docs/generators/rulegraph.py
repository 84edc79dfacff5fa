"""The picture of the workflow's rules, `docs/images/rulegraph.svg`.

`python -m docs.generators.rulegraph` renews it from the output of `snakemake --rulegraph` for the
default study. Edges that other edges imply are left out.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "images" / "rulegraph.svg"
COLOURS = {
    "inputs": "#56B4E9",
    "lives": "#D55E00",
    "results": "#CC79A7",
    "report": "#009E73",
}
DARK = ("lives", "report")
WIDTH = 0.86
HEIGHT = 0.62
Edges = set[tuple[str, str]]


def rule_edges() -> Edges:
    """Pairs of rules of the default study, the first of which the second waits for."""
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--rulegraph", "dot"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    names = dict(re.findall(r'(\d+)\[label = "(\w+)"', done.stdout))
    edges = re.findall(r"(\d+) -> (\d+)", done.stdout)
    return reduced({(names[a], names[b]) for a, b in edges if names[b] not in ("all", "study")})


def reduced(edges: Edges) -> Edges:
    """Edges that no other path implies."""
    after: dict[str, set[str]] = {}
    for first, second in edges:
        after.setdefault(first, set()).add(second)

    def beyond(node: str) -> set[str]:
        found: set[str] = set()
        for one in after.get(node, ()):
            found |= {one} | beyond(one)
        return found

    implied = {
        (first, far) for first, nexts in after.items() for one in nexts for far in beyond(one)
    }
    return edges - implied


def ranks(edges: Edges) -> dict[str, int]:
    """Longest way from a rule that waits for nothing."""
    before: dict[str, list[str]] = {}
    for first, second in edges:
        before.setdefault(first, [])
        before.setdefault(second, []).append(first)

    def rank(node: str) -> int:
        return 1 + max((rank(one) for one in before[node]), default=-1)

    return {node: rank(node) for node in before}


def positions(edges: Edges) -> dict[str, tuple[float, float]]:
    """Column and height of each rule: near what it waits for."""
    column = ranks(edges)
    found: dict[str, tuple[float, float]] = {}
    for number in range(1 + max(column.values())):
        own = sorted(name for name, rank in column.items() if rank == number)
        heights = {
            name: [found[first][1] for first, second in edges if second == name and first in found]
            for name in own
        }
        own.sort(key=lambda name: sum(heights[name]) / len(heights[name]) if heights[name] else 0.0)
        for row, name in enumerate(own):
            found[name] = (float(number), row - 0.5 * (len(own) - 1))
    return found


def rooms() -> dict[str, str]:
    """Rule file of every rule."""
    return {
        name: path.stem
        for path in (ROOT / "workflow" / "rules").glob("*.smk")
        for name in re.findall(r"^rule (\w+):", path.read_text(encoding="utf-8"), re.MULTILINE)
    }


def draw_rules(edges: Edges) -> Figure:
    """Rules in columns, coloured by their room."""
    room, position = rooms(), positions(edges)
    columns = 1 + max(x for x, _ in position.values())
    rows = 1 + 2 * max(abs(y) for _, y in position.values())
    figure = Figure(figsize=(1.62 * columns, 0.52 * rows + 0.5), layout="constrained")
    axes = figure.subplots()
    axes.set(xlim=(-0.6, columns - 0.4), ylim=(-0.5 * rows - 0.6, 0.5 * rows + 0.3))
    axes.set_axis_off()
    for first, second in sorted(edges):
        (x0, y0), (x1, y1) = position[first], position[second]
        ends = (x0 + 0.5 * WIDTH, y0), (x1 - 0.5 * WIDTH, y1)
        axes.add_patch(
            FancyArrowPatch(
                *ends,
                arrowstyle="-|>",
                mutation_scale=8,
                color="#777777",
                lw=0.9,
                connectionstyle="arc3,rad=0.06",
                shrinkA=0,
                shrinkB=0,
            )
        )
    for name, spot in position.items():
        _draw_rule(axes, name, room[name], spot)
    shown = [name for name in COLOURS if name in {room[rule] for rule in position}]
    for number, name in enumerate(shown):
        x = -0.5 + number * columns / len(shown)
        axes.plot(x, -0.5 * rows - 0.45, "s", color=COLOURS[name], ms=8)
        axes.text(x + 0.1, -0.5 * rows - 0.45, name, va="center", fontsize=8)
    return figure


def _draw_rule(axes: Axes, name: str, room: str, position: tuple[float, float]) -> None:
    x, y = position
    axes.add_patch(
        FancyBboxPatch(
            (x - 0.5 * WIDTH, y - 0.5 * HEIGHT),
            WIDTH,
            HEIGHT,
            ec="#333333",
            lw=0.7,
            boxstyle="round,pad=0,rounding_size=0.08",
            fc=COLOURS[room],
            zorder=3,
        )
    )
    ink = "white" if room in DARK else "black"
    axes.text(
        x,
        y,
        name.replace("_", "\n", 1).replace("_", " "),
        ha="center",
        va="center",
        fontsize=7.5,
        color=ink,
        zorder=4,
    )


def described(edges: Edges) -> str:
    """Edges as text, stored in the picture so that a test can check that it is up to date."""
    return "; ".join(sorted(f"{first} > {second}" for first, second in edges))


def main() -> None:
    """Renew the picture."""
    edges = rule_edges()
    with rc_context({"svg.hashsalt": "kneewear", "font.family": "DejaVu Sans"}):
        metadata = {"Date": None, "Description": described(edges)}
        draw_rules(edges).savefig(PICTURE, metadata=metadata)


if __name__ == "__main__":
    main()
