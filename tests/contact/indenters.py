"""Indenters with several bumps, and elements of any shape, for tests of the search."""

from __future__ import annotations

from functools import cache

import numpy as np

from kneewear.contact.pair import ContactModel, ContactPair
from kneewear.geometry.fitting import patch_through
from kneewear.geometry.grid import build_grid
from kneewear.geometry.table import tabulate_surface
from tests.physics.bodies import flat_implant, linear_layer

THICKNESS = 8.0


def clamped(start, end, lines):
    return np.concatenate([[start] * 3, np.linspace(start, end, lines - 2), [end] * 3])


@cache
def bumps(height=0.4, length=5.0):
    """Facing down: an egg-box of bumps on a body of 60 mm radius, lowest point at the origin."""

    def position(u, v):
        u, v = np.broadcast_arrays(np.asarray(u, dtype=float), np.asarray(v, dtype=float))
        wave = height * (2.0 - np.cos(2 * np.pi * u / length) - np.cos(2 * np.pi * v / length)) / 2
        return np.stack([u, wave + (u**2 + v**2) / 120.0, v], axis=-1)

    surface = patch_through(position, (clamped(-14, 14, 60), clamped(-14, 14, 60)))
    return surface if surface.normal(0.0, 0.0)[1] < 0 else surface.reversed_normal()


@cache
def bumpy_pairs(cells=(40, 40), searches=("bounds", "breadth_first", "all")):
    """The egg-box over a flat plate, one pair a search, and their layer."""
    implant = flat_implant(bumps(), 12.0, 12.0, spacing=0.0, thickness=THICKNESS)
    grid = build_grid(implant, *cells)
    table = tabulate_surface(bumps(), 81, 81)
    pairs = {name: ContactPair(grid, 0, bumps(), table, search=name) for name in searches}
    count = pairs[searches[0]].index.size
    return pairs, linear_layer(np.full(count, THICKNESS))


def models(pairs, layer, **choices):
    return {
        name: ContactModel({"only": pair}, {"only": layer}, **choices)
        for name, pair in pairs.items()
    }
