"""Smooth single-patch surfaces through scanned or meshed bearing surfaces."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import scipy
from numpy.typing import NDArray

from kneewear.base.checks import judge
from kneewear.errors import InputDataError
from kneewear.geometry.fit_quality import FitQuality, fit_fault, judge_patch, strip_means
from kneewear.geometry.meshes import TriangleMesh
from kneewear.geometry.surface import Surface

logger = logging.getLogger(__name__)

Array = NDArray[np.float64]
Result = TypeVar("Result")
Counts = tuple[int, int]
Limits = tuple[float, float]
# Factor of the smoothing length over a parameter.
Softness = Callable[[Array], Array]
# Component, file and side of a patch, for records and messages.
Label = tuple[str, str, str]

DEGREE = 3
# Vertices whose normal is more than 72 deg from the direction of fitting belong to walls.
_MIN_COSINE = 0.3
# The femoral patch ends along its outer fillet where the normal is inclined by 50 to 70 deg.
_RIM_COSINES = (0.34, 0.64)
_RIM_TILT = 0.6
_RIM_DEGREE = 6
# Angle from a vertex of the fillet, rad, beyond which the window alone ends the patch.
_RIM_REACH = np.radians(5.0)
# Width, knot spacing and smoothing factor along the rounded edges of a condyle: knots are closer
# and smoothing across is weaker there, without ripple on the flat beside them.
_NOTCH_EDGE = (1.5, 0.25, 0.15)
_OUTER_EDGE = (5.0, 0.5, 0.25)
# With no smoothing at all knots without vertices near them would have any height: length, mm, that
# moves a surface of 10 mm radius by less than a nanometre.
_MIN_SMOOTHING = 0.01
# Vertices nearer than this, mm, to a border of patch or mesh are fitted but not judged: contact
# does not reach the rims of sheets.
_BORDER_MARGIN = 2.0
_NOTCH_MARGIN = 0.5
_MIN_VERTICES = 100
# Half the width of a strip in which a wave is corrected, mm; rounds of further lines, and the
# shortest span that is still halved, mm.
_STRIP = 0.25
_WAVE_ROUNDS = 6
_SHORTEST_SPAN = 0.5
_NONE = np.empty(0)
# Smoothing is weaker by this factor within this distance, mm, of further lines.
_WAVE_SOFTNESS = 0.4
_WAVE_REACH = 1.5
# Parts of a patch farther than this from every judged vertex, mm, are not searched for ripple.
_RIPPLE_REACH = 1.0


@dataclass(frozen=True)
class FitSettings:
    """Settings of the fit of patches to a mesh; lengths in mm."""

    # Minimum distance of knots in the sagittal and the coronal direction. As few knots are used as
    # the tolerances need.
    knot_spacing_along: float
    knot_spacing_across: float
    # Length below which features are smoothed away; its fourth power weighs the bending energy
    # against the squared deviation.
    smoothing_length: float
    # Maximum and mean deviation accepted.
    tolerance: float
    mean_tolerance: float = np.inf
    # Largest mean deviation of a strip along the bearing: what is left as a wave across it.
    wave_tolerance: float = np.inf
    # Take all knots at any tolerance: to find what can be reached.
    densest: bool = False


def fit_plateau(
    mesh: TriangleMesh,
    x: Limits,
    z: Limits,
    settings: FitSettings,
    label: Label = ("insert", "insert mesh", "medial"),
) -> tuple[Surface, FitQuality]:
    """Plateau of an insert as a graph y(x, z): u runs along z, v along x, the normal points up.

    `x` and `z` are the limits of the window, mm, in the frame of the insert (a mesh in mm and knee
    axes). Where the window reaches beyond the mesh the patch continues smoothly; see
    `meshes.sheet_coverage`. An InputDataError is raised if the window holds too few vertices, or
    deviation or ripple exceed what is accepted.
    """
    inside = _within(mesh.vertices[:, 0], x) & _within(mesh.vertices[:, 2], z)
    points = mesh.vertices[inside & (mesh.vertex_normals[:, 1] > _MIN_COSINE)]
    _check_count(len(points), label, f"x {x[0]:g}..{x[1]:g} mm, z {z[0]:g}..{z[1]:g} mm")
    judged = _clear_of(points[:, 0], x) & _clear_of(points[:, 2], z)
    most = (
        _spans(z[1] - z[0], settings.knot_spacing_across),
        _spans(x[1] - x[0], settings.knot_spacing_along),
    )

    def build(spans: Counts, further: Array) -> Surface:
        knots = (_with_knots(_spaced_knots(*z, spans[0]), further), _spaced_knots(*x, spans[1]))
        soft = _softness(further), None
        height = _smooth_graph(points[:, 2], points[:, 0], points[:, 1], knots, settings, soft)
        return patch_through(lambda u, v: np.stack([v, height(u, v), u], axis=-1), knots)

    return _fitted(build, points[judged], mesh, most, settings, label, across=0)


def fit_condyle(
    mesh: TriangleMesh,
    axis: Limits,
    angles: Limits,
    z: Limits,
    settings: FitSettings,
    label: Label = ("femoral", "femoral mesh", "medial"),
) -> tuple[Surface, FitQuality]:
    """Condyle as radius over angle and width about a medial-lateral axis; the normal is outward.

    `axis` is the position (x, y) of the axis, mm, in the femoral frame of the mesh, `angles` the
    range of the angle about it, rad (0 is distal, positive posterior) and `z` the window, mm. Its
    end farther from z = 0 is an outer limit: the patch ends on the fillet of the outer rim where
    the normal is inclined by about 60 deg, if that comes first. u runs along the angle, v from the
    lower to the higher z (both from 0 to their length, mm). Raises as `fit_plateau`.

    The fit is of r(angle, width), where width runs from the inner border to the rim, so that a rim
    oblique to the condyle lies along the knots. Walls (normals more than 72 deg from radial) are
    left out, because each direction needs one radius.
    """
    offset = mesh.vertices[:, :2] - np.asarray(axis)
    angle = np.arctan2(offset[:, 0], -offset[:, 1])
    radius = np.hypot(offset[:, 0], offset[:, 1])
    cosine = (mesh.vertex_normals[:, :2] * offset).sum(axis=1) / radius
    inside = _within(angle, angles) & _within(mesh.vertices[:, 2], z) & (cosine > _MIN_COSINE)
    low, high = np.degrees(angles)
    where = f"angle {low:g}..{high:g} deg, z {z[0]:g}..{z[1]:g} mm"
    _check_count(int(inside.sum()), label, where)
    across = mesh.vertices[:, 2]
    sign = 1.0 if z[0] + z[1] > 0 else -1.0
    inner, outer = sorted((sign * z[0], sign * z[1]))
    tilt = sign * mesh.vertex_normals[:, 2]
    rim = _rim(angle[inside], sign * across[inside], cosine[inside], tilt[inside], outer)
    bearing = inside & (cosine > _RIM_COSINES[1])
    cut = float((sign * across[bearing] - rim(angle[bearing])).max(initial=0.0))
    remedy = "Move the outer limit of femoral_region_mm inside the fillet of the rim."
    finding = judge("geometry.rim", cut, label[1], remedy, f"{label[2]} condyle")
    if finding is not None:
        logger.warning("%s", finding)
    inside &= sign * across <= rim(angle)

    mean_radius = float(radius[inside].mean())
    mean_width = float(rim(np.linspace(*angles, 200)).mean() - inner)
    stretch = mean_width / (rim(angle[inside]) - inner)
    arc = mean_radius * (angle[inside] - angles[0])
    width = (sign * across[inside] - inner) * stretch
    points = mesh.vertices[inside]
    length = mean_radius * (angles[1] - angles[0])
    judged = _clear_of(arc, (0.0, length)) & (width > _NOTCH_MARGIN)
    most = (
        _spans(length, settings.knot_spacing_along),
        _spans(mean_width, settings.knot_spacing_across),
    )

    def build(spans: Counts, further: Array) -> Surface:
        # Knots of a right condyle, whose patch is reversed afterwards, count from the other end.
        further = mean_width - further if sign < 0 else further
        wide = _with_knots(_edged_knots(mean_width, spans[1]), further)
        knots = (_spaced_knots(0.0, length, spans[0]), wide)
        soft = None, _softness(further, knots[1][-1])
        fitted = _smooth_graph(arc, width, radius[inside], knots, settings, soft)

        def on_condyle(u: Array, v: Array) -> Array:
            turned = angles[0] + u / mean_radius
            distance = fitted(u, v)
            out = inner + v * (rim(turned) - inner) / mean_width
            x, y = axis[0] + distance * np.sin(turned), axis[1] - distance * np.cos(turned)
            return np.stack([x, y, sign * out], axis=-1)

        surface = patch_through(on_condyle, knots)
        return surface.reversed_across() if sign < 0 else surface

    return _fitted(build, points[judged], mesh, most, settings, label, across=1, axis=axis)


def _fitted(
    build: Callable[[Counts, Array], Surface],
    points: Array,
    mesh: TriangleMesh,
    most: Counts,
    settings: FitSettings,
    label: Label,
    across: int,
    axis: Limits | None = None,
) -> tuple[Surface, FitQuality]:
    """Patch with the fewest lines within the tolerances; refused when none is.

    Where a wave across the bearing (along parameter `across`) is left, such as where a fillet
    starts and the curvature jumps, further lines are added while the patch stays accepted.
    """
    component, source, side = label
    border = mesh.border_vertices
    if border.size:
        distance, _ = scipy.spatial.cKDTree(mesh.vertices[border]).query(points)
        points = points[distance > _BORDER_MARGIN]
    if len(points) < _MIN_VERTICES / 4:
        found = f"{len(points)} vertices of the {side} region {_BORDER_MARGIN:g} mm and more from "
        remedy = "Widen the region, or export a finer mesh."
        wanted = f"at least {_MIN_VERTICES // 4}"
        raise InputDataError(source, found + "borders", wanted, remedy)

    def judged(
        spans: Counts, further: Array = _NONE
    ) -> tuple[Surface, FitQuality, InputDataError | None, Counts]:
        surface = build(spans, further)
        quality = judge_patch(surface, points, component, side, _RIPPLE_REACH)
        limits = settings.tolerance, settings.mean_tolerance
        return surface, quality, fit_fault(quality, *limits, source, axis), spans

    if settings.densest:
        return judged(most)[:2]
    surface, quality, error, spans = fewest_spans(judged, lambda found: found[2] is None, most)
    if error is not None:
        raise error
    further = _NONE
    for _ in range(_WAVE_ROUNDS):
        lines = _lines_in_waves(surface, quality, across, settings.wave_tolerance)
        before = further.size
        # All at once, or else those that do not make the patch follow noise.
        for added in (lines, *lines[:, None]) if lines.size else ():
            finer, deviation, error, _ = judged(spans, np.concatenate([further, added]))
            if error is None:
                surface, quality, further = finer, deviation, np.concatenate([further, added])
                if added is lines:
                    break
        if further.size == before:
            break
    return surface, quality


def _lines_in_waves(surface: Surface, quality: FitQuality, across: int, tolerance: float) -> Array:
    """Parameters of further lines: the middles of the spans at strips that deviate on average."""
    position, mean = strip_means(quality.points, quality.deviation)
    waves = position[np.abs(mean) > tolerance]
    at = surface.closest_points(quality.points)[across]
    near = scipy.spatial.cKDTree(quality.points[:, 2:])
    found = [float(np.median(at[near.query_ball_point([wave], _STRIP)])) for wave in waves]
    breaks = np.unique((surface.knots_u, surface.knots_v)[across])
    spans = np.unique(np.clip(np.searchsorted(breaks, found, side="right") - 1, 0, breaks.size - 2))
    spans = spans[np.diff(breaks)[spans] > _SHORTEST_SPAN] if found else spans[:0]
    middles: Array = 0.5 * (breaks[spans] + breaks[spans + 1])
    return middles


def fewest_spans(
    build: Callable[[Counts], Result], accepted: Callable[[Result], bool], most: Counts
) -> Result:
    """Result with the fewest knot spans along u and v, up to `most`, that is accepted.

    Both numbers are doubled from one until a result is accepted; then each direction in turn is
    thinned by bisection, in both orders, and the sparser outcome is returned, or the result of
    `most` when none is accepted.
    """
    known: dict[Counts, Result] = {}

    def passes(counts: Counts) -> bool:
        if counts not in known:
            known[counts] = build(counts)
        return accepted(known[counts])

    levels = (2**k for k in range((max(most) - 1).bit_length()))
    tried = ((min(level, most[0]), min(level, most[1])) for level in levels)
    start = next((counts for counts in tried if passes(counts)), most)
    if not passes(start):
        return known[start]
    found = [_thinned(passes, start, order) for order in ((0, 1), (1, 0))]
    return known[min(found, key=lambda counts: (counts[0] + 3) * (counts[1] + 3))]


def _thinned(passes: Callable[[Counts], bool], start: Counts, order: Counts) -> Counts:
    """Reduce one direction, then the other, then the first again."""
    counts = start
    for direction in (*order, order[0]):
        enough, failing = counts[direction], 0
        while enough - failing > 1:
            middle = (enough + failing) // 2
            tried = (middle, counts[1]) if direction == 0 else (counts[0], middle)
            if passes(tried):
                enough = middle
            else:
                failing = middle
        counts = (enough, counts[1]) if direction == 0 else (counts[0], enough)
    return counts


def _rim(
    angle: Array, width: Array, cosine: Array, tilt: Array, outer: float
) -> Callable[[Array], Array]:
    """Distance of the outer border from the mid-plane over the angle, mm.

    `tilt` is the outward component of the normals. A polynomial through the vertices of the fillet
    and, at angles without any, through the outermost vertices in the window.
    """
    fillet = _within(cosine, _RIM_COSINES) & (tilt > _RIM_TILT)
    fillet &= width > 0.5 * (width.min() + outer)
    if fillet.sum() < _MIN_VERTICES / 2:
        return lambda turned: np.full(np.shape(turned), outer)
    steps = np.arange(angle.min(), angle.max(), _RIM_REACH)
    near = np.abs(steps[:, None] - angle) < _RIM_REACH
    free = ~near[:, fillet].any(axis=1)
    widest = np.where(near[free], width, width.min()).max(axis=1)
    at, border = np.r_[angle[fillet], steps[free]], np.r_[width[fillet], widest]
    # Where there is no fillet the outermost vertices count as much as the fillet does elsewhere.
    per_step = fillet.sum() / max(steps.size - free.sum(), 1)
    weight = np.r_[np.ones(fillet.sum()), np.full(widest.size, np.sqrt(per_step))]
    line = np.polynomial.Chebyshev.fit(at, border, _RIM_DEGREE, w=weight)
    known = at.min() - _RIM_REACH, at.max() + _RIM_REACH
    return lambda turned: np.minimum(line(np.clip(turned, *known)), outer)


def _smooth_graph(
    u: Array,
    v: Array,
    values: Array,
    knots: tuple[Array, Array],
    settings: FitSettings,
    soft: tuple[Softness | None, Softness | None] = (None, None),
) -> Callable[[Array, Array], Array]:
    """Penalised least-squares tensor spline through scattered values; returned as a function.

    Minimises mean (f - value)^2 + mean l^4 (f_uu^2 + 2 f_uv^2 + f_vv^2), a thin plate's bending; l
    is multiplied by the functions `soft` of u in the term of f_uu and of v in that of f_vv.
    """
    knots_u, knots_v = knots
    basis = _tensor_basis(u, v, knots)
    area = (knots_u[-1] - knots_u[0]) * (knots_v[-1] - knots_v[0])

    def grams(of: Array, factor: Softness | None) -> list[scipy.sparse.csr_matrix]:
        softer = np.ones_like if factor is None else lambda at: factor(at) ** 4
        return [_gram(of, order, softer if order == 2 else np.ones_like) for order in range(3)]

    gram_u, gram_v = grams(knots_u, soft[0]), grams(knots_v, soft[1])
    bending = scipy.sparse.kron(gram_u[2], gram_v[0]) + 2 * scipy.sparse.kron(gram_u[1], gram_v[1])
    bending = (bending + scipy.sparse.kron(gram_u[0], gram_v[2])) / area
    length = max(settings.smoothing_length, _MIN_SMOOTHING)
    normal = basis.T @ basis / len(u) + length**4 * bending
    coefficients = scipy.sparse.linalg.spsolve(normal.tocsc(), basis.T @ values / len(u))

    def graph(at_u: Array, at_v: Array) -> Array:
        at_u, at_v = np.broadcast_arrays(at_u, at_v)
        return (_tensor_basis(at_u.ravel(), at_v.ravel(), knots) @ coefficients).reshape(at_u.shape)

    return graph


def _tensor_basis(u: Array, v: Array, knots: tuple[Array, Array]) -> scipy.sparse.csr_matrix:
    """Values of the tensor basis functions at points: 4 x 4 per row."""
    left, right = (
        scipy.interpolate.BSpline.design_matrix(x, k, DEGREE)
        for x, k in zip((u, v), knots, strict=True)
    )
    per_row = DEGREE + 1
    shape = (left.shape[0], left.shape[1] * right.shape[1])
    first, second = (m.indices.reshape(-1, per_row).astype(np.int64) for m in (left, right))
    columns = first[:, :, None] * right.shape[1] + second[:, None, :]
    values = left.data.reshape(-1, per_row, 1) * right.data.reshape(-1, 1, per_row)
    starts = np.arange(shape[0] + 1) * per_row**2
    return scipy.sparse.csr_matrix((values.ravel(), columns.ravel(), starts), shape=shape)


def _gram(knots: Array, order: int, weight: Callable[[Array], Array]) -> scipy.sparse.csr_matrix:
    """Weighted integrals of products of the basis functions' derivatives of one order."""
    breaks = np.unique(knots)
    nodes, weights = np.polynomial.legendre.leggauss(DEGREE + 1)
    half = np.diff(breaks)[:, None] / 2
    at = (breaks[:-1, None] + half * (nodes + 1)).ravel()
    basis = scipy.interpolate.BSpline(knots, np.eye(knots.size - DEGREE - 1), DEGREE)
    functions = basis(at, nu=order)
    share = (half * weights).ravel() * weight(at)
    return scipy.sparse.csr_matrix(functions.T @ (share[:, None] * functions))


