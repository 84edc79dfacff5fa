"""config/README.md generated from the models of `kneewear/settings/study.py`.

`python -m tests.settings_page` writes it; a test checks that it is up to date.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args, get_origin

import yaml

from kneewear import settings
from kneewear.settings.activity import FileActivity, ParametricActivity
from kneewear.settings.checks import Check, checks
from kneewear.settings.implant import MeshImplantSettings, NaturalKneeSettings
from kneewear.settings.standards import StandardActivity
from kneewear.settings.study import KINDS, Study
from kneewear.settings.types import Settings

PAGE = Path(__file__).parent.parent / "config" / "README.md"
MEANINGS = yaml.safe_load(Path(settings.__file__).with_name("meanings.yaml").read_text("utf-8"))
HEAD = """# Settings

`config.yaml` is the default study and the only file with default values. Other files here override
single keys:

| file | study |
|---|---|
| `config.yaml` | 5 insert thicknesses x 5 body masses, built-in implant and gait, 51 months |
| `quick.yaml` | 4 cases on a coarse grid, about twenty seconds |
| `calibration.yaml` | fit of the built-in constants to nine of the published cells |
| `chapter3.yaml` | static pressures of a posterior-stabilised implant, two materials |
| `nominal.yaml` | one patient (70 kg, 6.8 mm), gait alone and mixed with stairs |
| `evolution.yaml` | 3 cases whose surface is updated with wear and creep in 1 to 32 blocks |
| `example_meshes.yaml` | an implant from STL and a gait from CSV; start here for your own |
| `example_simulator.yaml` | a knee simulator under displacement and force control (your curves) |
| `monte_carlo.yaml` | prediction intervals: 1000 samples of one case with uncertain constants |
| `uncertainty/one_at_a_time.yaml` | after `monte_carlo.yaml`: the effect of each constant alone |
| `uncertainty/variance_based.yaml` | after `monte_carlo.yaml`: first and total indices |
| `uncertainty/dm_monte_carlo.yaml` | after `dm_fluoroscopy.yaml`: intervals of the real implant |
| `characterisation.yaml` | contact area and pressure of a family of sizes, worst cases |
| `characterisation_dm.yaml` | the same of a real implant and the built-in one (data not included) |
| `laxity.yaml` | force-displacement loops of two bearings, with and without friction |
| `laxity_dm.yaml` | the same of a real implant and the built-in one (data not included) |
| `fe_twin.yaml` | load peaks of the built-in gait by finite elements beside the foundation |
| `fe_twin_dm.yaml` | after `dm_measured.yaml`: the same of a real implant under measured force |
| `fe_twin_ultracongruent.yaml` | the same of a conforming dish |
| `fe_twin_yield.yaml` | after `fe_twin.yaml`: polyethylene that yields (Bei 2003) |
| `fe_twin_quoted.yaml` | a wear study whose page quotes the errors that `fe_twin.yaml` found |
| `fe_knee.yaml` | a dynamic finite-element knee falls on an obstacle (Sander et al.) |
| `fe_knee_natural.yaml` | after `fe_knee.yaml`: bones of a natural knee (data not included) |
| `sweep.yaml` | 128 cases over radii, alignment and body mass: effects and response surfaces |
| `cohort_example.yaml` | 200 synthetic subjects with two designs in three sizes: percentiles |
| `optimisation.yaml` | front of wear against peak pressure over radii of the built-in bearing |
| `natural_knee.yaml` | static contact of a natural knee's cartilage (data not included) |
| `natural_passive.yaml` | passive flexion of a natural knee with ligaments (data not included) |
| `tkr_predicted_gait.yaml` | gait of a real implant predicted with ligaments (data not included) |
| `tkr_soft_tissue.yaml` | passive flexion of a real implant with ligaments (data not included) |
| `knee_extension.yaml` | a natural knee extends under its quadriceps (Caruntu and Hefzy) |
| `planar_knee.yaml` | a knee in the sagittal plane under eight contact laws (Machado) |
| `spatial_knee.yaml` | a knee in space that flexes under gravity (Machado) |
| `verification.yaml` | the contact model against analytical solutions; its methods compared |
| `dm_fluoroscopy.yaml` | a real implant with its fluoroscopic gait (data not included) |
| `standards.yaml` | knee simulators of ISO 14243 with the curves of your copy of the standard |
| `dm_measured.yaml` | the same under the contact force measured in the subject |
| `dm_predicted.yaml` | after `dm_measured.yaml`: with the gait of `tkr_predicted_gait.yaml` |

Run one with `make study CONFIG=config/quick.yaml` or
`snakemake --cores 2 --configfile config/quick.yaml`. Several files may be named; later ones win.
Mappings are merged key by key, lists are replaced, and `null` removes an inherited activity or
life. A key that is misspelt, missing, of the wrong type or out of range stops the run before the
first job.

Data files are searched in `data_folder` (the environment variable `KNEEWEAR_DATA` overrides it),
then in the checkout; absolute paths are used unchanged.

