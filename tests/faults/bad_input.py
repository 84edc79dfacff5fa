"""Catalogue of bad input: what a user may hand over, and what is said before the first job.

The tests run every kind (`test_bad_input.py`); `python -m tests.faults.bad_input` prints the table
of the documentation.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.faults.faulty_files import (
    STORAGE,
    ascii_stl,
    axial,
    bomb,
    column,
    columns,
    dangling,
    deep,
    example,
    folder_for_file,
    huge,
    key,
    named,
    replaced,
    row,
    shipped,
    spoilt,
    swapped,
    text,
    vertices,
    with_value,
)  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """One kind of bad input.

    Parameters
    ----------
    group : str
        Source of the fault: "YAML", "settings", "mesh"...
    name : str
        What the user did.
    make : callable
        Writes the faulty files into a folder and returns the settings file to check.
    said : tuple of str
        Pieces of the message, in their order: position, finding, expectation or remedy.
    """

    group: str
    name: str
    make: Callable[[Path], Path]
    said: tuple[str, ...]


AXES = "implant.meshes.axes"
GAIT = "activities.example_gait"
# A cohort of the example implant, one row of whose file names a motion file.
COHORT = {
    "kind": "cohort",
    "cases": {"thickness_mm": [10], "body_mass_kg": [75]},
    "simulation": {"analysis": "quasi_static"},
    "cohort": {
        "subjects": "subjects.csv", "columns": {"mass": {"settings": ["cases.body_mass_kg.0"]}},
        "covariates": [], "activity": "example_gait", "percentiles": [50],
    },
}  # fmt: skip
SUBJECTS = """\
subject,size,age_years,body_mass_index,body_mass_kg,thickness_mm,cycles_per_year,medial_share,\
tibial_rotation_deg,posterior_mm,travel
s1,smal,60,25,70,10,1e6,0.6,0,0,1
"""

KINDS = (
    # The YAML file itself.
    Kind("YAML", "file that is not there", lambda folder: folder / "mine.yaml",
         ("mine.yaml: found no such file", "Check the path")),
    Kind("YAML", "folder for a file", lambda folder: folder,
         ("found is a directory", "a readable YAML file")),
    Kind("YAML", "empty file", text(""), ("mine.yaml: found an empty file", "a mapping of keys")),
    Kind("YAML", "list at the top", text("- 1\n"), ("found a list", "a mapping of keys")),
    Kind("YAML", "bracket left open", text("cases:\n  thickness_mm: [6, 8\n"),
         ("mine.yaml, line 3, column 1: found while parsing a flow sequence", "valid YAML")),
    Kind("YAML", "indented with a tab", text("simulation:\n\tframes: 30\n"),
         ("line 2, column 1", "'\\t'", "YAML indents with blanks")),
    Kind("YAML", "saved as Latin-1", text("implant:\n  name: Prothèse\n".encode("latin-1")),
         ("mine.yaml, line 2: found a byte 0xe8 that is not UTF-8", "Save the file as UTF-8")),
    Kind("YAML", "saved as UTF-16", text("seed: 1\n".encode("utf-16")),
         ("line 1: found a byte 0xff that is not UTF-8", "Save the file as UTF-8")),
    Kind("YAML", "key twice", text("seed: 1\nsimulation: {frames: 30}\nseed: 2\n"),
         ("line 3, column 1: found a second key 'seed' (the first is in line 1)", "Remove one")),
    Kind("YAML", "`no` for a name", text("study: no\n"),
         ("line 1, column 8: found no, which YAML takes for true or false", 'quotes: "no"')),
    Kind("YAML", "`10:30` for a number", text("seed: 10:30\n"),
         ("found 10:30, which YAML takes for a number to the base 60", "a decimal number")),
    Kind("YAML", "leading zero", text("wear: {months: 051}\n"),
         ("found 051, which YAML takes for a number to the base 8", "without leading zeros")),
    Kind("YAML", "date for a name", text("study: 2026-11-21\n"),
         ("found 2026-11-21, which YAML takes for a date", 'quotes: "2026-11-21"')),
    Kind("YAML", "code to be run", text('seed: !!python/object/apply:os.system ["true"]\n'),
         ("line 1, column 7: found could not determine a constructor", "valid YAML")),
    Kind("YAML", "aliases of aliases without end", text(bomb()),
         ("found more than 20000 entries, aliases unfolded", "Write out")),
    Kind("YAML", "lists within lists without end", text(deep(1000)),
         ("found lists within lists without end", "settings")),
    Kind("YAML", "file of a megabyte", text("# padding\n" * 100_000),
         ("found a file of 1.0 MB", "settings of at most 0.2 MB")),
    # Keys and values.
    Kind("settings", "misspelt key", key("simulation.frmaes", 30),
         ("mine.yaml, line 2, key simulation.frmaes: found an unknown key",
          "Did you mean 'frames'?")),
    Kind("settings", "misspelt block", key("simulaton", {"frames": 30}),
         ("key simulaton: found an unknown key", "Did you mean 'simulation'?")),
    Kind("settings", "key without a value", text("simulation:\n  frames:\n"),
         ("line 2, key simulation.frames: found nothing", "a whole number")),
    Kind("settings", "word for a number", key("simulation.frames", "many"),
         ("key simulation.frames: found 'many'", "a whole number")),
    Kind("settings", "decimal comma", text("wear:\n  months: 51,5\n"),
         ("line 2, key wear.months: found '51,5'", "a number")),
    Kind("settings", "fraction for a count", key("simulation.frames", 50.5),
         ("key simulation.frames: found 50.5", "a whole number")),
    Kind("settings", "`true` for a number", key("simulation.medial_share", True),
         ("key simulation.medial_share: found true", "a number")),
    Kind("settings", "`true` in a list of numbers", key("cases.thickness_mm", [6, True]),
         ("key cases.thickness_mm.1: found true", "a number")),
    Kind("settings", "number for a list", key("cases.thickness_mm", 6),
         ("key cases.thickness_mm: found 6", "a list")),
    Kind("settings", "empty list", key("cases.body_mass_kg", []),
         ("key cases.body_mass_kg: found []", "at least one entry")),
    Kind("settings", "not a number", text("wear: {months: .nan}\n"),
         ("key wear.months: found nan", "a finite number")),
    Kind("settings", "infinite number", text("report: {pressure_limit_mpa: .inf}\n"),
         ("key report.pressure_limit_mpa: found inf", "a finite number")),
    Kind("settings", "word that is no choice", key("simulation.load_line", "free"),
         ("key simulation.load_line: found 'free'", "'solved' or 'fixed'")),
    Kind("settings", "name with a path in it", key("study", "../elsewhere"),
         ("key study: found '../elsewhere'", "a name of letters")),
    Kind("settings", "share in percent", key("simulation.medial_share", 70),
         ("key simulation.medial_share: found 70", "less than 1")),
    Kind("settings", "thickness of zero", key("cases.thickness_mm", [6, 0]),
         ("key cases.thickness_mm.1: found 0", "greater than or equal to 0.5", "Give it in mm")),
    Kind("settings", "negative thickness", key("cases.thickness_mm", [-6]),
         ("key cases.thickness_mm.0: found -6", "greater than or equal to 0.5")),
    Kind("settings", "thickness in metres", key("cases.thickness_mm", [0.006]),
         ("key cases.thickness_mm.0: found 0.006", "Give it in mm")),
    Kind("settings", "body mass in grams", key("cases.body_mass_kg", [75000]),
         ("key cases.body_mass_kg.0: found 75000", "less than or equal to 400", "Give it in kg")),
    Kind("settings", "body weight in newtons for the mass", key("cases.body_mass_kg", [736]),
         ("found 736", "Give it in kg")),
    Kind("settings", "Young's modulus of zero", key("simulation.youngs_modulus_mpa", 0),
         ("key simulation.youngs_modulus_mpa: found 0", "Give it in MPa")),
    Kind("settings", "Young's modulus in pascals", key("simulation.youngs_modulus_mpa", 4.63e8),
         ("found 463000000.0", "less than or equal to 100000", "Give it in MPa")),
    Kind("settings", "Poisson's ratio of a half", key("simulation.poisson_ratio", 0.5),
         ("key simulation.poisson_ratio: found 0.5", "less than 0.5")),
    Kind("settings", "negative Poisson's ratio", key("simulation.poisson_ratio", -0.1),
         ("found -0.1", "greater than or equal to 0")),
    Kind("settings", "cycle in milliseconds", key("activities.gait.duration_s", 1220),
         ("key activities.gait.duration_s: found 1220", "Give it in seconds")),
    Kind("settings", "wear factor without its exponent", key("wear.wear_factor_mm3_per_n_m", 2.58),
         ("found 2.58", "less than or equal to 0.001", "Give it in mm3/(N m)")),
    Kind("settings", "too few frames", key("simulation.frames", 2),
         ("key simulation.frames: found 2", "greater than or equal to 4")),
    Kind("settings", "several faults at once", text("sed: 1\nseed: -1\nsimulation: {frames: 1}\n"),
         ("found 3 faults", "line 2, key seed: found -1", "line 3, key simulation.frames",
          "line 1, key sed: found an unknown key")),
    # Settings that contradict each other.
    Kind("consistency", "case named twice", key("cases.body_mass_kg", [50, 75, 50.0]),
         ("key cases.body_mass_kg: found 50 more than once", "distinct values")),
    Kind("consistency", "cases that differ in the seventh digit only",
         key("cases.thickness_mm", [7.5, 7.50000001]),
         ("found 7.5 and 7.50000001, all shown as 7.5", "first six digits")),
    Kind("consistency", "shares that do not sum to one",
         key("wear.lives", {"gait": None, "a": {"gait": 0.9}}),
         ("line 3, key wear.lives.a: found shares of 'a' that sum to 0.9", "a sum of 1")),
    Kind("consistency", "life without activities", key("wear.lives", {"a": {}}),
         ("key wear.lives.a: found shares of 'a' that sum to 0;", "a sum of 1")),
    Kind("consistency", "share above one", key("wear.lives", {"a": {"gait": 1.5}}),
         ("key wear.lives.a.gait: found 1.5", "less than or equal to 1")),
    Kind("consistency", "life of an unknown activity", key("wear.lives", {"a": {"gate": 1.0}}),
         ("line 4, key wear.lives.a.gate: found no activity 'gate'", "Did you mean 'gait'?")),
    Kind("consistency", "source without its block", key("implant.source", "meshes"),
         ("key implant: found source: meshes without a block 'meshes'", "Fill implant.meshes in")),
    Kind("consistency", "unknown source of an activity", key("activities.gait.source", "xls"),
         ("key activities.gait.source: found 'xls'", "parametric or file")),
    Kind("consistency", "creep that grows with time in a life of no time",
         key("wear", {"creep_law": "strain", "months": 0}),
         ("key wear: found creep_law: strain with months: 0", "months above 0")),
    Kind("consistency", "axes of the other knee", example(with_value(f"{AXES}.z", "medial")),
         ("axes x: anterior, y: superior, z: medial", "right-handed in a right knee")),
    Kind("consistency", "two axes along one line", example(with_value(f"{AXES}.z", "posterior")),
         ("z: posterior", "three perpendicular axes")),
    Kind("consistency", "limits in the wrong order",
         example(with_value("implant.meshes.insert_region_mm.medial.x", [21, -21])),
         ("key implant.meshes.insert_region_mm.medial.x: found [21, -21]", "lower value first")),
    Kind("consistency", "two undersides",
         example(with_value("implant.meshes.underside_mesh", "insert.stl")),
         ("found underside_mm and underside_mesh", "one of underside_mm")),
    Kind("consistency", "ground reaction without a range",
         example(with_value(f"{GAIT}.load.load_range_body_weights", None)),
         ("found kind: ground_reaction with load_range_body_weights: None", "Add or remove")),
    Kind("consistency", "range of the load upside down",
         example(with_value(f"{GAIT}.load.load_range_body_weights", [3.0, 0.25])),
         ("found [3, 0.25]", "[lower, upper]")),
    Kind("consistency", "insert thinner than its hollow",
         example(with_value("implant.nominal_thickness_mm", 14.0)),
         ("key cases.thickness_mm: found 6 mm, which leaves -", "thicker than 0 everywhere",
          "Take more than", "nominal_thickness_mm (14 mm)")),
    Kind("consistency", "underside above the bearing",
         example(with_value("implant.meshes.underside_mm", 20.0)),
         ("found 6 mm, which leaves -12", "thicker than 0 everywhere", "the underside")),
    # Meshes, point clouds and CAD.
    Kind("mesh", "file that is not there", example(insert=None),
         ("insert.stl: found no such file", "data_folder")),
    Kind("mesh", "link to nowhere", dangling, ("link.stl: found no such file",)),
    Kind("mesh", "folder for a file", folder_for_file, ("meshes.stl: found no such file",)),
    Kind("mesh", "empty file", example(insert=b""), ("insert.stl: found an empty file",)),
    Kind("mesh", "file of gigabytes", huge, ("found a file of 2000 MB", "at most 1000 MB")),
    Kind("mesh", "unknown format", named("insert.vtk", b"# vtk"),
         ("insert.vtk: found a file ending in '.vtk'", "one ending in .stl", "Convert the file")),
    Kind("mesh", "STL cut off", example(insert=lambda content: content[:-77]),
         ("insert.stl: found", "triangles announced", "cut off or damaged")),
    Kind("mesh", "STL that announces four billion triangles",
         example(insert=lambda content: content[:80] + b"\xff" * 4 + content[84:]),
         ("of the 4294967295 triangles announced",)),
    Kind("mesh", "STL without triangles", example(insert=b"x" * 80 + struct.pack("<I", 0)),
         ("found no triangles",)),
    Kind("mesh", "text STL with a line missing",
         example(insert=lambda content: ascii_stl(content).replace("endloop\n", "", 1).encode()),
         ("insert.stl, line 7: found 'endfacet'", "'endloop'")),
    Kind("mesh", "text STL with a garbled number",
         example(insert=lambda content: ascii_stl(content).replace("vertex ", "vertex 1.2.", 1)
                 .encode()),
         ("insert.stl, line 4: found 'vertex 1.2.", "three numbers")),
    Kind("mesh", "coordinate that is not a number",
         example(insert=vertices(spoilt((7, 1, 2), np.nan))),
         ("vertex 23: found a coordinate that is not a finite number",)),
    Kind("mesh", "garbled coordinate", example(insert=vertices(spoilt((7, 1, 2), 1e30))),
         ("vertex 23: found a coordinate of 1e+30",)),
    Kind("mesh", "PLY whose triangles name missing vertices",
         named("insert.ply", b"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\n"
               b"property float y\nproperty float z\nelement face 1\n"
               b"property list uchar int vertex_indices\nend_header\n"
               b"0 0 0\n9 0 0\n0 0 9\n3 0 1 3\n"),
         ("insert.ply, triangle 1: found vertices 0, 1, 3", "numbers from 0 to 2")),
    Kind("mesh", "OBJ with a free-form surface", named("insert.obj", b"cstype bspline\ndeg 3 3\n"),
         ("insert.obj, line 1: found 'cstype bspline'", "a line of a mesh")),
    Kind("mesh", "point cloud with decimal commas", named("insert.xyz", b"1,5; 2,5; 3,5\n"),
         ("insert.xyz, line 1: found '1,5; 2,5; 3,5'", "decimal points")),
    Kind("mesh", "point cloud with a word in it", named("insert.csv", b"x,y,z\n1,2,3\n1,b,3\n"),
         ("insert.csv, line 3: found '1,b,3'", "three finite numbers")),
    Kind("mesh", "point cloud of three points", named("insert.xyz", b"0 0 0\n9 0 0\n0 0 9\n"),
         ("found 3 points", "Export more points")),
    Kind("mesh", "binary file called text", named("insert.xyz", bytes(range(256))),
         ("insert.xyz, line", "found a byte 0x80 that is not UTF-8")),
    Kind("mesh", "millimetres called metres", example(with_value("implant.meshes.unit", "m")),
         ("insert.stl, unit: found a width of", "1000 times too large", "Check `unit`")),
    Kind("mesh", "metres called millimetres", example(insert=vertices(lambda c: c / 1000)),
         ("insert.stl, unit: found a width of", "1000 times too small", "Check `unit`")),
    Kind("mesh", "components exchanged", example(swapped),
         ("femoral.stl: found a body", "femoral component is in the insert's place")),
    Kind("mesh", "insert upside down",
         example(insert=vertices(lambda c: c * np.float32([1, -1, -1]) + np.float32([0, 20, 0]))),
         ("insert.stl", "upside down")),
    Kind("mesh", "triangles turned inside out", example(insert=vertices(lambda c: c[:, ::-1])),
         ("insert.stl: found normals pointing into the polyethylene", "Reverse the triangles'")),
    # Motion and load.
    Kind("motion", "file that is not there", example(motion=None),
         ("gait.csv: found no such file", "data_folder")),
    Kind("motion", "empty file", example(motion=b""), ("gait.csv", "an empty file")),
    Kind("motion", "header without rows",
         example(motion=lambda content: b"\n".join(content.splitlines()[:2]) + b"\n"),
         ("gait.csv: found no rows", "one row per sample")),
    Kind("motion", "column missing", example(motion=replaced("flexion_deg", "knee_deg", 1)),
         ("gait.csv, header: found columns percent, knee_deg", "a column 'flexion_deg'")),
    Kind("motion", "gap in the data", example(motion=row(9, lambda c: [c[0], "", *c[2:]])),
         ("gait.csv, column 'flexion_deg', data row 8: found an empty cell", "a finite number")),
    Kind("motion", "NaN in the data", example(motion=row(9, lambda c: [c[0], "NaN", *c[2:]])),
         ("data row 8: found 'NaN'", "a finite number")),
    Kind("motion", "rows of unequal length", example(motion=row(9, lambda c: [*c, "1", "2"])),
         ("gait.csv: found rows of unequal length",)),
    Kind("motion", "percent that falls back", example(motion=row(9, lambda c: ["0", *c[1:]])),
         ("column 'percent', data row 8: found 0 after", "Sort the rows")),
    Kind("motion", "fractions for percent", example(motion=column(0, lambda p: p / 100)),
         ("column 'percent': found percent up to 1", "multiply by 100")),
    Kind("motion", "half a cycle", example(motion=column(0, lambda p: p / 2)),
         ("column 'percent': found percent from 0 to 50", "a whole cycle")),
    Kind("motion", "radians for degrees", example(motion=column(1, np.radians)),
         ("column 'flexion_deg': found flexion over a range of", "look like radians")),
    Kind("motion", "metres for millimetres",
         example(motion=columns((4, 5, 6), lambda position: position / 1000)),
         ("gait.csv: found positions up to 0.0", "millimetres", "look like metres")),
    Kind("motion", "sign of flexion turned round", example(motion=column(1, lambda f: -f)),
         ("gait.csv, column 'flexion_deg'", "flexion of -", "Flexion is negative in this file")),
    Kind("motion", "samples missing in between",
         example(motion=lambda content: b"\n".join(content.splitlines()[:12]
                                                   + content.splitlines()[20:])),
         ("gait.csv, column 'percent', data rows 10 and 11: found no sample between", "Fill the")),
    Kind("motion", "cycle that does not end where it starts",
         example(motion=row(-1, lambda c: [c[0], "50", *c[2:]])),
         ("gait.csv, column 'flexion_deg'", "in the first row and 50 in the last",
          "a cycle that ends where it starts")),
    Kind("motion", "column of the other knee",
         example(with_value(f"{GAIT}.motion.columns.flexion", "knee_flexion_l"),
                 motion=replaced("flexion_deg", "knee_flexion_l", 1)),
         ("gait.csv", "knee_flexion_l", "looks like that of a left knee", "implant.knee")),
    Kind("motion", "unknown kind of file",
         example(with_value(f"{GAIT}.motion.file", "gait.xlsx"), spare={"gait.xlsx": b"PK"}),
         ("gait.xlsx: found a file ending in '.xlsx'", ".csv, .sto or .mot")),
    Kind("motion", "OpenSim file without its unit",
         example(with_value(f"{GAIT}.motion.file", "gait.sto"), spare={"gait.sto": STORAGE}),
         ("gait.sto, header: found no key inDegrees", "Write into the header")),
    Kind("motion", "OpenSim file that was cut off",
         example(with_value(f"{GAIT}.motion.file", "gait.sto"),
                 spare={"gait.sto": STORAGE.replace(b"endheader", b"inDegrees=yes\nendheader")}),
         ("gait.sto, line 10: found 1 cells", "2, one for each label")),
    Kind("motion", "one sample far out", example(motion=row(9, lambda c: [c[0], "400", *c[2:]])),
         ("column 'flexion_deg', data row 8: found flexion of 400", "Check the column")),
    Kind("motion", "saved as Latin-1",
         example(motion=lambda content: b"# mesur\xe9\n" + content),
         ("gait.csv, line 1: found a byte 0xe9 that is not UTF-8", "not as a spreadsheet")),
    Kind("load", "file that is not there", example(load=None), ("load.csv: found no such file",)),
    Kind("load", "newtons for body weights", axial(lambda load: load + 500),
         ("load.csv, column 'ground_reaction_n'", "found a load of", "looks like newtons")),
    Kind("load", "load that pulls", axial(lambda load: load / 700 - 0.5),
         ("data row 1: found a load of -0.5 body weights", "a positive (compressive) load")),
    Kind("load", "load of zero", axial(lambda load: load / 700),
         ("data row 1: found a load of 0 body weights", "Reverse the sign")),
    Kind("load", "built-in load in newtons", key("activities.gait.load_body_weights.base", 800.0),
         ("key activities.gait.load_body_weights: found a load of", "look", "newtons")),
    Kind("load", "built-in load below zero", key("activities.gait.load_body_weights.base", -1.0),
         ("key activities.gait.load_body_weights: found a load of -", "a load above 0")),
    # Studies of designs.
    Kind("design studies", "bounds of a factor exchanged",
         shipped("sweep", {"sweep": {"factors": {"body_mass": {"low": 90, "high": 60}}}}),
         ("key sweep.factors.body_mass: found low: 90, high: 60", "low below high", "Exchange")),
    Kind("design studies", "factor of a setting that is not there",
         shipped("sweep", {"sweep": {"factors": {"body_mass": {"settings": ["cases.mass_kg.0"]}}}}),
         ("found cases.mass_kg.0, of which there is no 'mass_kg'", "the path of a number")),
    Kind("design studies", "two factors set one setting",
         shipped("sweep", {"sweep": {"factors": {"heavy": {
             "settings": ["cases.body_mass_kg.0"], "low": 80, "high": 90}}}}),
         ("key sweep.factors.heavy: found cases.body_mass_kg.0, which body_mass changes too",
          "each setting in one factor")),
    Kind("design studies", "factor that updates the surface",
         shipped("sweep", {"sweep": {"factors": {"steps": {
             "settings": ["wear.blocks"], "low": 1, "high": 4}}}}),
         ("found wear.blocks, which updates the surface", "config/evolution.yaml")),
    Kind("design studies", "bound of a design that cannot be built",
         shipped("optimisation", {"optimisation": {"variables": {"femoral_coronal_radius": {
             "low": 3}}}}),
         ("variables.femoral_coronal_radius.low: found 3, for which", "Correct the bound")),
    Kind("design studies", "limits that no design fulfils",
         shipped("optimisation", {"optimisation": {"constraints": {"damage_depth": {
             "at_least": 2, "at_most": 1}}}}),
         ("constraints.damage_depth: found at_least: 2, at_most: 1", "no design fulfils both")),
    Kind("design studies", "misspelt objective",
         shipped("optimisation", {"optimisation": {"objectives": {"wear_volum": "minimise"}}}),
         ("found 'wear_volum'", "Did you mean 'wear_volume'?")),
    Kind("design studies", "subject with a motion file that is not there",
         shipped("example_meshes", COHORT, subjects="subject,motion_file,mass\ns1,none.csv,70\n"),
         ("subjects.csv, subject s1: found motion file none.csv",)),
    Kind("design studies", "size of a subject that no design has",
         shipped("cohort_example", {"cohort": {"subjects": "subjects.csv"}}, subjects=SUBJECTS),
         ("line 2: found size 'smal'", "Did you mean 'small'?")),
    Kind("load", "constant ground reaction", example(load=column(1, lambda load: 700.0)),
         ("load.csv: found a constant ground reaction of 700", "axial_load")),
)  # fmt: skip


def render_table() -> str:
    """Table of the documentation: what is handed over, and what is said."""
    lines = ["| where | what was done | what the message says |", "|---|---|---|"]
    for kind in KINDS:
        said = " ... ".join(piece.replace("|", "\\|") for piece in kind.said)
        lines.append(f"| {kind.group} | {kind.name} | {said} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(render_table())
