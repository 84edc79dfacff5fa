"""Unit, axes, side and bearings that are recognised in shapes alone."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
import scipy

from kneewear.errors import InputDataError
from kneewear.geometry import recognition
from kneewear.geometry.coverage import polygon_coverage
from kneewear.geometry.extraction import extract_condyles, extract_plateaus
from kneewear.geometry.fit_search import choose_fit
from kneewear.geometry.fitting import fit_condyle, fit_plateau
from kneewear.geometry.meshes import (
    MM_PER_UNIT,
    TriangleMesh,
    bearing_axis,
    condyle_axis,
    joined,
    to_knee_axes,
    within_outline,
)
from kneewear.geometry.segmentation import (
    CondyleRegion,
    check_condyles,
    find_post,
    find_underside,
    middle_of_axis,
    segment_condyles,
    segment_plateaus,
)
from kneewear.io.shapes import load_shape
from tests.geometry.example_implant import example_meshes
from tests.geometry.invented import posterior_stabilised_insert, worn_scan
from tests.geometry.solids import RIGHT, closed, closed_femoral, closed_insert
from tests.transformations.implants import insert_of_dishes, meniscal_bearing, smooth_femoral

DATA = Path(os.environ.get("KNEEWEAR_DATA") or Path(__file__).parents[2] / "../shared/data")
TURNS = [
    np.array([np.eye(3)[order[0]] * signs[0], np.eye(3)[order[1]] * signs[1]])
    for order in permutations(range(3), 2)
    for signs in product((1.0, -1.0), repeat=2)
]


def turned(mesh: TriangleMesh, rows: np.ndarray) -> TriangleMesh:
    """Mesh with its axes turned by a right-handed matrix of two rows and their product."""
    matrix = np.vstack([rows, np.cross(*rows)])
    return TriangleMesh(mesh.vertices @ matrix.T, mesh.faces)


@pytest.mark.parametrize("unit", MM_PER_UNIT)
def test_units_follow_from_the_width(unit):
    mesh = closed_insert(n=20)
    scaled = TriangleMesh(mesh.vertices / MM_PER_UNIT[unit], mesh.faces)
    assert recognition.recognise_unit(scaled, "file")[0] == unit


@pytest.mark.parametrize("rows", TURNS[::3])
@pytest.mark.parametrize("kind", ["solid", "sheet"])
def test_axes_are_recognised_however_the_file_is_turned(rows, kind):
    if kind == "solid":
        parts, axes = (closed_insert(n=40), closed_femoral(n=45)), RIGHT
    else:
        sheets = example_meshes()
        parts = sheets["insert"], sheets["femoral"]
        axes = {"x": "anterior", "y": "superior", "z": "lateral"}
    found = recognition.orient_implant(*(turned(part, rows) for part in parts))
    back = [
        to_knee_axes(turned(p, rows), "mm", one.words("right"), "right")
        for p, one in zip(parts, found, strict=True)
    ]
    for mesh, part in zip(back, parts, strict=True):
        np.testing.assert_allclose(mesh.vertices, to_knee_axes(part, "mm", axes, "right").vertices)


def arc_of_metal(n: int = 60) -> TriangleMesh:
    """Rounded condyles and a flange that are one arc of 200 deg: both ends look alike."""
    angle, v = np.meshgrid(
        np.radians(np.linspace(-95.0, 105.0, 2 * n)), np.linspace(-1, 1, n), indexing="ij"
    )
    flange = np.clip(-angle / np.radians(95.0), 0.0, 1.0)
    half = 38.0 - 17.0 * flange
    z = half * v
    behind = np.clip((0.4 - flange) / 0.35, 0.0, 1.0)
    inner, outer = (
        np.clip(0.27 * half + 6.0 - abs(z), 0.0, None),
        np.clip(abs(z) - half + 5, 0, None),
    )
    radius = 31.6 + 3.0 * flange - (abs(z) - 0.6 * half) ** 2 / 200.0
    radius -= inner**2 / 10.0 * behind**2 * (3.0 - 2.0 * behind) + outer**2 / 12.0
    return closed(
        *(np.stack([r * np.sin(angle), -r * np.cos(angle), z], -1) for r in (radius, radius - 7.0)),
        (flange[:-1, :-1] > 0.05) | (np.abs(v[:-1, :-1] + 1.0 / n) > 0.27),
    )


@pytest.mark.parametrize("signs", [(1.0, 1.0, 1.0), (1.0, -1.0, -1.0), (-1.0, -1.0, 1.0)])
def test_an_open_component_faces_the_insert_whatever_axes_that_has(signs):
    femoral = arc_of_metal()
    insert = turned(closed_insert(n=40), np.diag(signs)[:2])
    found = recognition.orient_implant(insert, femoral)[1]
    back = to_knee_axes(femoral, "mm", found.words("right"), "right")
    np.testing.assert_allclose(back.vertices, femoral.vertices, atol=1e-9)


def test_solids_are_turned_outward():
    mesh = closed_insert(n=30)
    inward = TriangleMesh(mesh.vertices, mesh.faces[:, ::-1])
    found, findings = recognition.outward(inward, "file")
    np.testing.assert_allclose(found.face_normals.sum(axis=0), 0.0, atol=1e-9)
    assert [one.check for one in findings] == ["new.normals"]
    assert recognition.outward(mesh, "file") == (mesh, ())


@pytest.mark.parametrize("file", ["gc_dm/tray.stl", "jtml_kneel_1/KR_right_6_tib.stl"])
def test_trays_without_polyethylene_are_refused(file):
    if not (DATA / file).is_file():
        pytest.skip(f"no {file} in {DATA} (set KNEEWEAR_DATA)")
    mesh = load_shape(DATA / file)
    unit, _ = recognition.recognise_unit(mesh, file)
    scaled = TriangleMesh(mesh.vertices * MM_PER_UNIT[unit], mesh.faces)
    with pytest.raises(InputDataError) as raised:
        recognition.refuse_tray(recognition.outward(scaled, file)[0], file)
    assert raised.value.finding.check == "new.tray"


@pytest.mark.parametrize("angle", [8.0, -30.0, 45.0])
def test_inserts_turned_against_the_axes_of_their_file_are_refused(angle):
    insert = closed_insert(n=40)
    recognition.refuse_turned(insert, "insert")
    recognition.refuse_turned(example_meshes()["insert"], "insert")
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    with pytest.raises(InputDataError) as raised:
        recognition.refuse_turned(turned(insert, [[c, 0.0, s], [0.0, 1.0, 0.0]]), "insert")
    assert raised.value.finding.check == "new.turned"
    assert f"{abs(angle):.0f} deg" in raised.value.finding.found


def test_an_insert_of_one_plateau_is_refused():
    whole = closed_insert(n=40)
    recognition.refuse_single_plateau(whole, "insert")
    half = whole.vertices * [1.0, 1.0, 0.4]
    with pytest.raises(InputDataError) as raised:
        recognition.refuse_single_plateau(TriangleMesh(half, whole.faces), "insert")
    assert raised.value.finding.check == "new.plateaus"


@pytest.mark.parametrize("mirror", [[1.0, 1.0, -1.0], [-1.0, 1.0, 1.0]])
def test_bearings_of_a_mirrored_insert_are_mirrored(mirror):
    sheet = extract_plateaus(posterior_stabilised_insert(n=121)).sheet
    (plateaus,) = segment_plateaus(sheet)
    (others,) = segment_plateaus(TriangleMesh(sheet.vertices * mirror, sheet.faces[:, ::-1]))
    for side, region in plateaus.items():
        other = others[side if mirror[2] > 0 else {"medial": "lateral"}.get(side, "medial")]
        for limits, image, sign in ((region.x, other.x, mirror[0]), (region.z, other.z, mirror[2])):
            np.testing.assert_allclose(sorted(sign * np.array(image)), limits, atol=0.01)
        assert other.area == pytest.approx(region.area, abs=0.5)


def test_condyles_that_do_not_share_most_of_their_angles_are_refused():
    limits = {"medial": (-30.0, 25.0), "lateral": (1.0, 101.0)}
    regions = {side: CondyleRegion((12.0, 34.0), angles) for side, angles in limits.items()}
    with pytest.raises(InputDataError) as raised:
        check_condyles(regions, "femoral")
    assert raised.value.finding.check == "new.condyles"
    check_condyles(regions | {"medial": CondyleRegion((12.0, 34.0), (-25.0, 95.0))}, "femoral")
    check_condyles({"medial": regions["medial"]}, "femoral")


def uneven_condyles(count, seed):
    """Condyles of radius 30 mm that join in front, with corners of triangles anywhere."""
    angle, v = np.random.default_rng(seed).uniform([-95.0, -1.0], [105.0, 1.0], (count, 2)).T
    border = np.linspace(-95.0, 105.0, 120)
    angle = np.concatenate([angle, border, border])
    v = np.concatenate([v, np.ones(240) * np.repeat([-1.0, 1.0], 120)])
    plan = np.column_stack([np.radians(30.0 * angle), 34.0 * v])
    faces = scipy.spatial.Delaunay(plan).simplices
    kept = (angle[faces].mean(axis=1) < -22.0) | (np.abs(v[faces].mean(axis=1)) > 0.28)
    radius = 30.0 - (np.abs(34.0 * v) - 21.0) ** 2 / 56.0
    points = np.column_stack(
        [radius * np.sin(np.radians(angle)), -radius * np.cos(np.radians(angle)), 34.0 * v]
    )
    mesh = TriangleMesh(points, faces[kept])
    outward = (mesh.face_normals[:, :2] * points[mesh.faces].mean(axis=1)[:, :2]).sum(axis=1) > 0
    turned = np.where(outward[:, None], mesh.faces, mesh.faces[:, ::-1])
    return TriangleMesh(points, turned)


@pytest.mark.parametrize("seed", range(3))
def test_condyles_do_not_end_where_no_corner_of_a_triangle_is(seed):
    """Triangles are wider than the steps of the angle, of which some have few corners or none."""
    regions, _ = segment_condyles(uneven_condyles(2500, seed))
    for region in regions.values():
        assert region.angle_deg[0] == -30.0
        assert region.angle_deg[1] > 95.0
        np.testing.assert_allclose(np.sort(np.abs(region.z)), [9.4, 34.2], atol=1.0)


@pytest.mark.parametrize("side", ["medial", "lateral"])
def test_the_bearing_of_one_side_is_the_whole_insert(side):
    x, z = np.meshgrid(np.linspace(-20, 20, 61), np.linspace(-13, 13, 41), indexing="ij")
    upper, lower = (np.stack([x, y, z], -1) for y in (6.0 + (x**2 + z**2) / 80.0, 0.0 * x))
    plate = closed(upper, lower)
    assert recognition.recognise_unit(plate, "file", one_side=True)[0] == "mm"
    (found, _) = recognition.orient_implant(plate, closed_femoral(n=45), one_side=True)
    np.testing.assert_array_equal(np.abs(found.matrix), np.eye(3))
    (plateaus,) = segment_plateaus(extract_plateaus(plate).sheet, sides=(side,))
    assert list(plateaus) == [side]
    np.testing.assert_allclose(plateaus[side].z, [-12.0, 12.0], atol=0.6)


def test_a_condyle_without_a_flange_is_a_bearing_as_far_as_it_goes():
    """In extension a meniscal bearing of 30 mm reaches 36 deg in front of its middle."""
    condyle = meniscal_bearing().femoral
    assert recognition.recognise_unit(condyle, "file", one_side=True, part="femoral")[0] == "mm"
    (region,) = segment_condyles(extract_condyles(condyle).sheet, ("medial",))[0].values()
    assert region.angle_deg[0] < -40.0
    np.testing.assert_allclose(region.z, [-11.0, 11.0], atol=0.5)


@pytest.mark.slow
def test_plateaus_end_at_the_border_the_notch_and_the_post():
    insert = posterior_stabilised_insert()
    (plateaus,) = segment_plateaus(extract_plateaus(insert).sheet)
    for side, sign in (("medial", 1.0), ("lateral", -1.0)):
        region = plateaus[side]
        covered = polygon_coverage(region.outline)
        # 1 mm inside the border of 48 by 76 mm, without the post at x -9 to 1 and |z| below 8.
        x, z = np.array([-4.0, 0.0, 0.0, 22.0]), sign * np.array([4.0, 12.0, 34.0, 22.0])
        assert covered.contains(x, z).tolist() == [False, True, True, True]
        assert np.abs(region.outline[:, 0]).max() < 24.0
        assert np.abs(region.outline[:, 1]).max() < 38.0
        assert region.lowest[0] == pytest.approx(1.0, abs=0.6)
    height, (x, z) = find_post(insert, plateaus)
    assert height == pytest.approx(15.0 + 22.0**2 / 300 + 0.2, abs=0.5)
    assert x == pytest.approx(-4.0, abs=1.0)
    low = TriangleMesh(insert.vertices * [1.0, 0.75, 1.0], insert.faces)
    assert find_post(low, *segment_plateaus(extract_plateaus(low).sheet)) is not None
    flat = closed_insert()
    assert find_post(flat, *segment_plateaus(extract_plateaus(flat).sheet)) is None


def test_the_underside_is_the_largest_plane_below():
    height, part = find_underside(closed_insert(n=40))
    assert height == pytest.approx(0.0)
    assert 0.8 < part < 1.0


def block(x: float, z: float, low: float, high: float, half: float) -> TriangleMesh:
    """Closed block about x and z from one height to another, mm."""
    plan = np.stack(np.meshgrid(*np.linspace([x - half, z - half], [x + half, z + half], 3).T,
                                indexing="ij"), -1)  # fmt: skip
    faces = [np.insert(plan, 1, height, axis=-1) for height in (high, low)]
    return closed(*faces, np.ones((2, 2), dtype=bool))


@pytest.mark.parametrize("rows", TURNS[::5])
def test_a_flat_post_above_pegs_does_not_turn_an_insert_over(rows):
    pegs = [block(0.0, z, -4.0, 0.5, 2.5) for z in (-20.0, 20.0)]
    insert = joined([higher_rear(3.0, 6.0, True), block(-4.0, 0.0, 5.0, 24.0, 5.0), *pegs])
    orientation, _ = recognition.orient_insert(turned(insert, rows))
    back = to_knee_axes(turned(insert, rows), "mm", orientation.words("right"), "right")
    np.testing.assert_allclose(back.vertices, insert.vertices, atol=1e-9)


@pytest.mark.slow
@pytest.mark.compiled
def test_fits_follow_shapes_and_not_noise():
    """Truth without noise is known: the noisy fit is nearer to it than the noise is large."""
    noise = 0.01
    scan, truth = worn_scan(noise), worn_scan(0.0)
    sheets = {
        name: cut(scan[name]).sheet
        for name, cut in (("insert", extract_plateaus), ("femoral", extract_condyles))
    }
    (plateaus,) = segment_plateaus(sheets["insert"])
    condyles, _ = segment_condyles(sheets["femoral"])
    chosen = choose_fit(sheets["insert"], sheets["femoral"], [plateaus], condyles)
    for side, region in plateaus.items():
        noisy, exact = (
            within_outline(one, region.outline)
            for one in (sheets["insert"], extract_plateaus(truth["insert"]).sheet)
        )
        surface, _ = fit_plateau(noisy, region.x, region.z, replace(chosen.settings, densest=True))
        *_, distance, _, interior = surface.closest_points(exact.vertices)
        assert np.abs(distance[interior]).mean() < 0.35 * noise, side
    for fit in chosen.qualities:
        assert 0.5 * noise < fit.mean_mm < 1.2 * noise
    assert chosen.settings.mean_tolerance >= max(fit.mean_mm for fit in chosen.qualities)


def grooved_condyles(depth: float) -> TriangleMesh:
    """Solid condyles of two radii, 32 and 20 mm, which a groove without a border joins."""
    angle, z = np.meshgrid(
        np.radians(np.arange(-28.0, 122.0)), np.linspace(-33.0, 33.0, 80), indexing="ij"
    )
    distal = angle < np.radians(25.0)
    middle = np.where(distal, 12.0, 0.0)
    radius = np.where(distal, 32.0, 20.0) - (np.abs(z) - 22.0) ** 2 / 70.0
    radius -= depth * np.exp(-((z / 7.0) ** 2))
    x, y = -middle * np.sin(np.radians(25.0)), middle * np.cos(np.radians(25.0))
    outer, inner = (
        np.stack([x + r * np.sin(angle), y - r * np.cos(angle), z], axis=-1)
        for r in (radius, radius - 7.0)
    )
    return closed(outer, inner)


@pytest.mark.parametrize("depth", [0.0, 6.0])
def test_flank_of_a_groove_does_not_move_the_axis_of_the_condyles(depth):
    mesh = grooved_condyles(depth)
    regions, _ = segment_condyles(extract_condyles(mesh).sheet)
    assert regions["medial"].angle_deg[0] <= -25.0
    assert regions["medial"].angle_deg[1] >= 90.0
    # Of a strip of 4 mm about the middle of the condyles. Their other parts slope by up to 20 deg,
    # so that the circle through two arcs is 2.8 mm from it; with the flank it was 13 and 22 mm.
    strip = condyle_axis(extract_condyles(mesh).sheet, (20.0, 24.0))
    np.testing.assert_allclose(middle_of_axis(mesh, "solid")[:2], strip, atol=3.0)


@pytest.mark.slow
@pytest.mark.compiled
def test_surfaces_of_a_scan_follow_the_shape_and_not_the_noise():
    """15 um of noise; contact follows a micrometre, and lines that follow noise keep half of it."""
    clean = {
        "insert": extract_plateaus(insert_of_dishes(1.0, 50.0, 80.0)).sheet,
        "femoral": extract_condyles(smooth_femoral(1.0)).sheet,
    }
    random = np.random.default_rng(1)
    sheets = {
        part: TriangleMesh(mesh.vertices + random.normal(0, 0.015, mesh.vertices.shape), mesh.faces)
        for part, mesh in clean.items()
    }
    plateaus, (condyles, _) = (
        segment_plateaus(sheets["insert"]),
        segment_condyles(sheets["femoral"]),
    )
    chosen = choose_fit(*sheets.values(), plateaus, condyles)
    assert chosen.scanned
    axis = bearing_axis(sheets["femoral"], [one.z for one in chosen.condyles.values()])
    for side, one in chosen.plateaus.items():
        sheet = within_outline(sheets["insert"], one.outline)
        patch, _ = fit_plateau(sheet, one.x, one.z, chosen.settings)
        x, _, z = clean["insert"].vertices.T
        touched = (np.abs(x) < 12.0) & (np.abs(np.abs(z) - 21.0) < 8.0)
        touched &= np.sign(z) == np.sign(one.lowest[2])
        away = patch.closest_points(clean["insert"].vertices[touched])[2]
        assert away.std() < 0.001
        z, angle = chosen.condyles[side].z, chosen.condyles[side].angle_deg
        condyle, _ = fit_condyle(sheets["femoral"], axis, np.radians(angle), z, chosen.settings)
        arms = clean["femoral"].vertices - np.array([*axis, 0.0])
        at = np.degrees(np.arctan2(arms[:, 0], -arms[:, 1]))
        touched = (at > -15.0) & (at < 75.0) & (np.abs(arms[:, 2] - np.mean(z)) < 8.0)
        away = condyle.closest_points(clean["femoral"].vertices[touched])[2]
        assert away[np.abs(away) < 1.0].std() < 0.005


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("form", ["contact", "solid"])
def test_bearings_of_the_real_implant_agree_with_regions_drawn_by_hand(form):
    files = {part: DATA / f"gc_dm/{part}_{form}.stl" for part in ("insert", "femoral")}
    if not all(file.is_file() for file in files.values()):
        pytest.skip(f"no real implant data in {DATA} (set KNEEWEAR_DATA)")
    cut = {"insert": extract_plateaus, "femoral": extract_condyles}
    sheets = {}
    for part, file in files.items():
        mesh = to_knee_axes(load_shape(file), "m", RIGHT, "right")
        sheets[part] = cut[part](mesh).sheet if form == "solid" else mesh
    (plateaus,) = segment_plateaus(sheets["insert"])
    condyles, _ = segment_condyles(sheets["femoral"])
    chosen = choose_fit(sheets["insert"], sheets["femoral"], [plateaus], condyles)
    assert max(fit.mean_mm for fit in chosen.qualities) < 0.0011
    # The windows of config/dm_fluoroscopy.yaml.
    for side, sign in (("medial", 1.0), ("lateral", -1.0)):
        low, high = sorted(sign * np.array(chosen.condyles[side].z))
        assert low == pytest.approx(9.5, abs=1.6)
        assert high == pytest.approx(38.0, abs=1.0)
        assert chosen.condyles[side].angle_deg[0] <= -26.0
        assert chosen.condyles[side].angle_deg[1] >= 82.0
        sheet = within_outline(sheets["insert"], plateaus[side].outline)
        covered = polygon_coverage(plateaus[side].outline)
        x, z = np.meshgrid(np.linspace(-12.0, 8.0, 9), sign * np.linspace(9.0, 34.0, 9))
        assert covered.contains(x, z).all()
        assert sheet.vertices[:, 1].min() == pytest.approx(6.0, abs=0.02)


def higher_rear(half_notch: float, depth: float, whole: bool) -> TriangleMesh:
    """Insert whose dishes rise more behind, with a notch so wide and deep, mm; x is posterior."""
    x, z = np.meshgrid(np.linspace(-23, 23, 93), np.linspace(-36, 36, 145), indexing="ij")
    y = 8.0 + x**2 / np.where(x > 0, 60.0, 140.0) + (np.abs(z) - 19.0) ** 2 / 90.0
    absent = (np.abs(z) < half_notch) & (x > 23.0 - depth)
    kept = ~(absent[1:, 1:] | absent[:-1, :-1])
    solid = closed(np.stack([x, y, z], -1), np.stack([x, 0.0 * y, z], -1), kept)
    if whole:
        return solid
    up = solid.face_normals[:, 1] > 0.1 * np.linalg.norm(solid.face_normals, axis=1)
    return solid.part(up & (solid.vertices[solid.faces][..., 1].min(axis=1) > 1.0))


@pytest.mark.parametrize("rows", TURNS[::5])
@pytest.mark.parametrize(("half_notch", "whole"), [(3.0, True), (8.0, True), (3.0, False)])
def test_a_notch_shows_the_rear_of_an_insert_that_rises_behind(rows, half_notch, whole):
    insert = higher_rear(half_notch, 6.0, whole)
    orientation, evidence = recognition.orient_insert(turned(insert, rows))
    found = to_knee_axes(turned(insert, rows), "mm", orientation.words("right"), "right")
    np.testing.assert_allclose(found.vertices, insert.vertices, atol=1e-9)
    assert evidence == "contradicted"


def test_a_border_alone_is_named_as_the_evidence_of_the_front():
    assert recognition.orient_insert(higher_rear(0.0, 0.0, True))[1] == "border"
    assert recognition.orient_insert(higher_rear(0.0, 0.0, False))[1] == "border"


def test_a_notch_below_an_even_border_is_enough():
    assert recognition.orient_insert(closed_insert(n=60))[1] == "notch"
