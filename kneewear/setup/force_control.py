"""Force control of a new study: forces of a simulator that drive position and rotation."""

from __future__ import annotations

from collections.abc import Collection

from kneewear.errors import InputDataError
from kneewear.io.text_tables import TextTable
from kneewear.setup.columns import LoadChoice, Recording
from kneewear.setup.shapes import RecognisedShapes
from kneewear.study.shipped import shipped_folder

# Force column that drives each coordinate.
FORCES = {"anterior_posterior": "anterior_posterior_force_n", "rotation": "rotation_torque_n_m"}
# Medial-lateral position of the axial load from the middle of the plateaus, medial, mm: as in
# ISO 14243 (from memory).
_LOAD_LINE = 5.0
_SPRINGS = {"anterior_posterior": ("stiffness_n_per_mm", "gap_mm"),
            "rotation": ("stiffness_n_m_per_deg", "gap_deg")}  # fmt: skip


def is_force_controlled(columns: Collection[str]) -> bool:
    """True if a force of a file drives a coordinate."""
    return any(force in columns for force in FORCES.values())


def check_is_in_newtons(recording: Recording, load: LoadChoice) -> None:
    """Refuse a load in body weights beside forces in newtons, which no mass relates."""
    if load.kind != "axial_force_n":
        raise InputDataError(
            recording.file,
            f"the load {load.text}, beside forces of the motion in newtons",
            "an axial force in newtons, as the other forces of a simulator",
            "Give the axial force in N, and the body mass by --body-mass.",
        )


def control_block(
    shapes: RecognisedShapes, block: str, columns: Collection[str], middle: float
) -> str:
    """Lines of settings of a simulator under force control; what it does not record is assumed.

    Parameters
    ----------
    shapes : RecognisedShapes
        Notes of the implant, to which assumptions are added.
    block : str
        Key of the activity.
    columns : collection of str
        Quantities that the motion file has.
    middle : float
        Medial-lateral position of the middle of the plateaus, mm.
    """
    of_machine = is_force_controlled(columns)
    line = middle + (_LOAD_LINE if of_machine else 0.0)
    medial = f"{_LOAD_LINE:g} mm medial of" if of_machine else "in"
    shapes.assume(
        "load_line",
        f"{block}.control.load_line_mm",
        round(line, 2),
        f"axial load {medial} the middle of the plateaus",
        "Set the line of the machine, or of the leg.",
    )
    text = "    control:                  # forces, as in a simulator\n"
    for coordinate in FORCES:
        way = "prescribed" if coordinate in columns else "force"
        text += f"      {coordinate}: {way}  # prescribed | held | force\n"
    text += f"      varus: free\n      medial_lateral: free\n      load_line_mm: {line:.2f}\n"
    has_post = any(one.name == "post" for one in shapes.assumed)
    tissue = f"posterior cruciate ligament {'removed' if has_post else 'kept'}"
    table = TextTable.read(shipped_folder() / "standards" / "springs.csv", "springs").text
    for coordinate, keys in _SPRINGS.items():
        if coordinate in columns:
            continue
        setting = f"{coordinate}_springs"
        row = table[(table["tissue"] == tissue) & (table["setting"] == setting)].iloc[0]
        values = dict(zip(keys, (row["stiffness"], row["gap"]), strict=True))
        listed = ", ".join(f"{key}: {value}" for key, value in values.items())
        text += f"      {setting}: [{{{listed}}}]\n"
        shapes.assume(
            f"{coordinate}_springs",
            f"{block}.control.{setting}.0.{keys[0]}",
            float(row["stiffness"]),
            f"springs of soft tissue as of ISO 14243-1 ({row['source']}), {tissue}: "
            f"{row['stiffness']} {row['stiffness_unit']} beyond {row['gap']} {row['gap_unit']}",
            "Set the springs of the machine, or remove them where nothing but the bearing resists.",
        )
    return text
