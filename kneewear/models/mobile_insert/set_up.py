"""Settings of a mobile insert that `kneewear new` adds: the lower face by the outline found."""

from __future__ import annotations

from kneewear.errors import InputDataError
from kneewear.geometry.dish import Dish
from kneewear.geometry.segmentation import find_lower_face
from kneewear.setup.implant import Added
from kneewear.setup.shapes import RecognisedShapes

# Friction of polyethylene on cobalt-chromium: 0.04 to 0.16 between 3 and 9 MPa (BioMed Research
# International 2015:185142); wear factor of conventional polyethylene (Fisher; from memory),
# mm3/(N m); width of the elements of the face over the smaller side of its plan.
_FRICTION = 0.07
_WEAR_FACTOR = 2.64e-7
_ELEMENTS = 40.0


def add_backside(shapes: RecognisedShapes, dish: Dish) -> Added:
    """Return the blocks of settings of an insert that moves on its tray.

    Parameters
    ----------
    shapes : RecognisedShapes
        What files hold; the guesses are added to them.
    dish : Dish
        Of the bearing. An insert of both sides rotates; one of a single side glides.

    Returns
    -------
    Added

    Raises
    ------
    InputDataError
        If the insert has no flat lower face.
    """
    insert = shapes.files["insert"]
    face = find_lower_face(shapes.parts["insert"]) if shapes.forms["insert"] == "solid" else None
    if face is None:
        found = "a sheet" if shapes.forms["insert"] != "solid" else "no flat face below"
        remedy = "Name the file of the whole insert, or leave --mobile out."
        raise InputDataError(insert, found, "a solid insert on a flat lower face", remedy)
    x, z = face.pivot
    (left, low), (right, high) = face.outline.min(axis=0), face.outline.max(axis=0)
    hole = f", hole of radius {face.hole:.1f} mm" if face.hole else ""
    shapes.note(
        "lower_face",
        insert,
        f"lower face {right - left:.0f} mm long, {high - low:.0f} mm wide{hole}; pivot at x "
        f"{x:.1f}, z {z:.1f} mm",
    )
    free = "[anterior_posterior, medial_lateral]" if dish.single else "[rotation]"
    shapes.assume(
        "mobile_free",
        "backside.movement.motion",
        "mobile",
        "a single plateau glides in both directions, and walls keep it from turning"
        if dish.single
        else "the insert rotates about its peg, and does not glide",
        "Name in backside.movement.free what is: anterior_posterior, medial_lateral, rotation.",
    )
    shapes.assume(
        "mobile_friction",
        "backside.movement.lower_friction.coefficient",
        _FRICTION,
        f"friction of both faces {_FRICTION:g}; 0.04 to 0.16 was measured",
        "Set the coefficients of your materials.",
    )
    corners = ", ".join(f"[{a:.2f}, {b:.2f}]" for a, b in face.outline - face.pivot)
    blocks = f"""\
model: backside
cases: {{plan: factorial, maps: false}}
analyses: {{}}
page: backside
backside:
  face:
    shape: outline            # corners [posterior, medial] from the pivot, mm
    corners_mm: [{corners}]
    hole_radius_mm: {face.hole:.2f}
  pivot_mm: [{x:.3f}, {z:.3f}]
  movement:
    motion: mobile
    free: {free}
    held: null                # upper | lower: a face that does not slide
    upper_friction: {{coefficient: {_FRICTION:g}}}
    lower_friction: {{coefficient: {_FRICTION:g}}}
  element_mm: {max(1.0, min(right - left, high - low) / _ELEMENTS):.1f}
  wear_law: archard
  wear_factor_mm3_per_n_m: {_WEAR_FACTOR:g}
"""
    return Added("  analysis: quasi_static\n", blocks)
