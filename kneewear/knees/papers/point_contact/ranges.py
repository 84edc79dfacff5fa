"""Plausible ranges of knees that move freely: masses, ligaments, times and gravity."""

from __future__ import annotations

from kneewear.base.ranges import Range

SHANK_MASS = Range("kg", 0.05, 0.5, 15, 50, "3.4 and 3.75 kg (Machado, Tables 5.1 and 6.4)")
INERTIA = Range("kg m2", 1e-6, 1e-6, 0.5, 5, "0.007 to 0.07 of a shank, 2e-5 of a patella")
GRAVITY = Range("mm/s2", 0, 0, 9830, 2e4, "9810 on earth", least=9770)
FALL = Range("s", 1e-3, 0.05, 5, 100, "A leg falls through a quarter turn in half a second")
OUTPUT_STEP = Range("s", 1e-6, 1e-4, 0.02, 1, "A hundred rows or more in a motion")
CONDYLE_RADIUS = Range("mm", 2, 10, 60, 200, "Condyles have 15 to 40 mm")
SLACK_LENGTH = Range("mm", 1, 5, 200, 600, "Ligaments of the knee have 15 to 120 mm")
SQUARE_STIFFNESS = Range("N/mm2", 0.01, 1, 300, 1e4, "10 to 125 (Machado, Tables 5.2 and 6.5)")
