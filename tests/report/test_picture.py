"""The still picture of a view: near bodies hide far ones, and the scale gives the colours."""

from __future__ import annotations

import io
import re
from base64 import b64decode
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from kneewear.geometry.meshes import TriangleMesh
from kneewear.report.page import picture_address
from kneewear.report.picture import PIXELS, SIZE, draw_scale, draw_view, vertex_normals
from kneewear.report.solids import block_under, fewer_triangles, join
from kneewear.report.viewer import STEPS, body, build_view, choice, packed, scale
from tests.report.pages import as_svg

TAGS = ("}path", "}use", "}image", "}g")
SQUARE = np.array([[-1.0, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]])
FACES = np.array([[0, 2, 1], [0, 3, 2]])


def picture_of(bodies, steps=None, **further):
    scene = {"of": {}, "title": "t", "bodies": list(bodies)}
    if steps is not None:
        colours = packed(np.full(4, steps, np.uint8))
        scene |= {"coloured": "low", "colours": colours, "scale": "depth"}
    scales = {"depth": scale("Depth", "mm", 1.0, "viridis")}
    view = build_view(bodies, [scene], scales=scales, first_direction="above", **further)
    figure = draw_view(view)
    image = figure.axes[0].images[0].get_array()
    assert image.shape == (PIXELS[1], PIXELS[0], 4)
    return np.asarray(image)


