"""Fitted patches follow the meshes they come from, smoothly and with the right side out."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kneewear.base.sides import SIDES
from kneewear.geometry import fitting
from kneewear.geometry.fit_quality import strip_means, summarize_deviation
from kneewear.geometry.fitting import FitSettings, fit_condyle, fit_plateau
from kneewear.geometry.implant_sources import build_implant
from kneewear.geometry.meshes import TriangleMesh
from kneewear.io.shapes import load_shape
from kneewear.study.settings import merge_settings, read_settings, validate_study
from kneewear.study.shipped import find_study
from tests.geometry import example_implant as example
from tests.refusals import refused_at

ROOT = Path(__file__).parents[2]
SETTINGS = FitSettings(
    knot_spacing_along=2.0, knot_spacing_across=1.0, smoothing_length=0.3, tolerance=0.02
)
FINE = FitSettings(2.0, 1.0, 0.3, tolerance=0.005, mean_tolerance=2e-4)
LOOSE = FitSettings(2.0, 1.0, 0.3, 10.0)


def study(name: str):
    settings = merge_settings(
        read_settings(ROOT / "config/defaults.yaml"), read_settings(find_study(name))
    )
    return validate_study(settings)


def bowl(n: int = 60, ripple: float = 0.0) -> TriangleMesh:
    """Mesh of the toroidal bowl y = 8 + x2/120 + (z - 24)2/400 on x -20..20, z 10..38."""
    x, z = np.meshgrid(np.linspace(-20, 20, n), np.linspace(10, 38, n), indexing="ij")
    y = 8.0 + x**2 / 120 + (z - 24) ** 2 / 400
    y += ripple * np.random.default_rng(1).standard_normal(y.shape)
    number = np.arange(n * n).reshape(n, n)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    faces = np.concatenate([np.stack(f, axis=-1).reshape(-1, 3) for f in ((a, c, b), (a, d, c))])
    return TriangleMesh(np.stack([x, y, z], axis=-1).reshape(-1, 3), faces)


def rim() -> TriangleMesh:
    """Mesh of a gutter along x: flat across, rising by 4 mm beyond z = 30."""
    mesh = bowl()
    x, _, z = mesh.vertices.T
    height = 8.0 + np.log1p(np.exp(1.2 * (z - 30.0))) / 2.0
    return TriangleMesh(np.column_stack([x, height, z]), mesh.faces)


def test_plateau_follows_a_smooth_bowl():
    surface, quality = fit_plateau(bowl(), (-19, 19), (11, 37), SETTINGS)
    # A parabola costs bending energy at the free border only: l^2 curvature there, less inside.
    assert quality.max_mm < 5e-4
    assert quality.n_points > 1000
    u, v = np.meshgrid(np.linspace(13, 35, 20), np.linspace(-17, 17, 20))
    x, y, z = surface.evaluate(u, v).transpose(2, 0, 1)
    assert np.abs(y - (8.0 + x**2 / 120 + (z - 24) ** 2 / 400)).max() < 1e-4


def test_plateau_normal_points_up_on_both_sides():
    mesh = bowl()
    other = TriangleMesh(mesh.vertices * [1, 1, -1], mesh.faces[:, ::-1])
    for part, z in ((mesh, (11, 37)), (other, (-37, -11))):
        surface, _ = fit_plateau(part, (-19, 19), z, SETTINGS)
        (u0, u1), (v0, v1) = surface.domain
        u, v = np.meshgrid(np.linspace(u0, u1, 9), np.linspace(v0, v1, 9))
        assert (surface.normal(u, v)[..., 1] > 0.8).all()


def off_the_bowl(surface) -> np.ndarray:
    """Height of a patch over the bowl without its noise, mm."""
    u, v = np.meshgrid(np.linspace(14, 34, 40), np.linspace(-16, 16, 40))
    x, y, z = surface.evaluate(u, v).transpose(2, 0, 1)
    return y - (8.0 + x**2 / 120 + (z - 24) ** 2 / 400)


@pytest.mark.compiled
def test_smoothing_takes_noise_down(monkeypatch):
    monkeypatch.setattr(fitting, "fewest_spans", lambda build, accepted, most: build(most))
    noisy = bowl(ripple=0.005)
    error = [
        np.std(off_the_bowl(fit_plateau(noisy, (-19, 19), (11, 37), settings)[0]))
        for settings in (FitSettings(2.0, 1.0, 0.05, 1.0), FitSettings(2.0, 1.0, 1.0, 1.0))
    ]
    assert error[1] < 0.6 * error[0]
    assert error[0] < 0.005


@pytest.mark.compiled
def test_fit_takes_no_more_lines_than_needed():
    sizes = []
    for tolerance in (0.05, 0.005, 0.0005):
        settings = FitSettings(1.0, 1.0, 0.1, tolerance)
        _, quality = fit_plateau(rim(), (-19, 19), (11, 37), settings)
        assert quality.max_mm <= tolerance
        sizes.append(quality.n_u * quality.n_v)
        # Straight along x, round across: more lines across (u) than along (v).
        assert quality.n_u > quality.n_v
    assert sizes[0] < sizes[1] < sizes[2]


def test_mean_deviation_has_its_own_limit():
    settings = FitSettings(20.0, 13.0, 0.1, tolerance=0.5, mean_tolerance=0.001)
    assert refused_at(fit_plateau, rim(), (-19, 19), (11, 37), settings) == "insert mesh"


@pytest.mark.compiled
def filleted() -> TriangleMesh:
    """Mesh that is flat across for z > 24 and rises on a fillet of 18 mm radius below."""
    mesh = bowl(n=80)
    x, _, z = mesh.vertices.T
    inner = np.maximum(24.0 - z, 0.0)
    height = 6.0 + x**2 / 120 + 18.0 - np.sqrt(18.0**2 - inner**2)
    height += 3e-4 * np.random.default_rng(2).standard_normal(height.shape)
    return TriangleMesh(np.column_stack([x, height, z]), mesh.faces)


@pytest.mark.compiled
def test_a_fillet_leaves_no_wave_where_it_starts():
    plain = FitSettings(2.0, 1.0, 0.2, 0.02, mean_tolerance=0.001)
    fine = replace(plain, wave_tolerance=3e-4)
    _, coarse = fit_plateau(filleted(), (-19, 19), (11, 37), plain)
    surface, quality = fit_plateau(filleted(), (-19, 19), (11, 37), fine)
    assert coarse.wave_mm > 1e-3
    assert quality.wave_mm < 4e-4
    assert (coarse.max_mm, quality.max_mm) <= (0.02, 0.02)
    # Lines are closer where the curvature jumps, and nowhere else.
    spans = np.diff(np.unique(surface.knots_u))
    assert spans.min() < 0.6 * spans.max()


@pytest.mark.compiled
def test_deviation_above_tolerance_is_refused():
    assert (
        refused_at(fit_plateau, bowl(ripple=0.02), (-19, 19), (11, 37), SETTINGS)
        == "insert mesh, near x -10.5, y 9.0, z 19.5 mm"
    )


def test_region_beside_the_mesh_is_refused():
    assert refused_at(fit_plateau, bowl(), (-19, 19), (60, 80), SETTINGS) == "insert mesh"


@pytest.mark.compiled
def test_condyle_of_revolution_is_recovered_within_a_micrometre():
    implant = example.example_implant()
    for side, window in (("medial", (10.0, 40.0)), ("lateral", (-40.0, -10.0))):
        truth = implant.femoral[side]
        mesh = example.meshed(truth, 120, 80)
        surface, quality = fit_condyle(
            mesh, (0.0, 0.0), (np.radians(-25), np.radians(105)), window, FINE
        )
        assert quality.max_mm < 0.005
        (u0, u1), (v0, v1) = surface.domain
        u, v = np.meshgrid(
            np.linspace(u0 + 3, u1 - 3, 30), np.linspace(v0 + 4, v1 - 6, 30), indexing="ij"
        )
        points = surface.evaluate(u, v).reshape(-1, 3)
        _, _, distance, normal, projected = truth.closest_points(points)
        # Where the coronal radius jumps from 200 to 5 mm a knot spacing of 1 mm costs 1 um.
        assert np.abs(distance[projected]).max() < 0.002
        assert np.median(np.abs(distance[projected])) < 2e-4
        cosine = (surface.normal(u, v).reshape(-1, 3) * normal).sum(axis=1)
        # Where a radius of 200 mm ends in one of 5 mm, few lines turn the normal by up to 1 deg.
        assert cosine[projected].min() > 0.9998


def widening(narrow: float) -> TriangleMesh:
    """Condyle of 30 mm radius with a fillet of 4 mm, at z 40 mm, in front nearer by `narrow`."""
    turned, across = np.meshgrid(
        np.radians(np.linspace(-30, 105, 150)), np.linspace(0, 1, 100), indexing="ij"
    )
    edge = 40.0 - 0.5 * narrow * (1.0 - np.tanh((turned - np.radians(20)) / np.radians(10)))
    z = 10.0 + (edge + 3.9 - 10.0) * across
    radius = 26.0 + np.sqrt(16.0 - np.maximum(z - edge, 0.0) ** 2)
    points = np.stack([radius * np.sin(turned), -radius * np.cos(turned), z], axis=-1)
    number = np.arange(turned.size).reshape(turned.shape)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    faces = np.concatenate([np.stack(f, axis=-1).reshape(-1, 3) for f in ((a, b, c), (a, c, d))])
    return TriangleMesh(points.reshape(-1, 3), faces)


@pytest.mark.compiled
def test_window_ends_a_condyle_where_its_fillet_is_outside(caplog):
    """Behind 20 deg no fillet is in the window: its border in front must not be extrapolated."""
    angles = (np.radians(-25), np.radians(100))
    surface, _ = fit_condyle(widening(7.0), (0.0, 0.0), angles, (12.0, 37.0), LOOSE)
    (u0, u1), (_, v1) = surface.domain
    border = surface.evaluate(np.linspace(u0, u1, 200), np.full(200, v1))
    angle = np.degrees(np.arctan2(border[:, 0], -border[:, 1]))
    assert border[angle > 40, 2] == pytest.approx(37.0, abs=0.5)
    # The fillet is inclined by 50 to 70 deg at 3.1 to 3.8 mm from its start at 33 mm.
    assert border[angle < 0, 2] == pytest.approx(36.5, abs=0.4)
    assert not caplog.records


def test_patch_stays_smooth_where_the_sheet_ends():
    mesh = bowl()
    middles = mesh.vertices[mesh.faces].mean(axis=1)
    cut = mesh.faces[middles[:, 0] + (middles[:, 2] - 24) < 18]
    surface, _ = fit_plateau(TriangleMesh(mesh.vertices, cut), (-19, 19), (11, 37), LOOSE)
    points = surface.evaluate(np.linspace(12, 36, 30)[:, None], np.linspace(-18, 18, 30))
    x, y, z = points.transpose(2, 0, 1)
    # Beyond the cut the patch goes on nearly straight: millimetres away it may be tenths off.
    assert np.abs(y - (8.0 + x**2 / 120 + (z - 24) ** 2 / 400)).max() < 0.8


class TestExample:
    """The committed STL + CSV implant."""

    def test_committed_files_are_what_the_program_writes(self, tmp_path):
        example.write_example(tmp_path)
        for name in ("insert", "femoral"):
            new, old = (load_shape(folder / f"{name}.stl") for folder in (tmp_path, example.FOLDER))
            assert new.faces.shape == old.faces.shape
            np.testing.assert_allclose(new.vertices[new.faces], old.vertices[old.faces], atol=1e-5)
        for name in ("gait.csv", "load.csv"):
            assert (tmp_path / name).read_text() == (example.FOLDER / name).read_text()

    @pytest.mark.compiled
    @pytest.mark.slow
    def test_imported_implant_is_the_meshed_one(self):
        settings = study("example_meshes").implant
        meshes = [load_shape(ROOT / getattr(settings.meshes, n)) for n in ("insert", "femoral")]
        implant, record = build_implant(settings, *meshes)
        quality = record.fit_quality
        assert len(quality) == 4
        assert max(fit.max_mm for fit in quality) < settings.meshes.tolerance_mm
        truth = example.example_implant()
        for side in SIDES:
            for fitted, exact in (
                (implant.insert[side], truth.insert[side]),
                (implant.femoral[side], truth.femoral[side]),
            ):
                (u0, u1), (v0, v1) = fitted.domain
                u, v = np.meshgrid(
                    np.linspace(u0, u1, 40)[4:-4], np.linspace(v0, v1, 40)[4:-4], indexing="ij"
                )
                points = fitted.evaluate(u, v).reshape(-1, 3)
                _, _, distance, normal, projected = exact.closest_points(points)
                # Between the vertices, too, the accepted deviation is kept.
                assert np.abs(distance[projected]).max() < 0.5 * settings.meshes.tolerance_mm
                cosine = (fitted.normal(u, v).reshape(-1, 3) * normal).sum(axis=1)
                assert cosine[projected].min() > 0.999


@pytest.mark.slow
@pytest.mark.compiled
def test_auto_refines_to_one_per_cent_of_a_usual_penetration():
    """10 MPa compress 6 mm of polyethylene by 28 um."""
    settings = study("example_meshes").implant
    assert settings.meshes.wave_tolerance_mm == "auto"
    waves = {}
    for chosen in (None, "auto"):
        block = settings.meshes.model_copy(update={"wave_tolerance_mm": chosen})
        shapes = (load_shape(ROOT / block.insert), load_shape(ROOT / block.femoral))
        _, record = build_implant(settings.model_copy(update={"meshes": block}), *shapes)
        waves[chosen] = {(fit.component, fit.side): fit.wave_mm for fit in record.fit_quality}
    for side in SIDES:
        assert waves[None]["insert", side] > 4e-3
        assert waves["auto"]["insert", side] < 2.8e-4
        # Facets cut condyles short by half a micrometre all over, which no line mends.
        assert waves["auto"]["femoral", side] < 0.15 * waves[None]["femoral", side]


@pytest.mark.compiled
def test_wave_is_counted_where_surfaces_touch_only():
    random = np.random.default_rng(5)
    points = random.uniform([-5.0, 0.0, 0.0], [5.0, 0.0, 20.0], (4000, 3))
    deviation = np.where(points[:, 2] > 15.0, 3e-3, 1e-4)
    fit = summarize_deviation(
        ("insert", "medial"),
        fit_plateau(bowl(), (-19, 19), (11, 37), SETTINGS)[0],
        points,
        deviation,
    )
    touched = np.array([[x, 0.0, z] for x in (-1.0, 0.0, 1.0) for z in np.arange(2.0, 12.0, 0.5)])
    assert fit.wave_mm == pytest.approx(3e-3)
    full = np.ones(len(touched))
    assert fit.wave_near(touched, 0.5, full) == pytest.approx(1e-4)
    assert fit.wave_near(touched + [0.0, 0.0, 5.0], 0.5, full) == pytest.approx(3e-3)
    assert fit.wave_near(touched[:0], 0.5, full[:0]) == 0.0


@pytest.mark.compiled
def test_noise_of_a_scan_is_no_wave():
    """Strips of 80 points with 15 um of noise and a wave of 20 um at one of them."""
    x, z = (one.ravel() for one in np.meshgrid(np.arange(0.0, 40.0, 0.5), np.arange(0, 20.0, 0.5)))
    noise = 0.015 * np.random.default_rng(1).normal(size=x.size)
    surface = fit_plateau(bowl(), (-19, 19), (11, 37), SETTINGS)[0]
    places = np.column_stack([x, 0.0 * x, z])
    full = np.ones(len(places))
    for wave, low, high in ((0.0, 0.0, 0.001), (0.02, 0.012, 0.02)):
        away = noise + wave * (z == 10.0)
        points = places + np.column_stack([0.0 * x, away, 0.0 * x])
        fit = summarize_deviation(("insert", "medial"), surface, points, away)
        assert np.abs(strip_means(points, away)[1]).max() > 0.003
        assert low <= fit.wave_near(places, 0.5, full) <= high
        assert low <= fit.largest_wave() <= high


@pytest.fixture(scope="module")
def built():
    implant, record = real_implant(study("dm_fluoroscopy").implant)
    return implant, record.fit_quality


@pytest.fixture(scope="module")
def without_waves():
    settings = study("dm_fluoroscopy").implant
    meshes = settings.meshes.model_copy(update={"wave_tolerance_mm": None})
    return real_implant(settings.model_copy(update={"meshes": meshes}))[1].fit_quality


def real_implant(settings):
    folder = Path(os.environ.get("KNEEWEAR_DATA") or ROOT / "../shared/data")
    paths = [folder / settings.meshes.insert, folder / settings.meshes.femoral]
    if not all(path.is_file() for path in paths):
        pytest.skip(f"no real implant data in {folder} (set KNEEWEAR_DATA)")
    return build_implant(settings, *(load_shape(path) for path in paths))


@pytest.mark.slow
class TestRealImplant:
    """Grand Challenge implant, where its data are available."""

    def test_contact_region_is_met_within_20_um(self, built):
        _, quality = built
        assert {(fit.component, fit.side) for fit in quality} == {
            (component, side) for component in ("insert", "femoral") for side in SIDES
        }
        for fit in quality:
            assert fit.max_mm < 0.02
            assert fit.mean_mm < 0.001
            assert fit.n_points > 1500
            assert fit.ripple_mm < 0.004

    def test_no_wave_is_left_where_the_fillets_start(self, built, without_waves):
        """The flats end at |z| 19 mm, and condyles press on them and on the fillets."""
        _, quality = built
        plain = {(fit.component, fit.side): fit for fit in without_waves}
        for fit in quality:
            before, after = (
                np.abs(mean[(np.abs(z) > 14.0) & (np.abs(z) < 34.0)]).max()
                for z, mean in (
                    strip_means(one.points, one.deviation)
                    for one in (plain[fit.component, fit.side], fit)
                )
            )
            assert before > 7e-4
            assert after < 4.5e-4
            assert fit.max_mm < 0.02

    def test_radii_are_those_measured(self, built):
        implant, _ = built
        surface = implant.insert["medial"]
        x, z = np.meshgrid(np.linspace(-4, 12, 15), np.linspace(22, 32, 15))
        above = np.column_stack([x.ravel(), np.full(x.size, 100.0), z.ravel()])
        u, v, *_ = surface.ray_hits(above, [0.0, -1.0, 0.0])
        flat, hollow = surface.curvature(u, v)
        # Sagittal radius 57.6-58.0 mm, flat across (1/500 mm of ripple stays).
        assert np.median(1 / hollow) == pytest.approx(57.8, abs=0.7)
        assert np.percentile(np.abs(flat), 95) < 0.003

    def test_condyle_is_flat_across_without_ripple(self, built):
        implant, _ = built
        for side, sign in (("medial", 1.0), ("lateral", -1.0)):
            surface = implant.femoral[side]
            (u0, u1), _ = surface.domain
            z = sign * np.linspace(22.0, 30.0, 40)
            below = np.column_stack([np.full(40, 8.0), np.full(40, -40.0), z])
            u, _, distance, normal, projected = surface.closest_points(below)
            assert projected.all()
            assert ((u > u0) & (u < u1)).all()
            # Single-precision metres and remeshing leave half a micrometre.
            assert np.ptp(distance) < 0.002
            assert np.abs(normal[:, 2]).max() < 0.003
