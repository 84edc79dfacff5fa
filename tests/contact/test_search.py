"""Every search finds the active elements that brute force finds, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import label
from scipy.spatial.transform import Rotation

from kneewear.base.sides import SIDES
from kneewear.contact.pair import ContactModel, ContactPair
from kneewear.contact.search import FEW_POSES
from kneewear.geometry.table import tabulate_surface
from tests.contact.indenters import THICKNESS, bumpy_pairs, models
from tests.contact.test_distance_table import tables
from tests.physics.bodies import CASES, gait_study, linear_layer, pose_of

pytestmark = pytest.mark.compiled

UPRIGHT = np.eye(3)
# Of a walk of poses: 60 walks of 40 steps by three searches make 7200 evaluations.
STEPS = 40
walks = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**32 - 1),
        "stride": st.sampled_from([0.02, 0.2, 1.0, 6.0]),
        "depth": st.floats(0.0, 1.2),
    }
)


def walk(seed, stride, depth):
    """Poses that move on by about a stride, mm, turn a little, and sink and rise."""
    random = np.random.default_rng(seed)
    position, turn = random.uniform(-6.0, 6.0, 3), random.normal(0.0, 0.02, 3)
    for _ in range(STEPS):
        position = np.clip(position + stride * random.normal(size=3), -20.0, 20.0)
        turn = np.clip(turn + 0.01 * stride * random.normal(size=3), -0.3, 0.3)
        position[1] = THICKNESS - depth + 0.3 * random.normal()
        yield Rotation.from_rotvec(turn).as_matrix(), position.copy()


def same(one, other):
    return (
        np.array_equal(one.element, other.element)
        and np.array_equal(one.pressure, other.pressure)
        and np.array_equal(one.wrench, other.wrench)
        and np.array_equal(one.stiffness, other.stiffness)
    )


@pytest.mark.slow
@given(walks)
@settings(max_examples=60, deadline=None)
def test_searches_agree_while_regions_move_split_merge_and_appear(given_walk):
    searches = models(*bumpy_pairs())
    for pose in walk(**given_walk):
        found = {name: model.evaluate(*pose)["only"] for name, model in searches.items()}
        assert same(found["bounds"], found["all"])
        assert same(found["breadth_first"], found["all"])


@pytest.mark.parametrize("source", ["search", "table"])
def test_searches_agree_on_the_implant_at_random_poses(source):
    study, history = gait_study(), gait_study().arrays(CASES[1])
    searches = {}
    for search in ("bounds", "breadth_first", "all"):
        pairs = {
            side: ContactPair(
                study.grid,
                n,
                surface,
                tabulate_surface(surface, 61, 31),
                search=search,
                distance_table=tables()[side] if source == "table" else None,
            )
            for n, (side, surface) in enumerate(study.implant.femoral.items())
        }
        layers = {side: linear_layer(np.full(pairs[side].index.size, 9.0)) for side in SIDES}
        searches[search] = ContactModel(pairs, layers)
    random = np.random.default_rng(7)
    for number in range(400):
        rotation, translation = pose_of(history, number % 12)
        turn = Rotation.from_rotvec(random.normal(0.0, 0.03, 3)).as_matrix()
        position = translation + random.normal(0.0, [3.0, 0.4, 2.0])
        found = {k: model.evaluate(turn @ rotation, position) for k, model in searches.items()}
        for side in SIDES:
            assert same(found["bounds"][side], found["all"][side])
            assert same(found["breadth_first"][side], found["all"][side])


def test_a_region_that_appears_while_another_stays_active_is_found():
    pairs, layer = bumpy_pairs()
    # Tilted about z so that only one outer bump touches, then turned back until the other does.
    searches = models(pairs, layer)
    regions = []
    for tilt in np.linspace(0.09, -0.09, 61):
        rotation = Rotation.from_rotvec([0.0, 0.0, tilt]).as_matrix()
        position = np.array([0.0, THICKNESS - 0.75, 0.0])
        found = {
            name: model.evaluate(rotation, position)["only"] for name, model in searches.items()
        }
        assert same(found["breadth_first"], found["all"])
        on = np.zeros(1600, dtype=bool)
        on[found["all"].element] = True
        regions.append(label(on.reshape(40, 40))[1])
    assert regions[0] > 0
    assert max(np.diff(regions)) > 0


def test_searches_save_most_evaluations():
    study, history = gait_study(), gait_study().arrays(CASES[1])
    condyle = study.implant.femoral["medial"]
    nodes = tabulate_surface(condyle, 61, 31)
    evaluated = dict.fromkeys(("bounds", "breadth_first", "all"), 0)
    active = 0
    for search in evaluated:
        pair = ContactPair(study.grid, 0, condyle, nodes, search=search)
        layer = linear_layer(np.full(pair.index.size, 9.0))
        for frame in range(12):
            result = pair.evaluate(*pose_of(history, frame), layer)
            evaluated[search] += result.evaluated_elements
            active += result.active_elements if search == "all" else 0
    # Bounds leave over what is nearer than some hundredths of a millimetre, a ring what is beside.
    assert active <= evaluated["bounds"] < 1.25 * active
    assert active < evaluated["breadth_first"] < 2.0 * active
    assert evaluated["all"] > 5 * active


@pytest.mark.parametrize("share", [FEW_POSES, 0.02])
def test_a_part_of_the_map_finds_the_same_contact(share):
    study, history = gait_study(), gait_study().arrays(CASES[1])
    condyle = study.implant.femoral["medial"]
    nodes = tabulate_surface(condyle, 61, 31)
    whole, part = (
        ContactPair(study.grid, 0, condyle, nodes, map_share=one) for one in (1.0, share)
    )
    layer = linear_layer(np.full(whole.index.size, 9.0))
    for frame in range(12):
        expected, found = (pair.evaluate(*pose_of(history, frame), layer) for pair in (whole, part))
        # Tiles are as large as voxels, and elements in their order.
        first, second = np.argsort(expected.element), np.argsort(found.element)
        assert np.array_equal(found.element[second], expected.element[first])
        # Projections end at the same points but for rounding, wherever they start.
        np.testing.assert_allclose(
            found.pressure[second], expected.pressure[first], rtol=1e-9, atol=1e-9
        )
