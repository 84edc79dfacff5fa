"""Compiled stress of slabs by waves of plastic strain and pressure, and return to the curve.

Waves of a row number a and of its opposite have the same length and share a matrix, which is read
once for both. Spectra are complex arrays of the components xx, yy, xy, yz, zx and zz. Strain of
five components has no trace; of stress with five components, xx and yy are those beyond zz.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kneewear.base.compilation import compiled

PLANE = 4  # components of the plane part in the frame of a wave
SHEAR = 2  # of the antiplane part
LANES = 4  # real and imaginary parts of two opposite rows
FREE = 5  # components of a tensor without trace


@compiled
def fill_deflection(
    strain: NDArray,
    cos: NDArray,
    sin: NDArray,
    by_pressure: NDArray,
    height: NDArray,
    deflection: NDArray,
) -> None:
    """Spectrum (rows, columns) of the deflection of the surface by plastic strain."""
    rows, columns = deflection.shape
    for r in range(rows):
        a = min(r, rows - r)
        for j in range(columns):
            c, s = cos[r, j], sin[r, j]
            cc, ss, cs = c * c, s * s, 2.0 * c * s
            real = imag = 0.0
            for m in range(height.size):
                xx, yy, xy = strain[0, m, r, j], strain[1, m, r, j], strain[2, m, r, j]
                yz, zx = strain[3, m, r, j], strain[4, m, r, j]
                zz = strain[5, m, r, j] if strain.shape[0] > FREE else -xx - yy
                t = height[m]
                p, q = t * by_pressure[a, j, m, 0], t * by_pressure[a, j, m, 1]
                u, v = t * by_pressure[a, j, m, 2], 2.0 * t * by_pressure[a, j, m, 3]
                real += p * (cc * xx.real + ss * zz.real + cs * zx.real) + q * yy.real
                real += u * (ss * xx.real + cc * zz.real - cs * zx.real)
                real -= v * (c * xy.imag + s * yz.imag)
                imag += p * (cc * xx.imag + ss * zz.imag + cs * zx.imag) + q * yy.imag
                imag += u * (ss * xx.imag + cc * zz.imag - cs * zx.imag)
                imag += v * (c * xy.real + s * yz.real)
            deflection[r, j] = complex(real, imag)


@compiled
def fill_stress(
    strain: NDArray,
    pressure: NDArray,
    cos: NDArray,
    sin: NDArray,
    by_pressure: NDArray,
    plane: NDArray,
    antiplane: NDArray,
    stress: NDArray,
) -> None:
    """Spectra of the stress by plastic strain and pressure; tables of strain are transposed."""
    slabs, rows, columns = stress.shape[1], stress.shape[2], stress.shape[3]
    kind = plane.dtype
    v, u = np.empty((PLANE * slabs, LANES), kind), np.empty((SHEAR * slabs, LANES), kind)
    p, q = np.empty((LANES, PLANE * slabs), kind), np.empty((LANES, SHEAR * slabs), kind)
    for a in range(rows // 2 + 1):
        for j in range(columns):
            for side in range(2):
                r = a if side == 0 else (rows - a) % rows
                turn_strain(strain, r, j, cos[r, j], sin[r, j], 2 * side, v, u)
            multiply(plane[a, j], v, p)
            multiply(antiplane[a, j], u, q)
            for side in range(2):
                r = a if side == 0 else (rows - a) % rows
                add_pressure_wave(by_pressure[a, j], pressure[r, j], 2 * side, p)
                turn_stress(p, q, r, j, cos[r, j], sin[r, j], 2 * side, stress)


@compiled
def fill_pressed_stress(
    pressure: NDArray, cos: NDArray, sin: NDArray, by_pressure: NDArray, stress: NDArray
) -> None:
    """Spectra of the stress by pressure alone; components as in `fill_stress`."""
    slabs, rows, columns = stress.shape[1], stress.shape[2], stress.shape[3]
    kind = by_pressure.dtype
    p, q = np.empty((LANES, PLANE * slabs), kind), np.zeros((LANES, SHEAR * slabs), kind)
    for r in range(rows):
        a = min(r, rows - r)
        for j in range(columns):
            p[:2] = 0.0
            add_pressure_wave(by_pressure[a, j], pressure[r, j], 0, p)
            turn_stress(p, q, r, j, cos[r, j], sin[r, j], 0, stress)


@compiled(inlined=True)
def turn_strain(
    strain: NDArray, r: int, j: int, c: float, s: float, lane: int, v: NDArray, u: NDArray
) -> None:
    """Plastic strain of a wave in its own frame; shear is engineering strain."""
    cc, ss, cs = c * c, s * s, 2.0 * c * s
    for m in range(strain.shape[1]):
        xx, yy, xy = strain[0, m, r, j], strain[1, m, r, j], strain[2, m, r, j]
        yz, zx = strain[3, m, r, j], strain[4, m, r, j]
        zz = strain[5, m, r, j] if strain.shape[0] > FREE else -xx - yy
        i, n = PLANE * m, SHEAR * m
        v[i, lane] = cc * xx.real + ss * zz.real + cs * zx.real
        v[i, lane + 1] = cc * xx.imag + ss * zz.imag + cs * zx.imag
        v[i + 1, lane], v[i + 1, lane + 1] = yy.real, yy.imag
        v[i + 2, lane] = ss * xx.real + cc * zz.real - cs * zx.real
        v[i + 2, lane + 1] = ss * xx.imag + cc * zz.imag - cs * zx.imag
        # Components of the sine are multiplied by i.
        v[i + 3, lane] = -2.0 * (c * xy.imag + s * yz.imag)
        v[i + 3, lane + 1] = 2.0 * (c * xy.real + s * yz.real)
        u[n, lane] = 2.0 * (c * yz.real - s * xy.real)
        u[n, lane + 1] = 2.0 * (c * yz.imag - s * xy.imag)
        u[n + 1, lane] = cs * (zz.imag - xx.imag) + 2.0 * (cc - ss) * zx.imag
        u[n + 1, lane + 1] = -cs * (zz.real - xx.real) - 2.0 * (cc - ss) * zx.real


@compiled(inlined=True)
def multiply(turned: NDArray, right: NDArray, found: NDArray) -> None:
    """Product of a transposed matrix (n, n) with the lanes of a right side (n, 4); (4, n)."""
    size = right.shape[0]
    p, q, u, v = found[0], found[1], found[2], found[3]
    for i in range(size):
        p[i] = q[i] = u[i] = v[i] = 0.0
    for k in range(size):
        a, b, c, d = right[k, 0], right[k, 1], right[k, 2], right[k, 3]
        if a == 0.0 and b == 0.0 and c == 0.0 and d == 0.0:
            continue  # of a slab that does not yield
        column = turned[k]
        for i in range(size):
            x = column[i]
            p[i] += a * x
            q[i] += b * x
            u[i] += c * x
            v[i] += d * x


@compiled(inlined=True)
def add_pressure_wave(by_pressure: NDArray, pressure: complex, lane: int, p: NDArray) -> None:
    """Add the stress by a wave of pressure."""
    for m in range(by_pressure.shape[0]):
        for k in range(PLANE):
            p[lane, PLANE * m + k] += by_pressure[m, k] * pressure.real
            p[lane + 1, PLANE * m + k] += by_pressure[m, k] * pressure.imag


@compiled(inlined=True)
def turn_stress(
    p: NDArray, q: NDArray, r: int, j: int, c: float, s: float, lane: int, stress: NDArray
) -> None:
    """Stress of a wave from its own frame into the frame of the grid."""
    cc, ss, cs = c * c, s * s, c * s
    for m in range(stress.shape[1]):
        i, n = PLANE * m, SHEAR * m
        xx = complex(p[lane, i], p[lane + 1, i])
        yy = complex(p[lane, i + 1], p[lane + 1, i + 1])
        zz = complex(p[lane, i + 2], p[lane + 1, i + 2])
        xy = complex(p[lane + 1, i + 3], -p[lane, i + 3])
        yz = complex(q[lane, n], q[lane + 1, n])
        zx = complex(-q[lane + 1, n + 1], q[lane, n + 1])
        both = 2.0 * cs * zx
        last = ss * xx + cc * zz + both
        less = last
        if stress.shape[0] > FREE:
            stress[5, m, r, j] = last
            less = 0.0 * last
        stress[0, m, r, j] = cc * xx + ss * zz - both - less
        stress[1, m, r, j] = yy - less
        stress[2, m, r, j] = c * xy - s * yz
        stress[3, m, r, j] = s * xy + c * yz
        stress[4, m, r, j] = cs * (xx - zz) + (cc - ss) * zx


@compiled
def return_to_curve(
    stress: NDArray,
    strain: NDArray,
    before: NDArray,
    equivalent_before: NDArray,
    stiffness: float,
    curve_strain: NDArray,
    curve_stress: NDArray,
    after: NDArray,
    equivalent: NDArray,
) -> None:
    """Plastic strain that returns a stress to the curve; fields (6, M, rows, columns).

    Components of the strains are xx, yy, zz, xy, yz, zx; of the stress, xx and yy beyond zz, xy, yz
    and zx. The stress grows by `stiffness`, MPa, times the plastic strain that is beyond the strain
    `before`: that part of the residual stress is taken at once.
    """
    last, share = curve_strain.size - 1, 1.5 * stiffness
    trial = np.empty(6)
    slabs, rows, columns = equivalent.shape
    for m in range(slabs):
        for i in range(rows):
            for j in range(columns):
                for k in range(6):
                    trial[k] = stiffness * (strain[k, m, i, j] - before[k, m, i, j])
                trial[0] += stress[0, m, i, j]
                trial[1] += stress[1, m, i, j]
                for k in range(2, FREE):
                    trial[k + 1] += stress[k, m, i, j]
                mean = (trial[0] + trial[1] + trial[2]) / 3.0
                trial[0] -= mean
                trial[1] -= mean
                trial[2] -= mean
                square = trial[0] ** 2 + trial[1] ** 2 + trial[2] ** 2
                square += 2.0 * (trial[3] ** 2 + trial[4] ** 2 + trial[5] ** 2)
                size, old = np.sqrt(1.5 * square), equivalent_before[m, i, j]
                # What does not change with an increment: both sides of the balance plus its part.
                target = size + share * old
                more = 0.0
                n = 0
                while n <= last and target > curve_stress[n] + share * curve_strain[n]:
                    n += 1
                if n > last:
                    end = curve_stress[last] + share * curve_strain[last]
                    more = curve_strain[last] + (target - end) / share - old
                elif n > 0:
                    low = curve_stress[n - 1] + share * curve_strain[n - 1]
                    high = curve_stress[n] + share * curve_strain[n]
                    step = curve_strain[n] - curve_strain[n - 1]
                    more = curve_strain[n - 1] + (target - low) / (high - low) * step - old
                more = max(more, 0.0)
                equivalent[m, i, j] = old + more
                factor = 1.5 * more / size if more > 0.0 else 0.0
                for k in range(6):
                    after[k, m, i, j] = before[k, m, i, j] + factor * trial[k]
