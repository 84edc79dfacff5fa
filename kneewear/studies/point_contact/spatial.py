"""Spatial knee: two spheres on planes, eight ligaments, gravity towards posterior.

References
----------
Machado thesis, sections 6.2.2 and 6.5.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneewear.mechanics.loads import Load
from kneewear.mechanics.rigid_body import RigidBody
from kneewear.mechanics.rotation_vectors import logarithm
from kneewear.multibody.actions import Contact
from kneewear.multibody.euler_parameters import integrate_euler_parameters
from kneewear.multibody.impacts import ImpactMotion, integrate_impacts
from kneewear.multibody.point_contact import PointContact, SphereOnPlane
from kneewear.multibody.system import Body, System
from kneewear.settings.point_contact import SpatialSettings
from kneewear.studies.multibody.result import OWN_CHECK, MultibodyResult, Scene, curves, statements
from kneewear.studies.point_contact.planar import impact_law
from kneewear.studies.point_contact.results import Statement, energy_balance, stated
from kneewear.studies.point_contact.scenes import moving_shapes, planes, spheres
from kneewear.tissue.bundles import Bundles
from kneewear.tissue.laws import quadratic

Array = NDArray[np.float64]

# Axes of scenes in those of the source, which are x lateral, y anterior, z superior.
AXES = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
# Flexions up to which, and beyond which, statements on ligaments are made, deg.
EXTENDED, FLEXED = 2.0, 30.0


def solve_spatial(parts: None, settings: SpatialSettings) -> MultibodyResult:
    """Flexion under gravity up to the last flexion, and the statements of the source."""
    system, start = build_spatial(settings)
    times = np.arange(0.0, settings.duration_s + 1e-9, settings.output_step_s)
    found = integrate_impacts(
        system, times, start, ("tibia",), relative_tolerance=1e-7, case=settings.law
    )
    motion = motion_table(found, settings)
    beyond = np.flatnonzero(motion["flexion_deg"] > settings.last_flexion_deg)
    motion = motion.iloc[: beyond[0]] if beyond.size else motion
    contacts = contact_table(found, motion["time_s"].iloc[-1])
    flexion, over = motion["flexion_deg"].to_numpy(), "flexion (deg)"

    def panel(name: str, unit: str, columns: Mapping[str, str]) -> pd.DataFrame:
        series = {label: motion[column].to_numpy() for label, column in columns.items()}
        return curves(name, over, flexion, unit, series)

    place = curves(
        "position of the tibia", "time (s)", motion["time_s"], "mm",
        {axis: motion[f"{axis}_mm"].to_numpy() for axis in "xyz"},
    )  # fmt: skip
    turns = {"internal rotation": "internal_rotation_deg", "varus": "varus_deg"}
    depth = {str(side): f"{side}_indentation_mm" for side in settings.condyles}
    force = {str(side): f"{side}_force_n" for side in settings.condyles}
    fibres = {name: f"{name}_n" for name in settings.ligaments}
    return MultibodyResult(
        kinematics=pd.concat(
            [panel("rotation", "deg", turns), place, panel("indentation", "mm", depth)],
            ignore_index=True,
        ),
        forces=pd.concat(
            [panel("contact force", "N", force), panel("ligament fibres", "N", fibres)],
            ignore_index=True,
        ),
        statements=statements(
            [
                *_statements(motion, contacts, settings),
                energy_balance(found.motion.energy_error),
                same_with_euler_parameters(system, found.motion.coordinates[: len(motion)], times),
            ]
        ),
        scene=spatial_scene(system, settings, found.motion.coordinates[: len(motion)]),
    )


def spatial_scene(system: System, settings: SpatialSettings, coordinates: Array) -> Scene:
    """Spheres, parts of the planes and fibres at even steps of time."""
    pairs = tuple(
        SphereOnPlane(one.centre_mm, one.radius_mm, one.plane_mm, one.plane_normal)
        for one in settings.condyles.values()
    )
    start = system.poses(coordinates[0])
    return moving_shapes(
        system,
        coordinates,
        -np.degrees(coordinates[:, 3]),
        (spheres(pairs), planes(pairs, start.rotation[1], start.translation[1])),
        "Spheres and parts of the endless planes",
        AXES,
    )


def build_spatial(settings: SpatialSettings) -> tuple[System, Array]:
    """System of femur and tibia, and its start (6,)."""
    tibia, ligaments = settings.tibia, settings.ligaments
    start = np.array([*tibia.position_mm, 0.0, 0.0, 0.0])
    ends = [(np.array(one.femur_mm), np.array(one.tibia_mm)) for one in ligaments.values()]
    extended = [float(np.linalg.norm(end + start[:3] - begin)) for begin, end in ends]
    stretch = [one.stretch_at_extension for one in ligaments.values()]
    mass = 1e-3 * tibia.mass_kg
    contacts: dict[str, Contact] = {
        str(side): Contact(
            "femur",
            "tibia",
            PointContact(
                SphereOnPlane(
                    condyle.centre_mm, condyle.radius_mm, condyle.plane_mm, condyle.plane_normal
                ),
                impact_law(settings.contact, condyle.radius_mm, settings.law),
            ),
            has_rate=True,
        )
        for side, condyle in settings.condyles.items()
    }
    body = RigidBody(mass, 1e3 * np.diag(tibia.inertia_kg_m2), np.zeros(3))
    system = System(
        "femur",
        (Body("tibia", inertia=body),),
        {
            "ligaments": Bundles(
                tuple(ligaments),
                ("femur", "tibia"),
                tuple((("femur", begin), ("tibia", end)) for begin, end in ends),
                quadratic(
                    np.array(extended) / stretch,
                    [one.stiffness_n_per_mm2 for one in ligaments.values()],
                ),
            ),
            **contacts,
            "weight": Load((0.0, -mass * settings.gravity_mm_per_s2, 0.0), body="tibia"),
        },
    )
    return system, start


def same_with_euler_parameters(system: System, coordinates: Array, times: Array) -> Statement:
    """Whether Euler parameters give the places and rotations that angles gave (n_times, 6)."""
    other = integrate_euler_parameters(system, times[: len(coordinates)], coordinates[0], 1e-8)
    place = np.abs(other.translation[:, 0] - coordinates[:, :3]).max()
    turns = np.array([system.poses(one).rotation[1] for one in coordinates])
    turn = np.degrees(np.abs(logarithm(np.swapaxes(turns, 1, 2) @ other.rotation[:, 0])).max())
    norm = np.abs(np.linalg.norm(other.parameters, axis=-1) - 1.0).max()
    return Statement(
        "Euler parameters give the same motion (Eqs 6.1 to 6.8)",
        f"{place:.1g} mm, {turn:.1g} deg, norm within {norm:.0e}", "",
        "within 0.01 mm and 0.01 deg",
        bool(max(place, turn) < 0.01), OWN_CHECK,
    )  # fmt: skip


def motion_table(found: ImpactMotion, settings: SpatialSettings) -> pd.DataFrame:
    """Angles, position, contacts and ligaments over time.

    Flexion is the turn of the tibia's long axis (z) towards posterior (-y); internal rotation the
    turn about that axis towards medial.
    """
    motion = found.motion
    turns = np.degrees(motion.coordinates[:, 3:])
    columns: dict[str, Array] = {
        "time_s": motion.time,
        "flexion_deg": -turns[:, 0],
        "internal_rotation_deg": turns[:, 2],
        "varus_deg": turns[:, 1],
        **dict(zip(("x_mm", "y_mm", "z_mm"), motion.coordinates[:, :3].T, strict=True)),
    }
    for side in settings.condyles:
        for name, unit in (("depth", "mm"), ("force", "n")):
            label = f"{side}_{'indentation' if name == 'depth' else name}_{unit}"
            values = np.array([getattr(part[side], name) for part in motion.parts])
            columns[label] = np.maximum(values, 0.0)
    tension = np.array([part["ligaments"].tension for part in motion.parts])
    for name, force in zip(settings.ligaments, tension.T, strict=True):
        columns[f"{name}_n"] = force
    return pd.DataFrame(columns)


def contact_table(found: ImpactMotion, last: float) -> pd.DataFrame:
    """Contacts that begin up to a time, s."""
    return pd.DataFrame(
        [
            {
                "side": one.name,
                "begin_s": one.begin,
                "end_s": one.end,
                "initial_rate_mm_per_s": one.initial_rate,
                "begin_flexion_deg": float(np.degrees(-one.begin_coordinates[3])),
            }
            for one in found.contacts
            if one.begin <= last
        ],
        columns=["side", "begin_s", "end_s", "initial_rate_mm_per_s", "begin_flexion_deg"],
    )


def _statements(
    motion: pd.DataFrame, contacts: pd.DataFrame, settings: SpatialSettings
) -> Iterator[Statement]:
    flexion = motion["flexion_deg"].to_numpy()
    yield stated(
        "The knee flexes under gravity", "section 6.5.2", "0 to 80 deg",
        f"0 to {flexion.max():.1f} deg", bool(flexion.max() > 0.99 * settings.last_flexion_deg),
    )  # fmt: skip
    order = list(contacts["side"])
    counts = {side: order.count(side) for side in settings.condyles}
    yield stated(
        "First contact medial, then lateral", "section 6.5.2", "medial, lateral",
        ", ".join(order[:4]) or "no contact", order[:1] == ["medial"] and "lateral" in order,
    )  # fmt: skip
    yield stated(
        "Number of contacts", "section 6.6", "6: 3 medial, 3 lateral",
        f"{len(order)}: " + ", ".join(f"{count} {side}" for side, count in counts.items()),
        counts == {"medial": 3, "lateral": 3},
    )  # fmt: skip
    sides = {str(side): motion[f"{side}_force_n"].to_numpy() for side in settings.condyles}
    yield from _loading(flexion, sides)
    rotation = motion["internal_rotation_deg"].to_numpy()
    yield stated(
        "Internal rotation grows with flexion", "section 6.5.2", "correlation above 0.8",
        f"{np.corrcoef(flexion, rotation)[0, 1]:.2f}, up to {rotation.max():.1f} deg",
        bool(np.corrcoef(flexion, rotation)[0, 1] > 0.8),
    )  # fmt: skip
    at = flexion[rotation.argmax()]
    yield stated(
        "Flexion of the largest internal rotation", "section 6.5.2", "70 deg",
        f"{at:.0f} deg", bool(abs(at - 70.0) < 5.0),
    )  # fmt: skip
    at = flexion[sides["lateral"].argmax()]
    yield stated(
        "Flexion of the highest lateral force", "section 6.5.2", "70 deg", f"{at:.0f} deg",
        bool(abs(at - 70.0) < 5.0),
    )  # fmt: skip
    yield from _ligament_statements(motion, flexion, list(settings.ligaments))


def _loading(flexion: Array, sides: Mapping[str, Array]) -> Iterator[Statement]:
    medial, lateral = sides["medial"], sides["lateral"]
    both = (np.diff(medial) != 0.0) & (np.diff(lateral) != 0.0)
    opposed = np.diff(medial)[both] * np.diff(lateral)[both] < 0.0
    share = float(opposed.mean()) if opposed.size else 0.0
    yield stated(
        "One side is loaded while the other is unloaded", "section 6.5.2",
        "most of the time in which both touch",
        f"{100.0 * share:.0f} % of {both.sum()} output steps in which both touch", share > 0.5,
    )  # fmt: skip
    late = flexion > 0.5 * flexion.max()
    total = medial + lateral
    yield stated(
        "Contact forces rise with flexion", "section 6.5.2", "larger in the second half",
        f"{total[~late].max():.0f} N, then {total[late].max():.0f} N",
        bool(total[late].max() > total[~late].max()),
    )  # fmt: skip


def _ligament_statements(
    motion: pd.DataFrame, flexion: Array, names: list[str]
) -> Iterator[Statement]:
    force = {name: motion[f"{name}_n"].to_numpy() for name in names}
    beyond = flexion > FLEXED
    if {"MCL_ant", "PCL_ant", "LCL"} <= set(force) and beyond.any():
        mean = {name: float(values[beyond].mean()) for name, values in force.items()}
        ranking = sorted(mean, key=lambda name: -mean[name])
        shown = ", ".join(f"{name} {mean[name]:.0f}" for name in ranking[:4]) + " N on average"
        yield stated(
            "MCL anterior fibres pull most above 30 deg", "Figure 6.24", "MCL_ant first",
            shown, ranking[0] == "MCL_ant",
        )  # fmt: skip
        yield stated(
            "PCL anterior fibres pull strongly", "Figure 6.24", "among the first three",
            shown, "PCL_ant" in ranking[:3],
        )  # fmt: skip
    early = flexion < EXTENDED
    medial = max(
        (force[name][early].max() for name in names if name.startswith("MCL")), default=0.0
    )
    lateral = max((force[n][early].max() for n in names if n.startswith("LCL")), default=0.0)
    yield stated(
        "Both collaterals are taut at extension", "Figure 6.24", "above 0 N",
        f"MCL {medial:.0f} N, LCL {lateral:.0f} N", bool(medial > 0.0 and lateral > 0.0),
    )  # fmt: skip
