"""Films of views: each frame of a scene that moves, and the refusal of what does not."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from PIL import Image, ImageColor

from kneewear.report.film import DURATION, _palette, draw_frame, film, moving_scene
from kneewear.report.viewer import body, build_view, choice, cycle_curve, matrices, packed, scale
from tests.refusals import refused_at

SQUARE = np.array([[-1.0, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]])
FACES = np.array([[0, 2, 1], [0, 3, 2]])


def scene_of(case, frames):
    poses = matrices([np.eye(3)] * frames, [[0.3 * i, 0.2, 0.0] for i in range(frames)])
    values = [np.nan, *(1.5 * i for i in range(1, frames))]
    scene = {
        "of": {"case": case},
        "title": case,
        "bodies": ["low", "high"],
        "poses": {"femoral": poses},
        "coloured": "low",
        "colours": packed(np.repeat(np.arange(1, frames + 1), 4).astype(np.uint8)),
        "scale": "depth",
        "curves": [cycle_curve("Load", "N", {"load": ("#333333", values)})],
    }
    return scene | ({"frames": [f"{i}" for i in range(frames)]} if frames > 1 else {})


def view_of(*scenes):
    bodies = {
        "low": body(SQUARE, FACES),
        "high": body(0.4 * SQUARE, FACES, "#0000ff", group="femoral"),
    }
    options = {scene["of"]["case"]: "" for scene in scenes}
    return build_view(
        bodies,
        scenes,
        [choice("case", "Case", options, scenes[-1]["of"]["case"])],
        groups={"femoral": {"label": "", "shown": True}},
        scales={"depth": scale("Depth", "mm", 1.0, "viridis")},
        first_direction="above",
    )


@pytest.mark.slow
def test_a_film_has_each_frame_of_the_scene_that_is_chosen_first():
    view = view_of(scene_of("still", 1), scene_of("other", 4), scene_of("first", 3))
    assert moving_scene(view)["title"] == "first"
    images = Image.open(BytesIO(film([{**view, "scenes": []}, view])))
    assert images.n_frames == 3
    assert images.info["duration"] == DURATION
    shown = []
    for frame in range(3):
        images.seek(frame)
        shown.append(np.asarray(images.convert("RGB"), dtype=int))
    # The upper body moves to posterior, which is down where medial is left.
    rows = [np.flatnonzero((one[..., 2] - one[..., 0] > 90).any(axis=1)) for one in shown]
    assert all(np.ptp(one) > 20 for one in rows)
    assert rows[0].mean() < rows[1].mean() < rows[2].mean()


def test_curves_stand_beside_the_picture_with_the_frame_marked():
    view = view_of(scene_of("first", 3))
    scene = moving_scene(view)
    figure = draw_frame(view, scene, 2)
    line, mark = figure.axes[-1].lines[:2]
    assert line.get_ydata()[1:] == pytest.approx([1.5, 3.0])
    assert (mark.get_xdata(), mark.get_ydata()) == ([2], [3.0])
    # Where there is no value there is no mark: the base line alone follows the curve.
    assert len(draw_frame(view, scene, 0).axes[-1].lines) == 2


def test_views_that_do_not_move_have_no_film():
    assert refused_at(film, [view_of(scene_of("still", 1))]) == "views in space"
    assert refused_at(film, []) == "views in space"


def test_colours_of_the_scale_are_in_the_palette():
    view = view_of(scene_of("first", 3))
    image = Image.new("RGB", (200, 200), "white")
    (stops,) = (one["stops"] for one in view["scales"].values())
    own = [ImageColor.getrgb(stop) for stop in stops]
    image.putdata([own[-1], *[(200, 90, 20)] * 39_999])
    palette = _palette(image, view, view["scenes"][0])
    drawn = Image.new("RGB", (len(own), 1))
    drawn.putdata(own)
    shown = np.array(drawn.quantize(palette=palette, dither=Image.Dither.NONE).convert("RGB"))[0]
    assert np.abs(shown.astype(int) - own).max() <= 8