def _softness(further: Array, width: float | None = None) -> Softness | None:
    """Factor of the smoothing length across a bearing: less at further lines.

    With the `width` of a condyle less along both edges as well.
    """
    if width is None and not further.size:
        return None

    def factor(at: Array) -> Array:
        values = np.ones_like(at) if width is None else _edge_softness(at, width)
        near = np.abs(at[:, None] - further).min(axis=1, initial=np.inf) < _WAVE_REACH
        return np.where(near, np.minimum(values, _WAVE_SOFTNESS), values)

    return factor


def _edge_softness(at_v: Array, width: float) -> Array:
    """Factor of the smoothing length across a condyle: 1 inside, less along both edges."""
    factor = np.ones_like(at_v)
    for distance, (band, _, least) in ((at_v, _NOTCH_EDGE), (width - at_v, _OUTER_EDGE)):
        factor *= least ** np.clip(1.5 - 1.5 * distance / band, 0.0, 1.0)
    return factor


def _spans(length: float, spacing: float) -> int:
    """Number of knot spans about `spacing` long."""
    return max(1, round(length / spacing))


def _spaced_knots(start: float, end: float, spans: int) -> Array:
    """Clamped knots of equal spans."""
    return np.pad(np.linspace(start, end, spans + 1), DEGREE, mode="edge")


