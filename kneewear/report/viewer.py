"""The library that shows the insert on the page."""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path


def k3d_source() -> str:
    """Text of the viewer library, K3D-jupyter's stand-alone build (MIT licence)."""
    # Its Python half is not imported: that would bring all of Jupyter in.
    file = distribution("k3d").locate_file("k3d/static/standalone.js")
    return Path(str(file)).read_text(encoding="utf-8")
