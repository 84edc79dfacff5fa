"""Every wear law on paths whose depth is known in closed form, and by the order of directions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipe, ellipk

from kneewear.wear.direction_memory import circle_cross_shear, remember_directions
from kneewear.wear.history import History
from kneewear.wear.law_settings import WEAR_LAWS, Archard, DirectionMemory
from kneewear.wear.laws import ScaledLaw, choose_wear_law, over_histories, worn_depth
from tests.wear.conftest import make_settings

FACTOR = 2.6e-10  # mm3/(N mm)
PRESSURE = 2.0  # MPa
FRAMES = 400
LAWS = {
    name: over_histories(
        choose_wear_law(make_settings(wear_law=name, wear_factor_mm3_per_n_m=FACTOR * 1e3))
    )
    for name in WEAR_LAWS
}
MEMORY = DirectionMemory()
by_name = pytest.mark.parametrize("name", LAWS)
# Depth of a millimetre of sliding by the cross-shear ratio of the cycle, from the equations.
PER_MM = {
    "archard": lambda cs: PRESSURE * FACTOR,
    "unified_theory": lambda cs: PRESSURE * FACTOR * 2.0 * cs,
    "directional_work": lambda cs: PRESSURE * FACTOR * 2.0 * (6.4 * cs + 1.0 - cs) / 7.4,
    "cross_shear_saturation": lambda cs: PRESSURE * FACTOR * (0.036 + 0.964 * min(cs / 0.1, 1.0)),
    "pressure_power": lambda cs: 2.0e-9 * PRESSURE**0.16,
    "cross_shear_and_pressure": lambda cs: (
        1e-3 * PRESSURE * cs**0.19 * np.exp(-13.1 - 0.29 * PRESSURE)
    ),
    "contact_area": lambda cs: 1e-9 * (32.0 * cs + 0.3 if cs < 0.04 else 1.9 * cs + 1.6),
}


def ellipse(longer, shorter, frames=FRAMES):
    """Points of an ellipse with these semi-axes."""
    angle = 2.0 * np.pi * np.arange(frames) / frames
    return np.stack([longer * np.cos(angle), shorter * np.sin(angle)], axis=1)


def rectangle(length, width, frames=FRAMES):
    """Points of a rectangle at equal steps."""
    along = np.arange(frames) / frames * 2.0 * (length + width)
    corners = np.cumsum([0.0, length, width, length, width])
    x, z = (
        np.interp(along, corners, side)
        for side in ([0, length, length, 0, 0], [0, 0, width, width, 0])
    )
    return np.stack([x, z], axis=1)


def straight(stroke, frames=FRAMES):
    """Points of a reciprocating path, inclined to both tangents."""
    return 0.5 * stroke * np.outer(ellipse(1.0, 1.0, frames)[:, 0], [0.6, 0.8])


def cycle(path):
    """History of one element that a path slides over."""
    slip = 0.5 * (np.roll(path, -1, axis=0) - np.roll(path, 1, axis=0))
    return History(np.full((len(path), 1), PRESSURE), slip[:, None])


def depth(law, history):
    return float(law.depth(law.features(history))[0])


def ellipse_ratio(longer, shorter):
    """|D| / W of an ellipse, in elliptic integrals."""
    parameter = 1.0 - (shorter / longer) ** 2
    whole = ellipe(parameter)
    along = (whole - (1.0 - parameter) * ellipk(parameter)) / parameter
    return (2.0 * along - whole) / whole


def rectangle_crossed(length, width, memory):
    """Twice the mean cross-shear of a memory on a rectangle: it relaxes to 1 and to -1."""
    a, b = np.exp(-length / memory), np.exp(-width / memory)
    return 4.0 * memory * (1.0 - a) * (1.0 - b) / ((1.0 - a * b) * (length + width))


def ellipse_crossed(longer, shorter, memory):
    """Twice the mean cross-shear of a memory on an ellipse, from its differential equation."""

    def rates(angle, state):
        velocity = complex(-longer * np.sin(angle), shorter * np.cos(angle))
        speed, direction = abs(velocity), (velocity / abs(velocity)) ** 2
        m = complex(state[0], state[1])
        change = (direction - m) * speed / memory
        return [change.real, change.imag, (1.0 - (m * direction.conjugate()).real) * speed]

    # The memory is the one at the end of the cycle: it is affine in the one at the start.
    period = (0.0, 2.0 * np.pi)
    precise = {"rtol": 1e-9, "atol": 1e-12}
    length = 4.0 * longer * ellipe(1.0 - (shorter / longer) ** 2)
    forgotten = solve_ivp(rates, period, [0.0, 0.0, 0.0], **precise).y[:, -1]
    steady = forgotten[:2] / -np.expm1(-length / memory)
    return solve_ivp(rates, period, [*steady, 0.0], **precise).y[2, -1] / length


# Path, its length, its cross-shear ratio, and twice the mean cross-shear of the memory.
LONG = float(MEMORY.memory_mm)
PATHS = {
    "straight": (straight(10.0), 20.0, 0.0, 0.0),
    "circle": (ellipse(5.0, 5.0), 10.0 * np.pi, 0.5, 2.0 * float(circle_cross_shear(LONG, 5.0))),
    "small circle": (
        ellipse(1.0, 1.0),
        2.0 * np.pi,
        0.5,
        2.0 * float(circle_cross_shear(LONG, 1.0)),
    ),
    "rectangle": (rectangle(7.0, 3.0), 20.0, 0.3, rectangle_crossed(7.0, 3.0, LONG)),
    "ellipse": (
        ellipse(5.0, 1.0),
        20.0 * ellipe(0.96),
        0.5 - 0.5 * ellipse_ratio(5.0, 1.0),
        ellipse_crossed(5.0, 1.0, LONG),
    ),
}


@pytest.mark.parametrize("path", PATHS)
@by_name
def test_depth_on_a_path_is_in_closed_form(name, path):
    points, length, ratio, crossed = PATHS[path]
    if name in PER_MM:
        per_mm = PER_MM[name](ratio)
    else:
        own = MEMORY.straight_factor
        reference = own + (1.0 - own) * 2.0 * float(circle_cross_shear(LONG, 5.0))
        per_mm = PRESSURE * FACTOR * (own + (1.0 - own) * crossed) / reference
    # Corners of a rectangle are cut by a frame each; rounding of single directions is 1e-9.
    limit = 0.01 * per_mm * length + 1e-6 * PRESSURE * FACTOR * length
    if name == "cross_shear_and_pressure":
        # Rounding of the ratio, 1e-15, has a power of 0.19.
        limit += PER_MM[name](1e-15) * length
    found = depth(LAWS[name], cycle(points))
    assert found == pytest.approx(per_mm * length, abs=limit)


def test_no_memory_law_vanishes_on_a_straight_path_but_those_that_say_so():
    worn = {name: depth(law, cycle(straight(10.0))) for name, law in LAWS.items()}
    least = {name for name, value in worn.items() if value < 0.02 * worn["archard"]}
    assert "unified_theory" in least
    assert not least & {"archard", "directional_work", "cross_shear_saturation", "direction_memory"}


@by_name
def test_a_cycle_may_be_walked_backwards(name):
    forth = cycle(ellipse(5.0, 2.0) + rectangle(1.0, 3.0))
    back = History(forth.pressure[::-1], -forth.slip[::-1])
    assert depth(LAWS[name], back) == pytest.approx(depth(LAWS[name], forth), rel=1e-9)


@by_name
def test_only_laws_with_a_memory_know_the_order_of_directions(name):
    law, ordered = LAWS[name], cycle(ellipse(5.0, 5.0, 200))
    order = np.random.default_rng(1).permutation(200)
    shuffled = History(ordered.pressure[order], ordered.slip[order])
    ratio = depth(law, shuffled) / depth(law, ordered)
    if law.memory_mm == 0.0:
        assert ratio == pytest.approx(1.0, rel=1e-12)
    else:
        assert ratio > 1.5


@pytest.mark.parametrize("name", PER_MM)
def test_depths_of_adapters_are_those_of_weight_and_factor_to_the_bit(name):
    random = np.random.default_rng(7)
    pressure = random.uniform(0.0, 20.0, (30, 2, 5, 4)) * (random.random((30, 2, 5, 4)) < 0.3)
    pressure, slip = pressure.astype(np.float32), random.normal(size=(30, 2, 5, 4, 2))
    history = History(pressure, slip.astype(np.float32))
    chosen = choose_wear_law(make_settings(wear_law=name))
    own = worn_depth(pressure, slip.astype(np.float32), history.cross_shear, chosen)
    adapter = over_histories(chosen)
    np.testing.assert_array_equal(adapter.depth(adapter.features(history)), own)


@pytest.mark.parametrize("law", WEAR_LAWS.values(), ids=WEAR_LAWS)
def test_features_depend_on_the_constants_that_a_law_names(law):
    history, first = cycle(ellipse(4.0, 1.5, 60)), law()
    for name in law.model_fields:
        value = getattr(first, name)
        other = over_histories(first.model_copy(update={name: 0.5 * value + 0.01}))
        same = all(
            np.array_equal(a, b)
            for a, b in zip(
                over_histories(first).features(history), other.features(history), strict=True
            )
        )
        assert same == (name not in law.history_constants)


@pytest.mark.parametrize("memory", [2.0, 5.0, 20.0])
@pytest.mark.parametrize("shorter", [5.0, 2.0])
def test_25_and_400_frames_agree(memory, shorter):
    few, many = (
        remember_directions(cycle(ellipse(5.0, shorter, frames)), memory) for frames in (25, 400)
    )
    assert few.crossed / few.work == pytest.approx(many.crossed / many.work, rel=0.02)


def test_a_long_memory_has_the_mean_direction_of_the_cycle():
    found = remember_directions(cycle(ellipse(5.0, 1.0)), 1e5)
    mean = ellipse_ratio(5.0, 1.0)
    assert found.crossed[0] / found.work[0] == pytest.approx(1.0 - mean**2, rel=1e-3)


def test_a_short_memory_follows_the_curvature():
    found = remember_directions(cycle(ellipse(5.0, 5.0, 2000)), 0.05)
    assert found.crossed[0] / found.work[0] == pytest.approx((2.0 * 0.05 / 5.0) ** 2, rel=0.01)


def test_sliding_out_of_contact_is_not_remembered():
    first = cycle(ellipse(5.0, 2.0))
    pressure = first.pressure.copy()
    pressure[100:180] = 0.0
    other = first.slip.copy()
    other[100:180] = [0.0, 3.0]
    one, two = (remember_directions(History(pressure, slip), 2.0) for slip in (first.slip, other))
    np.testing.assert_array_equal(one.crossed, two.crossed)


def test_with_an_equal_factor_on_straight_paths_the_memory_has_no_effect():
    history = cycle(ellipse(5.0, 2.0))
    law = DirectionMemory(straight_factor=1.0)
    archard = over_histories(ScaledLaw(Archard(), 1.0))
    assert depth(law, history) == pytest.approx(depth(archard, history), rel=1e-12)


def test_elements_that_nothing_touches_do_not_wear():
    history = History(np.zeros((5, 3)), np.ones((5, 3, 2)))
    for law in LAWS.values():
        assert law.depth(law.features(history)).max() == 0.0
