"""Titles, captions and alternative texts of the figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

# Prefix of the figure's name: (title, caption, alternative text).
TEXTS = {
    "damage_maps": (
        "Damage maps",
        "Damage depth (wear and creep) on both plateaus, seen from above: anterior at the top, "
        "medial on the left. X marks the largest depth of each side. One colour scale. Of several "
        "cases best, corner, centre and worst are shown as in Fig. 4-3 of Bei (2003); of gait and "
        "of gait mixed with stairs a map each, as in its Fig. 4-2 B and C.",
        "Maps of damage depth on the medial and lateral plateau for the best, corner, centre and "
        "worst cases.",
    ),
    "wear_maps": (
        "Wear, creep and cross-shear",
        "Depth worn off, depth crept, and the part of the frictional work done across its "
        "principal direction (0 on straight paths, 0.5 on square ones) for the centre case, seen "
        "from above. X marks the largest depth of each side. Cross-shear is left out where less "
        "than 2 % of the largest depth is worn off.",
        "Maps of wear depth, creep depth and cross-shear ratio on both plateaus.",
    ),
    "damage_surfaces": (
        "Damage depth over insert thickness and body mass",
        "Computed damage depth (coloured surface) and its regression plane (dashed), as in "
        "Fig. 4-4 of Bei (2003).",
        "Two three-dimensional surfaces: damage depth falls with insert thickness and rises with "
        "body mass.",
    ),
    "windows": (
        "Meshes and windows",
        "Left: the insert's mesh from above, coloured by height. Right: the femoral mesh unrolled "
        "about the condyles' axis, coloured by the distance from it. Rectangles: what the settings "
        "cut out (insert_region_mm, femoral_region_mm). A window should end before rims and "
        "notch walls, where colours change fast.",
        "Plan of the insert and unrolled condyles as coloured points with two rectangles each.",
    ),
    "first_contact_path": (
        "Path over the insert",
        "Where each condyle comes nearest to the insert in every pose when it is lowered straight "
        "down, over the local thickness. A path that leaves the plateaus is a fault of the inputs.",
        "Thickness map of the insert with the path of the nearest places of both condyles.",
    ),
    "first_contact": (
        "Implant, axes and first contact",
        "Both components with their axes in the first pose, lowered until they touch, and sections "
        "through the nearest places (x). Blue: medial plateau; orange: lateral plateau; grey: "
        "femoral component.",
        "Wireframe of condyles on plateaus with arrows for the axes of both bodies, one coronal "
        "and two sagittal sections.",
    ),
    "distance_correction": (
        "Distance correction",
        "Left: the most tilted of the deeper loaded elements of the centre case at its largest "
        "load, in the plane of both normals: A its centre on the insert (coloured), B the nearest "
        "point of the condyle (grey), C the point along the element's normal. Right: all loaded "
        "elements. Both corrected distances lie along the normal of the surface midway between, "
        "after Fig. 2-2 of Bei (2003).",
        "A section with three nearly equal lines from A, and penetrations over the angle between "
        "the normals: the uncorrected ray grows fastest.",
    ),
    "regression_residuals": (
        "Residuals of the regression",
        "Computed less fitted value of every case, in per cent of the mean, over the fitted value: "
        "of the plane of Eq. 4-1 (dots) and of the power law (crosses). A pattern is curvature "
        "the formula leaves out; a computation has no noise.",
        "Fourteen scatter plots of residuals: those of the plane are curved and reach several per "
        "cent, those of the power law stay near zero.",
    ),
    "regression_models": (
        "Errors of cases left out",
        "Root mean square error of each case predicted by a formula that was fitted to all others, "
        "in per cent of the mean value. Dashed: the error up to which a plane is taken to be "
        "enough.",
        "Bars of leave-one-out errors by quantity, side and formula; the power law and the full "
        "quadratic polynomial err least.",
    ),
    "grid_comparison": (
        "Adaptive against fixed elements",
        "Error of what one contact of a condyle on its plateau gives, over its depth, root mean "
        "square over places among the cells. Elements laid afresh on each contact region keep "
        "their accuracy down to the lightest touch, where a fixed grid has hardly an element under "
        "load; where a sharp rim ends the contact a fine fixed grid follows it better. Adaptive "
        "elements serve forces and pressures; wear adds up on the fixed grid.",
        "Four plots of error over penetration, for force, maximum and average pressure and area: "
        "the lines of the fixed grids rise steeply as the contact gets shallower, that of the "
        "adaptive one stays flat.",
    ),
    "published_scatter": (
        "Computed against published values",
        "Each dot is one case and side. The line is equality, the band 5 % about it. Open dots "
        "are the cells the built-in implant was calibrated on.",
        "Seven scatter plots of computed against published values with the line of equality.",
    ),
    "published_errors": (
        "Error of every published cell",
        "Relative error in per cent. Framed cells are those the built-in constants were fitted to.",
        "Fourteen tables of relative errors, coloured blue where too small and red where too "
        "large.",
    ),
    "implant": (
        "Pose and sections",
        "Bearing surfaces of the centre case at its largest load, and sections through the "
        "centres of pressure. Surfaces are undeformed: the overlap is the penetration. Heights "
        "are stretched. Blue: medial plateau; orange: lateral plateau; grey: femoral component.",
        "Wireframe of femoral condyles on two plateaus, one coronal and two sagittal sections.",
    ),
    "surface_deviation": (
        "Deviation of the surfaces",
        "Signed distance of each judged point from its NURBS patch: of mesh vertices for fitted "
        "surfaces, of sampled points from the exact arcs for the built-in implant. Plateaus are "
        "seen from above, condyles unrolled; red points stand outside the material.",
        "Four maps of the deviation between source and patch in micrometres.",
    ),
    "bearing_extraction": (
        "Bearing cut out of the solids",
        "Blue triangles were taken as bearing: of the insert what is seen from above, of the "
        "femoral component what is seen from outside the condyles. Grey ones were left out.",
        "Two views each of insert and femoral component with the bearing coloured.",
    ),
    "distance_methods": (
        "Minimum distance and ray firing",
        "Time of one query on one dense, one sparse and several patches of the same condyle, ours "
        "and OpenCASCADE's in one run, and the deviation from the dense patch; after Table 2-1 of "
        "Bei (2003).",
        "Bars of query times by geometry and method, and deviations by geometry.",
    ),
    "calibration_trade_off": (
        "What fewer constants cost",
        "Errors beyond the rounding of the printed values over the number of fitted constants, of "
        "cells fitted and not fitted; dotted: what was aimed at. Recorded when the built-in "
        "constants were calibrated (config/calibration/trade_off.csv), not computed by this "
        "study.",
        "Two charts of median and largest errors, which fall as constants are added; with twenty "
        "the medians are below their aims, the largest error of all but average pressure is not.",
    ),
    "cost": (
        "Cost",
        "Seconds of the processor for up to 400 cases of the built-in gait, and for five cases "
        "over the elements of both sides and over frames. Dotted: in proportion.",
        "Three double logarithmic charts of time, by forward dynamics and by equilibria.",
    ),
    "sphere_models": (
        "One sphere by three models",
        "A ball of 30 mm on polyethylene: as a layer of 8 mm (elastic foundation) and as a thick "
        "body (elastic half-space). Lines are the closed forms, dots what was computed on "
        "elements. Left: pressures under the load that presses the layer by 0.2 mm. The bodies "
        "differ, so that neither model is the other's error.",
        "Pressure over the distance from the axis, and force over the approach: the foundation's "
        "pressure is a parabola with the higher peak, the half-space's a half-ellipse, and the "
        "half-space yields more.",
    ),
    "refinement": (
        "Closed forms on finer grids",
        "Largest error of force and contact area over random places of the grid under the contact. "
        "Elements reach a tenth beyond sphere and cylinder.",
        "Two double logarithmic charts: all errors fall with the number of elements, the area's "
        "in proportion or faster, the force's by the square but under the flat punch.",
    ),
    "active_elements": (
        "Error by the number of active elements",
        "A sphere on random places of its grid, against the median at 400 active elements. Force "
        "and torque need far fewer elements than pressures. Bars: the bounds Bei (2003, section "
        "3.2.3) found for the pressures.",
        "Two double logarithmic charts of the errors of force, torque, pressures and area over the "
        "number of active elements, median and worst.",
    ),
    "activity": (
        "Prescribed motion and load",
        "Flexion, external rotation of the tibia, posterior position of the femur and axial load "
        "through one cycle.",
        "Four curves through the cycle: flexion, rotation, translation and load.",
    ),
    "history": (
        "Solved motion and contact",
        "Centre case through one cycle: load and its medial-lateral place, the solved "
        "translations and varus angle, force, pressures and contact area of each side.",
        "Nine panels of curves through the cycle for the medial and lateral side.",
    ),
    "motion": (
        "Motion",
        "Centre case: the femoral component (grey) on the insert at moments of the cycle, as in "
        "Fig. 2-6 of Bei (2003). Blue: medial plateau; orange: lateral plateau.",
        "Eight views of the femoral component on the plateaus through the cycle.",
    ),
    "forces": (
        "Contact forces and torques",
        "Centre case: forces of contact on the insert and their torques about its origin, as in "
        "Fig. 2-7 of Bei (2003). x points posterior, y superior and z medial.",
        "Three panels of forces and three of torques through the cycle, for each side and both.",
    ),
    "areas": (
        "Contact areas",
        "Centre case: pressure on the insert at moments of the cycle, seen from above, with one "
        "colour scale, as in Fig. 2-8 of Bei (2003); contact area and anterior-posterior path of "
        "the centre of pressure of each side.",
        "Eight maps of contact pressure through the cycle, and two curves for each side.",
    ),
    "analyses": (
        "Forward dynamics and equilibria",
        "Centre case by both analyses. Lines: forward dynamics on the coarse grid, pressures from "
        "the fine one; dots: equilibria on the fine grid. Below: how far the component moves from "
        "its equilibria, and what keeps it away: the force its acceleration takes, and what the "
        "finer grid adds to the contact that balanced it.",
        "Six panels of curves through the cycle.",
    ),
    "distance_errors": (
        "Errors of the distance tables",
        "Largest error of distance and normal over the band that contact can reach, at every place "
        "of the unrolled condyles; X marks the worst. Grey: left to the search on the surface.",
        "Four maps of the medial and lateral condyle over angle and medial-lateral position.",
    ),
    "pressure": (
        "Pressure at the largest load",
        "Centre case, seen from above. The line is the path of the centre of pressure through the "
        "cycle; the white dot is its place at the largest load.",
        "Map of contact pressure on both plateaus with the paths of the centres of pressure.",
    ),
    "static_sections": (
        "Poses at the largest load",
        "Sagittal sections through the centres of pressure (dots) of the first material under the "
        "largest load: plateaus coloured, femur grey. A post (outlined) and its cam "
        "are cut in the middle of the knee.",
        "One sagittal section of the bearings for each pose.",
    ),
    "position_scan": (
        "Over the held position",
        "Largest and mean pressure of both sides, and how far behind the origin they touch, over "
        "the anterior-posterior position the femur is held at.",
        "Three panels of curves over the held position, one curve for each side.",
    ),
    "static_pressure": (
        "Pressure at the largest load",
        "Loaded elements of the first material under the largest load, seen from above: anterior "
        "at the top, medial on the left (of a natural knee as in Fig. 2-5 of Bei (2003)); the "
        "largest pressures stand over each map. An inset "
        "enlarges what is loaded on a post, medial on the left and superior at the top.",
        "Maps of contact pressure on both plateaus, one for each pose.",
    ),
    "material_comparison": (
        "Pressure over the load",
        "Mean and largest pressure of both sides over the load at every flexion, after Fig. 3-4 of "
        "Bei (2003). The measurements of that figure are not printed: grey marks where they lay "
        "on average, the first material's curve less its published mean error (of peaks, with and "
        "without averaging of neighbouring sensels). It tells an offset, not a shape.",
        "Curves of mean and largest pressure over four loads for several materials.",
    ),
    "element_convergence": (
        "Pressure and number of loaded elements",
        "One case settled on elements of several sizes, each at random places, after Fig. 3-1D of "
        "Bei (2003). Left: median, and the range of nine in ten places; grey lines are the medians "
        "of the smallest elements. Right: errors against these, and the largest ones published "
        "for 25 and 50 elements.",
        "Curves of pressure and of its error over the number of loaded elements.",
    ),
    "grid_sensitivity": (
        "Results of one pose over rows and columns",
        "Deviation from the finest grid of the medial side's force, torque about the insert's "
        "origin and pressures when one pose is evaluated on grids of other densities over the "
        "whole plateau, after Fig. 2-3 of Bei (2003). One colour scale.",
        "Four tables of deviations by rows and columns; those of force and torque are nearly "
        "blank.",
    ),
    "predictions": (
        "Prediction intervals",
        "Distribution of each output over the samples, and above it the interval that holds the "
        "next one, its median (line) and the value without any change (open dot). Blue: medial; "
        "orange: lateral.",
        "Eight histograms for the medial and lateral side, each with a bar from end to end of its "
        "interval.",
    ),
    "effects": (
        "Effect of each constant alone",
        "Change of each output with one constant a standard deviation higher (strong) or lower "
        "(faint) and all others unchanged; the ten constants that do most, largest on top. Blue: "
        "medial; orange: lateral.",
        "Eight tornado charts with bars to both sides of zero for up to ten constants.",
    ),
    "indices": (
        "First and total indices",
        "Part of each output's variance that goes away when a constant becomes known (first index, "
        "strong), and that stays when all others become known (total index, faint), with "
        "intervals; the ten constants that do most. Blue: medial; orange: lateral.",
        "Eight bar charts of first and total indices with intervals for up to ten constants.",
    ),
    "damage_spread": (
        "Damage over all samples",
        "Mean and standard deviation of the damage depth of each element over all samples, seen "
        "from above: anterior at the top, medial on the left. Each has its own colour scale. Where "
        "shapes are uncertain an element is the same row and column, not quite the same place.",
        "Two maps of both plateaus: mean damage depth and its standard deviation.",
    ),
    "control_nets": (
        "Surfaces and control nets",
        "Each bearing surface is a single untrimmed NURBS patch; dots and lines are its control "
        "net. Blue: medial; orange: lateral. Each body is drawn in its own frame.",
        "Two three-dimensional views: plateaus and condyles under the nets of their control "
        "points.",
    ),
    "element_grid": (
        "Element grid",
        "The smallest rectangle round each plateau, cut into cells and projected vertically onto "
        "the surface. Cells on the border (enlarged) carry the part that is covered, at its "
        "middle (dots).",
        "Plan of the elements of both plateaus and an enlarged piece of each border.",
    ),
    "thickness_map": (
        "Local thickness",
        "Thickness under each element: of an insert straight down to its underside, of cartilage "
        "the shortest way to the bone, within the limits of the settings.",
        "Map of the local thickness of both plateaus.",
    ),
    "cartilage_map": (
        "Femoral cartilage",
        "Thickness of the cartilage over the parameters of the femoral patches, unrolled about "
        "the condyles' axis. Patches go on smoothly beyond the cartilage.",
        "Map of the thickness of the femoral cartilage.",
    ),
}


@dataclass(frozen=True)
class FigureText:
    """Words that go with one figure.

    Parameters
    ----------
    title, caption, alternative : str
        Heading, caption, and text for those who cannot see the figure.
    """

    title: str
    caption: str
    alternative: str


def figure_text(name: str) -> FigureText:
    """Words for a figure by its name; an ending (life or activity) joins the title."""
    for prefix, (title, caption, alternative) in TEXTS.items():
        if name == prefix:
            return FigureText(title, caption, alternative)
        if name.startswith(f"{prefix}_"):
            ending = name.removeprefix(f"{prefix}_").replace("_", " ")
            return FigureText(f"{title}: {ending}", caption, alternative)
    plain = name.replace("_", " ")
    return FigureText(plain.capitalize(), "", plain)


def starting_with(names: Iterable[str], *prefixes: str) -> list[str]:
    """Names of the figures of some kinds, in the order of the kinds."""
    known = list(names)
    return [
        name
        for prefix in prefixes
        for name in known
        if name == prefix or name.startswith(f"{prefix}_")
    ]