def _with_knots(knots: Array, further: Array) -> Array:
    """Knots with further ones between."""
    return np.sort(np.concatenate([knots, further])) if further.size else knots


def _edged_knots(width: float, spans: int) -> Array:
    """Clamped knots from 0 to `width`, closer along the notch edge (0) and the outer edge."""
    spacing = width / spans
    (notch, notch_part, _), (rim, rim_part, _) = _NOTCH_EDGE, _OUTER_EDGE
    pieces = [
        np.linspace(start, end, max(1, round((end - start) / step)) + 1)
        for start, end, step in (
            (0.0, notch, spacing * notch_part),
            (notch, width - rim, spacing),
            (width - rim, width, spacing * rim_part),
        )
    ]
    return np.pad(np.concatenate([pieces[0], pieces[1][1:-1], pieces[2]]), DEGREE, mode="edge")


def patch_through(function: Callable[[Array, Array], Array], knots: tuple[Array, Array]) -> Surface:
    """Bicubic patch on given knots that interpolates a function of u and v, with values (..., 3).

    It interpolates at the Greville points: averages of neighbouring knots, one per basis function.
    """
    windows = (np.lib.stride_tricks.sliding_window_view(k[1:-1], DEGREE) for k in knots)
    sites = [np.clip(w.mean(axis=1), k[0], k[-1]) for w, k in zip(windows, knots, strict=True)]
    net = function(*np.meshgrid(*sites, indexing="ij"))
    for direction in range(2):
        at, k = sites[direction], knots[direction]
        basis = scipy.interpolate.BSpline.design_matrix(at, k, DEGREE).toarray()
        turned = np.moveaxis(net, direction, 0)
        solved = np.linalg.solve(basis, turned.reshape(len(basis), -1)).reshape(turned.shape)
        net = np.moveaxis(solved, 0, direction)
    return Surface(
        np.ascontiguousarray(net), np.ones(net.shape[:2]), *knots, degree_u=DEGREE, degree_v=DEGREE
    )


def _check_count(count: int, label: Label, where: str) -> None:
    """Refuse a region that (nearly) misses the mesh."""
    if count < _MIN_VERTICES:
        found = f"{count} vertices facing the fit in the {label[2]} region ({where})"
        remedy = "Check the region against the mesh, and `axes` and `unit`."
        raise InputDataError(label[1], found, f"at least {_MIN_VERTICES}", remedy)


def _clear_of(values: Array, limits: Limits) -> NDArray[np.bool_]:
    """True where values are inside two limits by at least the margin that is not judged."""
    return _within(values, (limits[0] + _BORDER_MARGIN, limits[1] - _BORDER_MARGIN))


def _within(values: Array, limits: Limits) -> NDArray[np.bool_]:
    """True where values lie between two limits."""
    return (values >= min(limits)) & (values <= max(limits))