The top-level key `kind` selects the kind of study, and with it the blocks a study has:

| kind | study | blocks in addition to those of all studies |
|---|---|---|
@KINDS@

A file that names another `kind` than `config.yaml` inherits only the blocks this kind has. A block
of another kind in a file of your own stops the run, with one message that names file, line, kind
and remedy.

## Cases

The cases of a wear study are all combinations of the values under `cases`. `overrides` names
further settings by their path with dots (numbers count the entries of a list from 0) and gives
their values:

```yaml
report: {compare_with_published: false}   # published values are of one set of constants
cases:
  thickness_mm: [6, 8, 10]
  body_mass_kg: [60, 80]
  overrides:
    wear.wear_factor_mm3_per_n_m: [1.0e-7, 2.0e-7]
    activities.gait.tibial_external_rotation_deg.base: [-2.0, 0.0, 2.0]
```

These are 36 cases. Numbers of `simulation`, `wear` and built-in activities can be varied, except
`simulation.frames`, durations and `wear.lives`, which all cases share. `implant`, `grid`,
`coarse_grid` and `table` cannot: geometry is built once for all cases. Run one study per
geometry, or a study of `kind: sweep` or `uncertainty`, which build the geometry of every case.
`tables/cases.csv` has a column for each path, and the regression a coefficient. Maps and
histories show cases with the first value of each path where they cannot show all; surfaces over
thickness and mass are drawn without overrides only. A job simulates cases with equal overrides,
at most `cases_per_job`.

## Keys

Names carry units. Paths below are the nesting of keys; `*` is a name of your choice and
`[]` for an entry of a list.
"""


CONVENTIONS = """## Conventions of motion files

Every motion file states the convention of its columns; there is no default. Meaning of an
increasing value:

| convention | flexion | varus | rotation | anterior-posterior | superior-inferior | m.-lateral |
|---|---|---|---|---|---|---|
| `grood-suntay` | flexes | varus | tibia outwards | femur forward | femur up | femur lateral |
| `body-123` | flexes | varus | tibia outwards | femur forward | femur up | femur lateral |
| `opensim` | flexes | adduction | tibia inwards | tibia forward | tibia up | tibia lateral |
| `iso14243-3:2004`, `iso14243-3:2014` | flexes | - | tibia inwards | tibia forward | - | - |
| `jointtrack` | from the pose files of both components | | | | | |
| `signs` | as `signs` says | | | | | |