@pytest.mark.slow
def test_a_square_fills_its_part_of_the_picture():
    image = picture_of({"low": body(SQUARE, FACES, "#ff0000")})
    covered = image[..., 3]
    # Square pixels: the width of a square seen from above is its height.
    rows, columns = (np.flatnonzero(covered.max(axis=1 - axis) > 0.5) for axis in (0, 1))
    assert np.ptp(rows) == pytest.approx(np.ptp(columns), rel=0.02)
    assert np.ptp(rows) == pytest.approx(PIXELS[1] / 1.06, rel=0.02)
    red, green, blue = image[PIXELS[1] // 2, PIXELS[0] // 2, :3]
    assert red > 3 * max(green, blue, 0.01)


@pytest.mark.slow
def test_both_panes_of_a_view_are_in_its_picture():
    bodies = {"red": body(SQUARE, FACES, "#ff0000"), "blue": body(SQUARE, FACES, "#0000ff")}
    scenes = [{"of": {"design": name}, "title": name, "bodies": [name]} for name in bodies]
    chosen = choice("design", "Design", dict(zip(bodies, bodies, strict=True)))
    view = build_view(bodies, scenes, [chosen], first_direction="above", panes="design")
    images = [np.asarray(axes.images[0].get_array()) for axes in draw_view(view).axes]
    middles = [image[PIXELS[1] // 2, PIXELS[0] // 2] for image in images]
    assert [middle[0] > middle[2] for middle in middles] == [True, False]


@pytest.mark.parametrize("height", [0.3, -0.3])
def test_the_nearer_body_is_seen(height):
    above = body(0.5 * SQUARE + [0.0, height, 0.0], FACES, "#0000ff")
    image = picture_of({"low": body(SQUARE, FACES, "#ff0000"), "other": above})
    red, _, blue = image[PIXELS[1] // 2, PIXELS[0] // 2, :3]
    assert (blue > red) == (height > 0)


@pytest.mark.slow
def test_steps_have_the_colours_of_the_scale_and_zero_has_its_own():
    ramp = scale("Depth", "mm", 1.0, "viridis")
    for steps, expected in ((STEPS, ramp["stops"][-1]), (1, ramp["stops"][0]), (0, ramp["zero"])):
        image = picture_of({"low": body(SQUARE, FACES)}, steps)
        colour = image[PIXELS[1] // 2, PIXELS[0] // 2, :3]
        wanted = np.array([int(expected[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        # Light changes brightness and no hue.
        assert colour / colour.max() == pytest.approx(wanted / wanted.max(), abs=0.03)


def test_normals_are_as_long_as_the_triangles_of_a_point_are_large():
    # Two triangles of area 2, whose cross products are 4 long, share two of the corners.
    normals = vertex_normals(SQUARE, FACES)
    assert normals[:, [0, 2]] == pytest.approx(0.0)
    assert sorted(normals[:, 1]) == pytest.approx([4.0, 4.0, 8.0, 8.0])


def test_block_is_closed_below_and_around_the_bearings(whole):
    block = block_under(whole.grid, 0.0)
    centre = whole.grid.centre[whole.grid.valid]
    low, high = block.vertices.min(axis=0), block.vertices.max(axis=0)
    assert low[1] == 0.0
    assert (low[[0, 2]] < centre.min(axis=0)[[0, 2]]).all()
    assert (high[[0, 2]] > centre.max(axis=0)[[0, 2]]).all()
    assert high[1] == pytest.approx(centre[:, 1].max(), abs=1e-9)


def test_fewer_triangles_keep_the_shape():
    angles = np.linspace(0.0, 2.0 * np.pi, 200, endpoint=False)
    rings = [np.column_stack([np.cos(angles), np.full(200, y), np.sin(angles)]) for y in (0.0, 1.0)]
    n = np.arange(200)
    after = np.roll(n, -1)
    faces = np.concatenate(
        [np.column_stack([n, n + 200, after]), np.column_stack([after, n + 200, after + 200])]
    )
    tube = TriangleMesh(np.concatenate(rings), faces)
    fewer = fewer_triangles(tube, 100)
    assert len(fewer.faces) <= 100
    radius = np.hypot(fewer.vertices[:, 0], fewer.vertices[:, 2])
    assert radius == pytest.approx(1.0, abs=0.01)
    both = join(tube, fewer)
    assert len(both.faces) == len(tube.faces) + len(fewer.faces)
    assert both.faces.max() == len(both.vertices) - 1


def test_addresses_of_figures_lose_no_shape_and_no_pixel():
    figure = Figure()
    axes = figure.add_subplot()
    axes.plot([0.0, 1.0, 2.0], [0.123456, 7.0, 3.0], "o-", label="50 % & <more>")
    axes.imshow(np.arange(12.0).reshape(3, 4), extent=(0.0, 2.0, 0.0, 3.0))
    axes.legend()
    before = as_svg(figure).decode()
    address = picture_address(before.encode())
    assert not set('"#&') & set(address)
    after = unquote(address.partition(",")[2])
    counts = [
        [sum(one.tag.endswith(tag) for one in ElementTree.fromstring(text).iter()) for tag in TAGS]
        for text in (before, after)
    ]
    assert counts[0] == counts[1] and min(counts[0]) > 0
    assert len(after) < 0.9 * len(before)
    pixels = [
        np.asarray(Image.open(io.BytesIO(b64decode(found))).convert("RGBA"))
        for text in (before, after)
        for found in re.findall(r"data:image/\w+;base64,\s*([\w+/=\s]+)", text)
    ]
    assert len(pixels) == 2 and np.array_equal(*pixels)


def test_large_pictures_within_figures_have_few_colours_near_their_own():
    figure = Figure()
    numbers = np.random.default_rng(1).normal(size=(2, 4000))
    figure.add_subplot().scatter(*numbers, c=numbers[0], s=3, cmap="RdBu_r", rasterized=True)
    before = as_svg(figure).decode()
    after = unquote(picture_address(before.encode()).partition(",")[2])
    large, small = (
        re.search(r"data:image/\w+;base64,\s*([\w+/=\s]+)", text)[1] for text in (before, after)
    )
    assert len(small) < 0.5 * len(large)
    colours = []
    for found in (large, small):
        picture = Image.open(io.BytesIO(b64decode(found))).convert("RGBA")
        white = Image.new("RGBA", picture.size, "white")
        colours.append(np.asarray(Image.alpha_composite(white, picture), dtype=float))
    assert np.abs(colours[0] - colours[1]).mean() < 3.0


def test_words_at_the_ends_make_room_for_the_colour_bar():
    figure = Figure(figsize=SIZE)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(-1.0, 1.0), ylim=(-1.0, 1.0))
    words = [axes.text(0.85, height, "lateral", ha="center") for height in (-0.6, 0.3, 0.85)]
    before = [word.get_position()[0] for word in words]
    draw_scale(figure, scale("Depth", "mm", 1.0, "viridis"))
    taken = [figure.axes[-1].get_tightbbox(), figure.texts[-1].get_window_extent()]
    assert not [word for word in words for box in taken if word.get_window_extent().overlaps(box)]
    moved = [word.get_position()[0] < old for word, old in zip(words, before, strict=True)]
    assert moved == [False, True, True]
