"""Shipped settings files that come after another one."""

from __future__ import annotations

from pathlib import Path

from kneewear.base.files import read_settings

_CHECKOUT = Path(__file__).parents[1]
AFTER = {
    str(path.relative_to(_CHECKOUT)): base
    for path in sorted((_CHECKOUT / "config").rglob("*.yaml"))
    if (base := read_settings(path).get("follows"))
}