- `grood-suntay`: clinical angles (turns about the tibia's long axis, then the floating one, then
  the femur's), and the femoral origin along the axes of the insert. `signs` is the same with signs
  of your own.
- `body-123`: turns about x (varus), then y (rotation), then z (flexion).
- `opensim`: the six coordinates of a knee joint whose parent is the femur and whose child is the
  tibia, R = Rz(-flexion) Rx(adduction) Ry(rotation), position of the tibia along the femur's axes
  (Lenhart 2015, Smith 2019); right knees. `placement` gives the positions of the components in
  the bones.
- `jointtrack`: two files of JointTrack or JTML (`.jts`, `.jtak`), each with the pose of one
  component in the frame of the x-ray camera, R = Rz Rx Ry. `placement` gives the axes of the
  components in the frames of the meshes that were registered.
- `iso14243-3`: displacements from the pose at rest, which `reference_posterior_mm` places. The
  standard was not available: that in both editions tibial motion forward and inward is positive is
  an assumption; that their curves have opposite signs, AP mainly negative and rotation mainly
  positive in 2004 and the reverse in 2014, is from the abstract of Wang et al. (2018, PLoS ONE
  13:e0206496). A file whose curves have the opposite sign of the edition it names is reported;
  with `signs` nothing is assumed. No compliance is claimed: the user provides the curves.

CSV files are in degrees and mm. `.sto` and `.mot` files must say `inDegrees`, and are in metres.
Anterior-posterior forces and internal-external torques (`control`) have the signs of their
displacements.
"""


CHECKS = """## Checks of plausibility

Before the first job values, motions, loads and meshes are compared with these ranges: outside the
first one there is a warning, which is also on the page of the study, outside the second one the
study is refused. `checks.silence` names checks whose warnings are not shown; the page lists them.
Ranges marked "judgement" are the authors'; they are wider than those of the data this software was
tested with.

| check | quantity | no warning | accepted | source |
|---|---|---|---|---|
"""


def render() -> str:
    """Text of the page."""
    files, meshes = (
        _rows(FileActivity, "activities.*"),
        _rows(MeshImplantSettings, "implant.meshes"),
    )
    standard = _rows(StandardActivity, "activities.*")
    parts = [
        HEAD.replace("@KINDS@", _kinds()),
        _table("All studies", _rows(Study, "")),
        *_kind_tables(),
        _table("Activities read from files (`source: file`)", files),
        _table("Activities of a standard (`source: iso14243-3` and others)", standard),
        CONVENTIONS,
        _table("Implants read from meshes (`source: meshes`)", meshes),
        _table("Natural knees (`source: natural`)", _rows(NaturalKneeSettings, "implant.natural")),
        CHECKS + "".join(map(_check_row, checks().values())),
    ]
    return "\n".join(parts)


def meaning(model: type[Settings], name: str) -> str:
    """Meaning of a field, from `meanings.yaml`; of the kind of a study, what its class says."""
    if name == "kind" and issubclass(model, Study) and model is not Study:
        return str(model.__doc__).split("\n")[0]
    texts = [MEANINGS.get(one.__name__.split("[")[0], {}) for one in model.__mro__]
    return next((text[name] for text in texts if name in text), "")


def _check_row(check: Check) -> str:
    """Line of the table of checks."""
    usual, accepted = check.ranges
    return f"| `{check.name}` | {check.quantity} | {usual} | {accepted} | {check.source} |\n"


def _own_fields(model: type[Study]) -> dict[str, Any]:
    """Keys a kind has besides those of all studies."""
    return {
        key: field for key, field in model.model_fields.items() if key not in Study.model_fields
    }


def _kinds() -> str:
    lines = [
        f"| `{kind}` | {meaning(model, 'kind')} | "
        f"{', '.join(f'`{key}`' for key in _own_fields(model))} |"
        for kind, model in KINDS.items()
    ]
    return "\n".join(lines)


def _kind_tables() -> list[str]:
    """Keys of each kind, those of an earlier table left out."""
    shown: set[str] = set()
    tables = []
    for kind, model in KINDS.items():
        own = {key: field for key, field in _own_fields(model).items() if key not in shown}
        shown |= own.keys()
        tables.append(_table(f"`kind: {kind}`", _rows(model, "", own)))
    return tables


def _table(title: str, rows: list[tuple[str, str, str]]) -> str:
    lines = [f"## {title}", "", "| key | value | meaning |", "|---|---|---|"]
    lines += [f"| `{key}` | {kind} | {text} |" for key, kind, text in rows]
    return "\n".join(lines) + "\n"


def _rows(
    model: type[Settings], path: str, fields: Mapping[str, Any] | None = None
) -> list[tuple[str, str, str]]:
    rows = []
    hints = typing.get_type_hints(model, include_extras=True)
    for name, field in (model.model_fields if fields is None else fields).items():
        key, text = (f"{path}.{name}" if path else name), meaning(model, name)
        inner, suffix = _inner(field.annotation)
        if name == "activities":
            rows.append((key, "mapping of names to activities", text))
            rows += _rows(ParametricActivity, "activities.*")
        elif inner in (MeshImplantSettings, NaturalKneeSettings):
            rows.append((key, "block (below) or null", text))
        elif inner is not None:
            rows.append((key, {"": "block", "[]": "list", ".*": "mapping"}[suffix], text))
            rows += _rows(inner, key + suffix)
        else:
            limits = _limits([field.metadata, hints[name]])
            rows.append((key, _kind(field.annotation) + limits, text))
    return rows


def _inner(annotation: Any) -> tuple[type[Settings] | None, str]:
    """Return the block inside an annotation and the suffix of its path."""
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        return annotation, ""
    if get_origin(annotation) in (types.UnionType, typing.Union):
        return next((_inner(part) for part in get_args(annotation)), (None, ""))
    if get_origin(annotation) is tuple:
        inner, _ = _inner(get_args(annotation)[0])
        return inner, "[]"
    if get_origin(annotation) is dict:
        inner, _ = _inner(get_args(annotation)[1])
        return inner, ".*"
    return None, ""


def _kind(annotation: Any) -> str:
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is typing.Literal:
        return " or ".join(f"`{part}`" for part in parts)
    if origin is typing.Annotated:
        return _kind(parts[0])
    if origin in (types.UnionType, typing.Union):
        return " or ".join(_kind(part) for part in parts)
    if origin is tuple:
        kind = _kind(parts[0])
        if parts[-1] is Ellipsis:
            return f"list of {kind}s"
        if get_origin(parts[0]) is tuple:
            return f"{len(parts)} rows of {len(get_args(parts[0]))} numbers"
        return f"pair of {kind}s" if len(parts) == 2 else f"{len(parts)} {kind}s"
    if origin is dict:
        return "mapping"
    names = {float: "number", int: "whole number", str: "text", bool: "true or false"}
    return names.get(annotation, "null")


def _limits(sources: Any) -> str:
    """Limits of a value, in all forms that pydantic uses."""
    signs = {"gt": ">", "ge": ">=", "lt": "<", "le": "<="}
    found: dict[str, Any] = {}
    stack = list(sources)
    while stack:
        item = stack.pop()
        if isinstance(item, list | tuple):
            stack += item
        elif get_args(item) and get_origin(item) is not typing.Literal:
            stack += [*get_args(item), *getattr(item, "__metadata__", ())]
        else:
            stack += getattr(item, "metadata", None) or []
            found |= {
                sign: getattr(item, name)
                for name, sign in signs.items()
                if getattr(item, name, None) is not None
            }
    return "".join(f", {sign} {found[sign]:g}" for sign in signs.values() if sign in found)


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
